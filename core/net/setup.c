/* What one exchange sets on its easy handle, and the callbacks through which curl reports. */
#include "ccm/version.h"
#include "net/ticket.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECT_TIMEOUT_MS 10000
#define IDLE_CONNECTION_S  60 /* below the 90 s after which an API server closes */
#define KEEPALIVE_IDLE_S   15
#define KEEPALIVE_EVERY_S  5
#define UNACKED_MS         20000

/* Whether any byte of the request has left. Curl counts what the connection took. */
static bool anything_sent(const struct net_http_ticket *ticket)
{
    long sent = 0;

    if (ticket->first_sent) {
        return true;
    }
    if (!ticket->attempted) {
        return false;
    }
    return curl_easy_getinfo(ticket->easy, CURLINFO_REQUEST_SIZE, &sent) != CURLE_OK || sent > 0;
}

/* Connection and TLS stand, the request comes next. Curl gets here a second time when a kept
 * connection broke without a byte of answer: by then the other side may have acted. */
static int on_ready(void *arg, char *peer_ip CCM_UNUSED, char *own_ip CCM_UNUSED,
                    int peer_port CCM_UNUSED, int own_port CCM_UNUSED)
{
    struct net_http_ticket *ticket = arg;

    if (anything_sent(ticket) && !ticket->exchange->repeatable) {
        ticket->repeat_refused = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (!ccm_gate_is_open(ticket->exchange->gate)) {
        ticket->shut_out = true;
        return CURL_PREREQFUNC_ABORT;
    }
    ticket->attempted = true;
    return CURL_PREREQFUNC_OK;
}

static bool is_stream(const struct net_http_ticket *ticket)
{
    return ticket->exchange->on_chunk != NULL;
}

static int ticket_read_status(struct net_http_ticket *ticket)
{
    long status = 0;

    if (curl_easy_getinfo(ticket->easy, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK ||
        status < 100 || status > 999) {
        return -EPROTO;
    }
    if (status < 200) {
        return 0;
    }
    ticket->status = (uint32_t)status;
    ticket->head_in = true;
    ticket->last_byte_ms = ccm_clock_now_ms();
    if (ticket->exchange->on_head == NULL) {
        return 0;
    }
    return ticket->exchange->on_head(ticket->exchange->arg, ticket->status);
}

static size_t on_header(char *line, size_t one, size_t len, void *arg)
{
    struct net_http_ticket *ticket = arg;
    int r = net_http_head_line(&ticket->head, line, one * len);

    if (r == 1) {
        r = ticket_read_status(ticket);
    }
    if (r < 0) {
        ticket->callback_error = r;
        return CURL_WRITEFUNC_ERROR;
    }
    return one * len;
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
    struct net_http_ticket *ticket = arg;
    const size_t size = one * len;
    int r;

    if (is_stream(ticket) && ticket->status / 100 == 2) {
        ticket->last_byte_ms = ccm_clock_now_ms();
        r = ticket->exchange->on_chunk(ticket->exchange->arg, data, size);
    } else {
        ccm_buf_add(&ticket->body, data, size);
        r = ccm_buf_error(&ticket->body);
    }
    if (r < 0) {
        ticket->callback_error = r;
        return CURL_WRITEFUNC_ERROR;
    }
    ticket->paused = r == NET_HTTP_PAUSE;
    return ticket->paused ? CURL_WRITEFUNC_PAUSE : size;
}

/* A connection whose peer vanished without a word must fail soon: many streams share it, and new
 * ones would join it. */
static int on_socket(void *arg CCM_UNUSED, curl_socket_t fd, curlsocktype purpose CCM_UNUSED)
{
    const unsigned int unacked_ms = UNACKED_MS;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked_ms,
                     sizeof(unacked_ms)); /* an optimisation: deadlines hold without it */
    return CURL_SOCKOPT_OK;
}

#define SET(option, value) failed |= curl_easy_setopt(easy, option, value) != CURLE_OK

static bool set_common(const struct net_http_ticket *ticket, CURL *easy)
{
    const struct net_exchange *exchange = ticket->exchange;
    bool failed = false;

    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_USERAGENT, "ccmd/" CCM_VERSION);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_QUICK_EXIT, 1L); /* never wait for a name lookup that nobody wants any more */
    SET(CURLOPT_MAXAGE_CONN, (long)IDLE_CONNECTION_S);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    SET(CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_EVERY_S);
    SET(CURLOPT_SOCKOPTFUNCTION, on_socket);
    SET(CURLOPT_HTTP_VERSION,
        exchange->http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    /* Only TLS tells early whether a connection can be shared. Without it, curl would hold further
     * requests back until the first one, such as a watch, ends. */
    SET(CURLOPT_PIPEWAIT, exchange->http2 && ccm_text_starts(exchange->url, "https:") ? 1L : 0L);
    if (exchange->gzip) {
        SET(CURLOPT_ACCEPT_ENCODING, "gzip");
    }
    if (ticket->loopback) {
        SET(CURLOPT_PROXY, "");
    }
    return !failed;
}

static bool set_callbacks(struct net_http_ticket *ticket, CURL *easy)
{
    bool failed = false;

    SET(CURLOPT_PRIVATE, ticket);
    SET(CURLOPT_ERRORBUFFER, ticket->curl_text);
    SET(CURLOPT_PREREQFUNCTION, on_ready);
    SET(CURLOPT_PREREQDATA, ticket);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, ticket);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, ticket);
    return !failed;
}

static bool set_request(struct net_http_ticket *ticket, CURL *easy)
{
    const struct net_exchange *exchange = ticket->exchange;
    const bool with_body = exchange->body != NULL || exchange->body_len > 0;
    bool failed = false;

    SET(CURLOPT_URL, ticket->url != NULL ? ticket->url : exchange->url);
    SET(CURLOPT_HTTPHEADER, ticket->headers);
    if (ticket->connect_to.data != NULL) {
        SET(CURLOPT_CONNECT_TO, &ticket->connect_to);
    }
    if (with_body || ccm_text_equal(exchange->method, "POST")) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body_len);
        SET(CURLOPT_POSTFIELDS, exchange->body_len > 0 ? exchange->body : "");
    } else if (ccm_text_equal(exchange->method, "HEAD")) {
        SET(CURLOPT_NOBODY, 1L);
    } else {
        SET(CURLOPT_HTTPGET, 1L);
    }
    SET(CURLOPT_CUSTOMREQUEST, exchange->method);
    return !failed;
}

/* The text is only read while the handle is in use; curl's struct lacks the const. */
static struct curl_blob blob_of(const char *text)
{
    struct curl_blob blob = { .len = strlen(text), .flags = CURL_BLOB_NOCOPY };

    memcpy(&blob.data, &text, sizeof(text));
    return blob;
}

static bool set_trust(const struct net_tls *tls, CURL *easy)
{
    bool failed = false;

    if (tls->insecure) {
        SET(CURLOPT_SSL_VERIFYPEER, 0L);
        SET(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (ccm_text_empty(tls->ca_data) && ccm_text_empty(tls->ca_file)) {
        return !failed;
    }
    /* Only this authority: the folder of the system's would be looked at as well. */
    SET(CURLOPT_CAPATH, NULL);
    if (!ccm_text_empty(tls->ca_data)) {
        struct curl_blob blob = blob_of(tls->ca_data);

        SET(CURLOPT_CAINFO, NULL);
        SET(CURLOPT_CAINFO_BLOB, &blob);
    } else {
        SET(CURLOPT_CAINFO, tls->ca_file);
#if LIBCURL_VERSION_NUM >= 0x075700
        /* It would remember the file for a day, and distrust a renewed authority that long. */
        SET(CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
    }
    return !failed;
}

static bool set_tls(const struct net_tls *tls, CURL *easy)
{
    bool failed = false;

    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_KEYPASSWD, ""); /* without one, OpenSSL would ask for it at the terminal */
    if (tls == NULL) {
        return !failed;
    }
    failed |= !set_trust(tls, easy);
    if (!ccm_text_empty(tls->cert_data) && tls->key_data != NULL) {
        struct curl_blob cert = blob_of(tls->cert_data);
        struct curl_blob key = blob_of(ccm_secret_text(tls->key_data));

        SET(CURLOPT_SSLCERTTYPE, "PEM");
        SET(CURLOPT_SSLKEYTYPE, "PEM");
        SET(CURLOPT_SSLCERT_BLOB, &cert);
        SET(CURLOPT_SSLKEY_BLOB, &key);
    }
    return !failed;
}

int net_http_ticket_setup(struct net_http_ticket *ticket, CURL *easy)
{
    ticket->easy = easy;
    if (set_common(ticket, easy) && set_callbacks(ticket, easy) && set_request(ticket, easy) &&
        set_tls(ticket->exchange->tls, easy)) {
        return 0;
    }
    ticket->phase = CCM_HTTP_NOT_SENT;
    ticket->result = ccm_error_set(&ticket->err, -ENOMEM, CCM_ERROR_TRANSIENT,
                                   "%s: cannot prepare the request", ticket->origin);
    return ticket->result;
}

uint64_t net_http_ticket_phase(const struct net_http_ticket *ticket)
{
    return anything_sent(ticket) ? CCM_HTTP_MAYBE_RUN : CCM_HTTP_NOT_SENT;
}
