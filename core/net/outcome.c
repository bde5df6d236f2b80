/* How an exchange ends: a response, or an error that an operator can act on. */
#include "net/ticket.h"
#include "util/attr.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 300 /* bytes of a file name in messages */

static void fail_transient(struct net_http_ticket *ticket, int result, const char *text)
{
    ticket->phase = net_http_ticket_phase(ticket);
    ticket->result =
        ccm_error_set(&ticket->err, result, CCM_ERROR_TRANSIENT, "%s: %s", ticket->origin, text);
}

/* Text of curl where it is better than ours; it never holds path, query or header. */
static const char *curl_text(const struct net_http_ticket *ticket, CURLcode code)
{
    return ticket->curl_text[0] != '\0' ? ticket->curl_text : curl_easy_strerror(code);
}

static void fail_connect(struct net_http_ticket *ticket)
{
    long os_error = 0;

    if (curl_easy_getinfo(ticket->easy, CURLINFO_OS_ERRNO, &os_error) != CURLE_OK) {
        os_error = 0;
    }
    switch (os_error) {
    case ECONNREFUSED:
        fail_transient(ticket, -ECONNREFUSED, "connection refused");
        break;
    case EHOSTUNREACH:
    case ENETUNREACH:
        fail_transient(ticket, -EHOSTUNREACH, "no route to this host");
        break;
    case ETIMEDOUT:
        fail_transient(ticket, -ETIMEDOUT, "no connection in time: the host does not answer");
        break;
    default:
        fail_transient(ticket, -ECONNREFUSED, curl_text(ticket, CURLE_COULDNT_CONNECT));
        break;
    }
}

/* Our words, and curl's for the details. */
static void fail_both(struct net_http_ticket *ticket, int result, const char *text, CURLcode code)
{
    char both[CURL_ERROR_SIZE + PATH_SHOWN + 256];

    ccm_text_printf(both, sizeof(both), "%s (%s)", text, curl_text(ticket, code));
    fail_transient(ticket, result, both);
}

static void fail_cut(struct net_http_ticket *ticket, CURLcode code)
{
    if (ticket->repeat_refused) {
        fail_transient(
            ticket, -ECONNRESET,
            "the connection broke before an answer came; the request may have been carried out");
    } else if (ticket->head_in) {
        fail_both(ticket, -ECONNRESET, "the connection was cut in the middle of the answer", code);
    } else {
        fail_both(ticket, -ECONNRESET, "the connection was cut before the answer came", code);
    }
}

static void fail_callback(struct net_http_ticket *ticket)
{
    char text[128];
    const int r = ticket->callback_error;

    if (r == -EMSGSIZE && ticket->head_in) {
        ccm_text_printf(text, sizeof(text), "the answer is larger than %zu bytes",
                        ticket->body.max);
        fail_transient(ticket, r, text);
    } else if (r == -EMSGSIZE) {
        fail_transient(ticket, r, "the headers of the answer are larger than 64 KiB");
    } else if (r == -ENOMEM) {
        fail_transient(ticket, r, "out of memory while reading the answer");
    } else {
        fail_transient(ticket, r, "the answer could not be used");
    }
}

/* Verdicts of OpenSSL about who signed a certificate. */
static bool is_unsigned(long verdict)
{
    static const long unsigned_[] = {
        2,  /* unable to get issuer certificate */
        7,  /* certificate signature failure */
        18, /* self-signed certificate */
        19, /* self-signed certificate in certificate chain */
        20, /* unable to get local issuer certificate */
        21, /* unable to verify the first certificate */
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(unsigned_); i++) {
        if (unsigned_[i] == verdict) {
            return true;
        }
    }
    return false;
}

static long verdict_of(const struct net_http_ticket *ticket)
{
    long verdict = 0;

    if (curl_easy_getinfo(ticket->easy, CURLINFO_SSL_VERIFYRESULT, &verdict) != CURLE_OK) {
        verdict = 0;
    }
    return verdict;
}

/* The certificate of the peer was looked at and found wanting. */
static void fail_trust(struct net_http_ticket *ticket, CURLcode code)
{
    const struct net_tls *tls = ticket->exchange->tls;
    char text[PATH_SHOWN + 256];

    if (!is_unsigned(verdict_of(ticket)) && code != CURLE_SSL_CONNECT_ERROR) {
        fail_both(ticket, -EPROTO, "the certificate of this host is not trusted", code);
        return;
    }
    if (tls != NULL && !ccm_text_empty(tls->ca_data)) {
        ccm_text_printf(text, sizeof(text),
                        "the certificate of this host is not trusted: it is not signed by an "
                        "authority that was configured");
    } else if (tls != NULL && !ccm_text_empty(tls->ca_file)) {
        ccm_text_printf(text, sizeof(text),
                        "the certificate of this host is not trusted: it is not signed by an "
                        "authority in %.*s",
                        PATH_SHOWN, tls->ca_file);
    } else {
        ccm_text_printf(text, sizeof(text),
                        "the certificate of this host is not trusted: it is not signed by an "
                        "authority of this machine");
    }
    fail_both(ticket, -EPROTO, text, code);
}

/*
 * When an authority was renewed under its old name, OpenSSL finds it by that name, tries the new
 * signature with the old key, and the error of that calculation hides the verdict: curl then speaks
 * of a handshake that failed, and has no verdict. Everything else that goes wrong in a handshake is
 * told by the "SSL routines".
 */
static bool is_wrong_signature(const struct net_http_ticket *ticket)
{
    static const char *const places[] = { "rsa routines::", "elliptic curve routines::",
                                          "asn1 encoding routines::EVP lib" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(places); i++) {
        if (strstr(ticket->curl_text, places[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Whether a handshake ended because the other side, or something between, closed the connection:
 * nothing is wrong with certificates then, as far as one knows. */
static bool is_cut_handshake(const struct net_http_ticket *ticket)
{
    static const char *const signs[] = { "Connection reset", "Broken pipe", "SSL_ERROR_SYSCALL",
                                         "unexpected eof" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(signs); i++) {
        if (strstr(ticket->curl_text, signs[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void fail_handshake(struct net_http_ticket *ticket, CURLcode code)
{
    if (is_wrong_signature(ticket)) {
        fail_trust(ticket, code);
    } else if (is_cut_handshake(ticket)) {
        fail_both(ticket, -ECONNRESET, "the connection was cut before TLS was agreed upon", code);
    } else {
        fail_both(ticket, -EPROTO, "TLS cannot be agreed upon", code);
    }
}

static void fail_curl(struct net_http_ticket *ticket, CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        fail_connect(ticket);
        break;
    case CURLE_COULDNT_RESOLVE_HOST:
        fail_transient(ticket, -EHOSTUNREACH, "the name of this host cannot be resolved");
        break;
    case CURLE_COULDNT_RESOLVE_PROXY: /* curl's text may hold the proxy's password */
        fail_transient(ticket, -EHOSTUNREACH, "the proxy of the environment cannot be resolved");
        break;
    case CURLE_OPERATION_TIMEDOUT:
        fail_transient(ticket, -ETIMEDOUT, "no connection in time: the host does not answer");
        break;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_ABORTED_BY_CALLBACK:
        fail_cut(ticket, code);
        break;
    case CURLE_OUT_OF_MEMORY:
        fail_transient(ticket, -ENOMEM, "out of memory");
        break;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        fail_transient(ticket, -EPROTO, "the answer is not HTTP");
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        fail_trust(ticket, code);
        break;
    case CURLE_SSL_CACERT_BADFILE:
        fail_both(ticket, -EPROTO, "the certificate authority cannot be read", code);
        break;
    case CURLE_SSL_CERTPROBLEM:
        fail_both(ticket, -EPROTO, "the client certificate or its key is of no use", code);
        break;
    case CURLE_SSL_CONNECT_ERROR:
        fail_handshake(ticket, code);
        break;
    default:
        fail_transient(ticket, -EPROTO, curl_text(ticket, code));
        break;
    }
}

bool net_http_ticket_prepare_retry(struct net_http_ticket *ticket, CURLcode code)
{
    const bool cut = code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM ||
                     code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
                     code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE;
    const bool sent = net_http_ticket_phase(ticket) == CCM_HTTP_MAYBE_RUN;

    if (!cut || ticket->shut_out || ticket->second || ticket->head_in ||
        ticket->callback_error < 0 || (sent && !ticket->exchange->repeatable)) {
        return false;
    }
    ticket->second = true;
    ticket->first_sent = sent;
    ticket->attempted = false;
    ticket->curl_text[0] = '\0';
    net_http_head_fini(&ticket->head);
    return true;
}

void net_http_ticket_complete(struct net_http_ticket *ticket, CURLcode code)
{
    if (ticket->shut_out) {
        net_http_ticket_cancel(ticket);
    } else if (ticket->callback_error < 0) {
        fail_callback(ticket);
    } else if (code != CURLE_OK) {
        fail_curl(ticket, code);
    } else if (!ticket->head_in) {
        fail_transient(ticket, -EPROTO, "the answer is not HTTP");
    } else if (net_http_response_build(ticket->status, &ticket->head, &ticket->body,
                                       &ticket->response) < 0) {
        fail_transient(ticket, -ENOMEM, "out of memory while reading the answer");
    } else {
        ticket->result = 0;
    }
}

/* A stream that was accepted lives as long as bytes come; all else ends at the deadline. */
static bool is_flowing(const struct net_http_ticket *ticket)
{
    return ticket->exchange->on_chunk != NULL && ticket->head_in && ticket->status / 100 == 2;
}

int64_t net_http_ticket_due(const struct net_http_ticket *ticket)
{
    if (!is_flowing(ticket)) {
        return ticket->deadline_ms;
    }
    if (ticket->exchange->idle_ms <= 0 || ticket->paused) {
        return INT64_MAX;
    }
    return ticket->last_byte_ms + ticket->exchange->idle_ms;
}

void net_http_ticket_expire(struct net_http_ticket *ticket)
{
    char text[128];

    if (is_flowing(ticket)) {
        ccm_text_printf(text, sizeof(text), "the stream was silent for %" PRId64 " ms",
                        ticket->exchange->idle_ms);
        fail_transient(ticket, -ETIMEDOUT, text);
    } else if (ticket->head_in) {
        fail_transient(ticket, -ETIMEDOUT, "the answer was not complete in time");
    } else if (ticket->attempted) {
        fail_transient(ticket, -ETIMEDOUT, "no answer in time");
    } else {
        fail_transient(ticket, -ETIMEDOUT, "no connection in time");
    }
}

void net_http_ticket_cancel(struct net_http_ticket *ticket)
{
    const struct ccm_gate *gate = ticket->exchange->gate;
    const char *why = "given up before the answer came";

    if (!ccm_gate_leads(gate)) {
        why = "this instance does not lead and may change nothing";
    } else if (gate != NULL && !ccm_gate_is_fresh(gate)) {
        why = "changes wait: the Lease was not renewed a moment ago";
    } else if (ccm_gate_is_held(gate)) {
        why = "changes wait: the API server was replaced, or restored from a backup";
    }

    ticket->phase = net_http_ticket_phase(ticket);
    ticket->result =
        ccm_error_set(&ticket->err, -ECANCELED, CCM_ERROR_CANCELLED, "%s: %s", ticket->origin, why);
}
