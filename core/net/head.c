#include "net/head.h"

#include "net/http.h"
#include "util/cleanup.h"
#include "util/header.h"
#include "util/secret.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The public struct stands first, so that its address is the address of the whole. */
struct response {
    struct ccm_http_response pub;
    char *body;
    char *head;
    const char *lines[];
};

void net_http_head_fini(struct net_http_head *head)
{
    ccm_buf_fini(&head->text);
    head->count = 0;
    head->complete = false;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) != 0 || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

int net_http_head_line(struct net_http_head *head, const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == '\r' || line[len - 1] == '\n')) {
        len--;
    }
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        ccm_buf_reset(&head->text);
        head->count = 0;
        head->complete = false;
        return 0;
    }
    if (head->complete) {
        return 0;
    }
    if (len == 0) {
        head->complete = true;
        return 1;
    }

    size_t name = 0;

    while (name < len && is_name_char(line[name])) {
        name++;
    }
    if (name == 0 || name == len || line[name] != ':' || memchr(line, '\0', len) != NULL) {
        return 0;
    }

    size_t value = name + 1;

    while (value < len && (line[value] == ' ' || line[value] == '\t')) {
        value++;
    }
    while (len > value && (line[len - 1] == ' ' || line[len - 1] == '\t')) {
        len--;
    }
    for (size_t i = 0; i < name; i++) {
        ccm_buf_addc(&head->text, (char)tolower((unsigned char)line[i]));
    }
    ccm_buf_adds(&head->text, ": ");
    ccm_buf_add(&head->text, line + value, len - value);
    ccm_buf_addc(&head->text, '\0');
    head->count++;
    return ccm_buf_error(&head->text);
}

int net_http_response_build(uint32_t status, struct net_http_head *head, struct ccm_buf *body,
                            struct ccm_http_response **ret)
{
    const size_t count = head->count;
    const size_t body_len = body->len;
    struct response *response =
        calloc(1, sizeof(*response) + (count + 1) * sizeof(response->lines[0]));

    if (response == NULL) {
        return -ENOMEM;
    }
    if (ccm_buf_take(&head->text, &response->head) < 0 || ccm_buf_take(body, &response->body) < 0) {
        net_http_response_free(&response->pub);
        return -ENOMEM;
    }

    const char *line = response->head;

    for (size_t i = 0; i < count; i++) {
        response->lines[i] = line;
        line += strlen(line) + 1;
    }
    response->pub = (struct ccm_http_response){
        .struct_size = sizeof(response->pub),
        .status = status,
        .body = response->body,
        .body_len = body_len,
        .headers = response->lines,
    };
    *ret = &response->pub;
    return 0;
}

void net_http_response_free(struct ccm_http_response *response)
{
    struct response *whole = (struct response *)response;

    if (whole != NULL) {
        if (whole->body != NULL) {
            ccm_secret_wipe(whole->body, whole->pub.body_len); /* there may be a secret in it */
        }
        free(whole->body);
        free(whole->head);
        free(whole);
    }
}

void net_http_response_freep(struct ccm_http_response **response)
{
    net_http_response_free(*response);
}

const char *net_http_header(const struct ccm_http_response *response, const char *name)
{
    return ccm_header_get(response->headers, name);
}
