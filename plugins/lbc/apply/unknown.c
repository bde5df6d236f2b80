#include "lbc/apply/unknown.h"

#include "util/book.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_MS  10000
#define POD_MS    2000 /* the same of an interface, which may be new */
#define MOST_MS   600000
#define COUNT_MAX 1000 /* then those that are over are forgotten, or else all */

struct lbc_unknown {
    const struct ccm_host *host;
    struct ccm_book servers;
};

struct refused {
    int64_t until_ms; /* monotonic */
    int64_t wait_ms;  /* how long it was until then */
    struct ccm_error why;
};

struct lbc_unknown *lbc_unknown_new(const struct ccm_host *host)
{
    struct lbc_unknown *unknown = calloc(1, sizeof(*unknown));

    if (unknown == NULL) {
        return NULL;
    }
    unknown->host = host;
    if (ccm_book_init(&unknown->servers, free) < 0) {
        free(unknown);
        return NULL;
    }
    return unknown;
}

void lbc_unknown_free(struct lbc_unknown *unknown)
{
    if (unknown == NULL) {
        return;
    }
    ccm_book_fini(&unknown->servers);
    free(unknown);
}

static char *unknown_key(const struct lbc_backend *one, const char *service)
{
    return ccm_text_format("%s/%s/%s", one->server_id,
                           one->type == LBC_BACKEND_INTERFACE ? one->server_ip : "", service);
}

static void unknown_forget_locked(struct ccm_strmap *servers, int64_t until_ms)
{
    void *cursor = NULL;
    void *refused = NULL;
    const char *key = NULL;

    while (ccm_strmap_next(servers, &cursor, &key, &refused)) {
        if (((const struct refused *)refused)->until_ms <= until_ms) {
            ccm_strmap_del(servers, key);
        }
    }
}

/* The wait begins anew when the last refusal is long past. Refusals of several threads at once
 * count as one. */
static int64_t refused_next_wait(const struct refused *before, const struct lbc_backend *one,
                                 int64_t now)
{
    if (before == NULL || now - before->until_ms > MOST_MS) {
        return one->type == LBC_BACKEND_INSTANCE ? FIRST_MS : POD_MS;
    }
    if (before->until_ms > now) {
        return before->wait_ms;
    }
    return before->wait_ms * 2 < MOST_MS ? before->wait_ms * 2 : MOST_MS;
}

uint64_t lbc_unknown_record(struct lbc_unknown *unknown, const struct lbc_backend *one,
                            const char *service, const struct ccm_error *why)
{
    const int64_t now = unknown->host->now_ms(unknown->host);
    CCM_CLEANUP(ccm_freep) char *key = unknown_key(one, service);
    CCM_CLEANUP(ccm_freep) struct refused *next = calloc(1, sizeof(*next));

    if (key == NULL || next == NULL) {
        return FIRST_MS;
    }
    struct ccm_strmap *servers = ccm_book_open(&unknown->servers);

    if (ccm_strmap_len(servers) >= COUNT_MAX) {
        unknown_forget_locked(servers, now - MOST_MS);
    }
    if (ccm_strmap_len(servers) >= COUNT_MAX) {
        unknown_forget_locked(servers, INT64_MAX);
    }
    const int64_t wait_ms = refused_next_wait(ccm_strmap_get(servers, key), one, now);

    next->wait_ms = wait_ms;
    next->until_ms = now + wait_ms;
    ccm_error_copy(&next->why, why);
    if (ccm_strmap_set(servers, key, next) == 0) {
        (void)CCM_STEAL(next); /* the map owns it now */
    }
    ccm_book_close(&unknown->servers);
    return (uint64_t)wait_ms;
}

static uint64_t unknown_find_locked(const struct lbc_unknown *unknown,
                                    const struct lbc_backend *one, const char *service,
                                    bool is_late, struct ccm_error *ret_why)
{
    const int64_t now = unknown->host->now_ms(unknown->host);
    CCM_CLEANUP(ccm_freep) char *key = unknown_key(one, service);
    const struct refused *found = key == NULL ? NULL : ccm_strmap_get(unknown->servers.map, key);

    if (found == NULL || found->until_ms + (is_late ? MOST_MS : 0) <= now) {
        return 0;
    }
    ccm_error_copy(ret_why, &found->why);
    return found->until_ms > now ? (uint64_t)(found->until_ms - now) : 1;
}

uint64_t lbc_unknown_find(struct lbc_unknown *unknown, const struct lbc_backend *one,
                          const char *service, bool is_late, struct ccm_error *ret_why)
{
    uint64_t left_ms = 0;

    if (ccm_strmap_len(ccm_book_open(&unknown->servers)) > 0) {
        left_ms = unknown_find_locked(unknown, one, "", is_late, ret_why);
        left_ms =
            left_ms > 0 ? left_ms : unknown_find_locked(unknown, one, service, is_late, ret_why);
    }
    ccm_book_close(&unknown->servers);
    return left_ms;
}

void lbc_unknown_forget(struct lbc_unknown *unknown)
{
    unknown_forget_locked(ccm_book_open(&unknown->servers), INT64_MAX);
    ccm_book_close(&unknown->servers);
}

/* --- of a pass --- */

void lbc_left_out_fini(struct lbc_left_out *left_out)
{
    for (size_t i = 0; i < left_out->len; i++) {
        lbc_backends_fini(&left_out->parts[i].backends);
    }
    ccm_buf_fini(&left_out->names);
    left_out->len = 0;
    left_out->again_ms = 0;
}

static struct lbc_backend backend_any_port(const struct lbc_backend *one)
{
    struct lbc_backend server = *one;

    server.port = 0;
    server.description = NULL;
    return server;
}

int lbc_left_out_add(struct lbc_left_out *left_out, const struct lbc_backend *one,
                     uint64_t again_ms, const struct ccm_error *why)
{
    const struct lbc_backend server = backend_any_port(one);
    size_t i = 0;

    while (i < left_out->len && strcmp(left_out->parts[i].why.code, why->code) != 0) {
        i++;
    }
    if (i == LBC_LEFT_OUT_REASONS) {
        i--; /* the last place has all further reasons */
    }
    if (i == left_out->len) {
        left_out->parts[left_out->len++] = (struct lbc_left_out_part){ .backends = { .len = 0 } };
    }
    if (again_ms > 0 && (left_out->again_ms == 0 || again_ms < left_out->again_ms)) {
        left_out->again_ms = again_ms;
    }
    ccm_error_copy(&left_out->parts[i].why, why);
    return lbc_backends_put(&left_out->parts[i].backends, &server);
}

bool lbc_left_out_has(const struct lbc_left_out *left_out, const struct lbc_backend *one)
{
    const struct lbc_backend server = backend_any_port(one);

    for (size_t i = 0; i < left_out->len; i++) {
        if (lbc_backends_find(&left_out->parts[i].backends, &server) != NULL) {
            return true;
        }
    }
    return false;
}
