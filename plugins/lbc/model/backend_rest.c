/*
 * Sets of backends at rest: one block instead of an array and a block per backend. One after the
 * other, in their order, each told by how it differs from the one before:
 *
 *   what      1 byte: type and REST_*
 *   shared    1 byte: how much of the server's id is that of the one before; and REST_SAME
 *   id        the rest of it, NUL
 *   ip        of an interface only: 4 bytes with REST_V4, 16 with REST_V6, else a text, NUL
 *   port      2 bytes, unless REST_PORT
 *   weight    1 byte, unless REST_WEIGHT
 *   described a text, NUL, with REST_TEXT
 *
 * Before the first one there is `none`.
 */
#include "lbc/model/backend.h"
#include "util/buf.h"
#include "util/cidr.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In `what`. */
#define REST_TYPE    3U /* enum lbc_backend_type */
#define REST_LEAVING 4U
#define REST_V4      8U
#define REST_V6      16U
#define REST_PORT    32U /* that of the one before, as the next */
#define REST_WEIGHT  64U
#define REST_TEXT    128U
/* In `shared`. */
#define REST_SAME   128U /* described as the one before, or neither is */
#define REST_SHARED 127U

static char empty[1];
static const struct lbc_backend none = { .server_id = empty, .server_ip = empty };

/* --- to rest --- */

static void add_byte(struct ccm_buf *buf, unsigned byte)
{
    ccm_buf_addc(buf, (char)(unsigned char)byte);
}

static void rest_add_text(struct ccm_buf *buf, const char *text)
{
    ccm_buf_add(buf, text, strlen(text) + 1);
}

static unsigned shared_len(const char *a, const char *b)
{
    unsigned len = 0;

    while (len < REST_SHARED && a[len] != '\0' && a[len] == b[len]) {
        len++;
    }
    return len;
}

static bool rest_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* How the address can be kept: as bytes only if these bytes give the same text again. */
static unsigned rest_classify_ip(const struct lbc_backend *one, struct ccm_ip *ret)
{
    char text[CCM_IP_TEXT];

    if (one->type != LBC_BACKEND_INTERFACE || ccm_ip_parse(one->server_ip, ret) < 0) {
        return 0;
    }
    ccm_ip_format(ret, text);
    if (strcmp(text, one->server_ip) != 0) {
        return 0;
    }
    return ccm_ip_is_v4(ret) ? REST_V4 : REST_V6;
}

static void add_ip(struct ccm_buf *buf, const struct lbc_backend *one, unsigned what,
                   const struct ccm_ip *ip)
{
    if ((what & REST_V4) != 0) {
        ccm_buf_add(buf, ip->bytes + 12, 4);
    } else if ((what & REST_V6) != 0) {
        ccm_buf_add(buf, ip->bytes, 16);
    } else if (one->type == LBC_BACKEND_INTERFACE) {
        rest_add_text(buf, one->server_ip);
    }
}

static void add_backend(struct ccm_buf *buf, const struct lbc_backend *one,
                        const struct lbc_backend *before)
{
    struct ccm_ip ip;
    const unsigned shared = shared_len(one->server_id, before->server_id);
    const bool same = rest_same_text(one->description, before->description);
    const bool told = !same && one->description != NULL;
    const unsigned what =
        one->type | rest_classify_ip(one, &ip) | (one->leaving ? REST_LEAVING : 0) |
        (one->port == before->port ? REST_PORT : 0) |
        (one->weight == before->weight ? REST_WEIGHT : 0) | (told ? REST_TEXT : 0);

    add_byte(buf, what);
    add_byte(buf, shared | (same ? REST_SAME : 0));
    rest_add_text(buf, one->server_id + shared);
    add_ip(buf, one, what, &ip);
    if ((what & REST_PORT) == 0) {
        add_byte(buf, one->port & 0xFFU);
        add_byte(buf, (unsigned)one->port >> 8);
    }
    if ((what & REST_WEIGHT) == 0) {
        add_byte(buf, one->weight);
    }
    if (told) {
        rest_add_text(buf, one->description);
    }
}

void lbc_backends_rest(struct lbc_backends *set)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 0 };
    const struct lbc_backend *before = &none;
    char *block = NULL;

    if (set->len == 0 || set->rest != NULL) {
        return;
    }
    for (size_t i = 0; i < set->len; i++) {
        add_backend(&buf, &set->items[i], before);
        before = &set->items[i];
    }
    block = ccm_buf_error(&buf) < 0 ? NULL : malloc(buf.len); /* as large as it is, no more */
    if (block == NULL) {
        return;
    }
    memcpy(block, buf.data, buf.len);

    const size_t len = set->len;

    lbc_backends_fini(set);
    set->rest = block;
    set->len = len;
}

/* --- back --- */

static unsigned rest_parse_byte(const char **at)
{
    return (unsigned char)*(*at)++;
}

static char *rest_parse_text(const char **at)
{
    char *text = (char *)(uintptr_t)*at; /* the block is ours; copied from there */

    *at += strlen(text) + 1;
    return text;
}

static void rest_parse_ip(const char **at, unsigned what, char room[static CCM_IP_TEXT],
                          struct lbc_backend *ret)
{
    struct ccm_ip ip = { .bytes = { [10] = 0xFF, [11] = 0xFF } };
    const size_t len = (what & REST_V4) != 0 ? 4 : (what & REST_V6) != 0 ? 16 : 0;

    ret->server_ip = empty;
    if (len > 0) {
        memcpy(ip.bytes + 16 - len, *at, len);
        *at += len;
        ccm_ip_format(&ip, room);
        ret->server_ip = room;
    } else if (ret->type == LBC_BACKEND_INTERFACE) {
        ret->server_ip = rest_parse_text(at);
    }
}

/* before: among those of `ret`, or `none`. id: scratch. */
static int rest_parse_backend(const char **at, const struct lbc_backend *before, struct ccm_buf *id,
                              struct lbc_backends *ret)
{
    char room[CCM_IP_TEXT];
    const unsigned what = rest_parse_byte(at);
    const unsigned shared = rest_parse_byte(at);
    struct lbc_backend one = {
        .type = what & REST_TYPE,
        .leaving = (what & REST_LEAVING) != 0,
        .port = before->port,
        .weight = before->weight,
        .description = (shared & REST_SAME) != 0 ? before->description : NULL,
    };

    ccm_buf_reset(id);
    ccm_buf_add(id, before->server_id, shared & REST_SHARED);
    ccm_buf_adds(id, rest_parse_text(at));
    if (ccm_buf_error(id) < 0) {
        return -ENOMEM;
    }
    one.server_id = (char *)(uintptr_t)ccm_buf_str(id); /* copied below */
    rest_parse_ip(at, what, room, &one);
    if ((what & REST_PORT) == 0) {
        const unsigned low = rest_parse_byte(at);

        one.port = (uint16_t)(low | rest_parse_byte(at) << 8);
    }
    if ((what & REST_WEIGHT) == 0) {
        one.weight = (uint8_t)rest_parse_byte(at);
    }
    if ((what & REST_TEXT) != 0) {
        one.description = rest_parse_text(at);
    }
    return lbc_backends_put(ret, &one);
}

int lbc_backends_wake(struct lbc_backends *set)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf id = { .max = 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends woken = { 0 };
    const struct lbc_backend *before = &none;
    const char *at = set->rest;
    int r = 0;

    if (set->rest == NULL) {
        return 0;
    }
    woken.items = calloc(set->len, sizeof(*woken.items));
    if (woken.items == NULL) {
        return -ENOMEM;
    }
    woken.cap = set->len;
    for (size_t i = 0; r == 0 && i < set->len; i++) {
        r = rest_parse_backend(&at, before, &id, &woken);
        before = &woken.items[i];
    }
    if (r < 0) {
        return r;
    }
    lbc_backends_fini(set);
    *set = woken;
    memset(&woken, 0, sizeof(woken));
    return 0;
}
