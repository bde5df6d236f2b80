#include "net/ticket.h"

#include "ccm/version.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_DEADLINE_MS 20000
#define DEFAULT_BODY_MAX    ((size_t)4 * 1024 * 1024)

/* Printable ASCII and, in values, blanks and UTF-8: nothing that could end the line. */
static bool is_clean(const char *text, unsigned char least)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p < least || *p == 0x7f) {
            return false;
        }
    }
    return true;
}

static int exchange_refuse(struct ccm_error *err, const char *what)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "HTTP request: %s", what);
}

static int exchange_check(const struct net_exchange *exchange, struct ccm_error *err)
{
    if (exchange->url == NULL || !is_clean(exchange->url, 0x21)) {
        return exchange_refuse(err, "the URL is missing or holds blanks or control characters");
    }
    if (ccm_text_empty(exchange->method) ||
        strspn(exchange->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != strlen(exchange->method)) {
        return exchange_refuse(err, "the method is not in capital letters");
    }
    for (const char *const *h = exchange->headers; h != NULL && *h != NULL; h++) {
        if (!is_clean(*h, 0x20) || strchr(*h, ':') == NULL) {
            return exchange_refuse(err, "a header is malformed");
        }
    }
    if (exchange->bearer != NULL && !is_clean(ccm_secret_text(exchange->bearer), 0x21)) {
        return exchange_refuse(err, "the token holds blanks or control characters");
    }
    return 0;
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    char bare[INET6_ADDRSTRLEN];

    if (ccm_text_equal_case(host, "localhost")) {
        return true;
    }
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    if (host[0] != '[') {
        return false;
    }
    ccm_text_copy(bare, sizeof(bare), host + 1);
    bare[strcspn(bare, "]")] = '\0';
    return inet_pton(AF_INET6, bare, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static void curl_freep(char **text)
{
    curl_free(*text);
}

static void curl_url_freep(CURLU **url)
{
    curl_url_cleanup(*url);
}

/* Verify another name than the URL's: ask for that name, connect to the real host. */
static int rename_host(struct net_http_ticket *ticket, CURLU *url, const char *host,
                       const char *port)
{
    CCM_CLEANUP(curl_freep) char *text = NULL;

    ticket->connect_to.data = ccm_text_format("::%s:%s", host, port);
    ticket->host_header = ccm_text_format("Host: %s:%s", host, port);
    if (ticket->connect_to.data == NULL || ticket->host_header == NULL) {
        return -ENOMEM;
    }
    if (curl_url_set(url, CURLUPART_HOST, ticket->exchange->tls->server_name, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK) {
        return -EINVAL;
    }
    ticket->url = strdup(text);
    return ticket->url == NULL ? -ENOMEM : 0;
}

static int read_url(struct net_http_ticket *ticket, struct ccm_error *err)
{
    CCM_CLEANUP(curl_url_freep) CURLU *url = curl_url();
    CCM_CLEANUP(curl_freep) char *scheme = NULL;
    CCM_CLEANUP(curl_freep) char *host = NULL;
    CCM_CLEANUP(curl_freep) char *port = NULL;
    const struct net_tls *tls = ticket->exchange->tls;

    if (url == NULL) {
        return ccm_error_nomem(err);
    }
    if (curl_url_set(url, CURLUPART_URL, ticket->exchange->url,
                     CURLU_PATH_AS_IS | CURLU_DISALLOW_USER) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        return exchange_refuse(err, "the URL is malformed");
    }
    if (curl_url_get(url, CURLUPART_PORT, &port, 0) == CURLUE_OK) {
        ccm_text_printf(ticket->origin, sizeof(ticket->origin), "%s://%s:%s", scheme, host, port);
    } else {
        ccm_text_printf(ticket->origin, sizeof(ticket->origin), "%s://%s", scheme, host);
        if (curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK) {
            return exchange_refuse(err, "the URL is neither http nor https");
        }
    }
    ticket->loopback = is_loopback(host);
    if (tls == NULL || ccm_text_empty(tls->server_name) || strcmp(scheme, "https") != 0) {
        return 0;
    }

    const int r = rename_host(ticket, url, host, port);

    return r == -EINVAL ? exchange_refuse(err, "the TLS server name is malformed")
           : r < 0      ? ccm_error_nomem(err)
                        : 0;
}

static bool has_header(const struct net_exchange *exchange, const char *name)
{
    const size_t len = strlen(name);

    for (const char *const *h = exchange->headers; h != NULL && *h != NULL; h++) {
        if (strlen(*h) > len && (*h)[len] == ':') {
            char head[32];

            ccm_text_copy(head, len + 1 < sizeof(head) ? len + 1 : sizeof(head), *h);
            if (ccm_text_equal_case(head, name)) {
                return true;
            }
        }
    }
    return false;
}

static int set_bearer(struct net_http_ticket *ticket)
{
    const struct ccm_secret *bearer = ticket->exchange->bearer;

    if (bearer == NULL || ccm_text_empty(ccm_secret_text(bearer))) {
        return 0;
    }
    ticket->authorization.hidden =
        ccm_text_format("Authorization: Bearer %s", ccm_secret_text(bearer));
    return ticket->authorization.hidden == NULL ? -ENOMEM : 0;
}

/* The list that curl reads is built here node by node: curl_slist_append() would copy the token
 * into memory that nobody wipes. */
static int build_headers(struct net_http_ticket *ticket)
{
    const struct net_exchange *exchange = ticket->exchange;
    static char no_expect[] = "Expect:";
    static char no_type[] = "Content-Type:";
    size_t count = 0;

    while (exchange->headers != NULL && exchange->headers[count] != NULL) {
        count++;
    }
    ticket->headers = calloc(count + 4, sizeof(*ticket->headers));
    if (ticket->headers == NULL || set_bearer(ticket) < 0) {
        return -ENOMEM;
    }

    size_t n = 0;

    for (; n < count; n++) {
        /* curl's struct lacks the const that its use has */
        memcpy(&ticket->headers[n].data, &exchange->headers[n], sizeof(char *));
    }
    if (ticket->authorization.hidden != NULL) {
        ticket->headers[n++].data = ticket->authorization.hidden;
    }
    if (ticket->host_header != NULL && !has_header(exchange, "host")) {
        ticket->headers[n++].data = ticket->host_header;
    }
    if (!has_header(exchange, "content-type")) {
        ticket->headers[n++].data = no_type;
    }
    ticket->headers[n].data = no_expect;
    for (size_t i = 0; i < n; i++) {
        ticket->headers[i].next = &ticket->headers[i + 1];
    }
    return 0;
}

int net_http_ticket_init(struct net_http_ticket *ticket, const struct net_exchange *exchange,
                         struct ccm_error *err)
{
    int r = exchange_check(exchange, err);

    if (r < 0) {
        return r;
    }
    *ticket = (struct net_http_ticket){
        .exchange = exchange,
        .deadline_ms = exchange->deadline_ms != 0 ? exchange->deadline_ms
                                                  : ccm_clock_now_ms() + DEFAULT_DEADLINE_MS,
        .head.text.max = NET_HTTP_HEAD_MAX,
        .body.max = exchange->max_body != 0 ? exchange->max_body : DEFAULT_BODY_MAX,
        .body.wipe = true,
    };
    r = read_url(ticket, err);
    if (r == 0 && build_headers(ticket) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r == 0 && ccm_clock_cond_init(&ticket->ended) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        net_http_ticket_fini(ticket);
    }
    return r;
}

void net_http_ticket_fini(struct net_http_ticket *ticket)
{
    free(ticket->url);
    free(ticket->host_header);
    free(ticket->connect_to.data);
    free(ticket->headers);
    ccm_secret_fini(&ticket->authorization);
    net_http_head_fini(&ticket->head);
    ccm_buf_fini(&ticket->body);
    net_http_response_free(ticket->response);
    ticket->response = NULL;
}
