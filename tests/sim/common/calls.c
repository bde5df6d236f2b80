#include "common/calls.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

struct call {
    uint64_t seq;
    int64_t wall_us;
    int64_t took_us; /* -1 until it is answered */
    char *head;      /* texts known at arrival, each with its NUL: action, method, path, then name
                      * and value of each parameter; made JSON when somebody asks */
    size_t params;   /* pairs of them */
    char *code;      /* NULL = none */
    const char *cut; /* static text or NULL */
    unsigned http;
    bool background;
};

struct ccm_sim_calls {
    pthread_mutex_t lock; /* guards all below; no other lock is taken inside */
    struct call *items;   /* seq ascending without gaps: items[i].seq == items[0].seq + i */
    size_t len;
    size_t cap;
    size_t max;
    uint64_t last;
    uint64_t open; /* of the items, those that are neither answered nor background */
};

static int64_t now_us(clockid_t clock)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(clock, &ts); /* both clocks always exist */
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

struct ccm_sim_calls *ccm_sim_calls_new(uint32_t max)
{
    struct ccm_sim_calls *calls = calloc(1, sizeof(*calls));

    if (calls != NULL) {
        (void)pthread_mutex_init(&calls->lock, NULL); /* cannot fail with default attributes */
        calls->max = max;
    }
    return calls;
}

static void call_fini(struct call *call)
{
    free(call->head);
    free(call->code);
}

static bool is_open(const struct call *call)
{
    return call->took_us < 0 && !call->background;
}

static void clear_locked(struct ccm_sim_calls *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calls->open -= is_open(&calls->items[i]);
        call_fini(&calls->items[i]);
    }
    calls->len -= count;
    if (calls->len > 0) {
        memmove(calls->items, calls->items + count, calls->len * sizeof(*calls->items));
    }
}

void ccm_sim_calls_free(struct ccm_sim_calls *calls)
{
    if (calls == NULL) {
        return;
    }
    clear_locked(calls, calls->len);
    free(calls->items);
    (void)pthread_mutex_destroy(&calls->lock); /* nobody holds it any more */
    free(calls);
}

static char *put(char *to, const char *text)
{
    size_t size = strlen(text) + 1;

    memcpy(to, text, size);
    return to + size;
}

static char *head_new(const char *action, const char *method, const char *path,
                      const struct ccm_sim_params *params)
{
    size_t size = strlen(action) + strlen(method) + strlen(path) + 3;

    for (size_t i = 0; i < params->len; i++) {
        size += strlen(params->items[i].name) + strlen(params->items[i].value) + 2;
    }

    char *head = malloc(size);
    char *to = head;

    if (head == NULL) {
        return NULL;
    }
    to = put(put(put(to, action), method), path);
    for (size_t i = 0; i < params->len; i++) {
        to = put(put(to, params->items[i].name), params->items[i].value);
    }
    return head;
}

static const char *next_text(const char **cursor)
{
    const char *text = *cursor;

    *cursor = text + strlen(text) + 1;
    return text;
}

static void head_write(struct ccm_jsonw *w, const struct call *call)
{
    const char *cursor = call->head;

    ccm_jsonw_str(w, "action", next_text(&cursor));
    ccm_jsonw_str(w, "method", next_text(&cursor));
    ccm_jsonw_str(w, "path", next_text(&cursor));
    ccm_jsonw_open(w, "params", '{');
    for (size_t i = 0; i < call->params; i++) {
        const char *name = next_text(&cursor);

        ccm_jsonw_str(w, name, next_text(&cursor));
    }
    ccm_jsonw_close(w, '}');
}

uint64_t ccm_sim_calls_begin(struct ccm_sim_calls *calls, const char *action, const char *method,
                             const char *path, const struct ccm_sim_params *params, bool background)
{
    struct call call = {
        .wall_us = now_us(CLOCK_REALTIME),
        .took_us = -1,
        .head = head_new(action, method, path, params),
        .params = params->len,
        .background = background,
    };

    if (call.head == NULL) {
        return 0;
    }

    (void)pthread_mutex_lock(&calls->lock); /* a default mutex that we do not hold cannot fail */
    if (calls->len >= calls->max) {
        /* An eighth at a time, so that a full log does not move all entries for each call. */
        clear_locked(calls, calls->len - calls->max + 1 + calls->max / 8);
    }
    if (ccm_array_grow(&calls->items, &calls->cap, calls->len + 1, sizeof(call)) < 0) {
        call_fini(&call);
    } else {
        call.seq = ++calls->last;
        calls->items[calls->len++] = call;
        calls->open += is_open(&call);
    }
    (void)pthread_mutex_unlock(&calls->lock); /* held by us */
    return call.seq;
}

void ccm_sim_calls_end(struct ccm_sim_calls *calls, uint64_t seq, unsigned http, const char *code,
                       const char *cut)
{
    char *copy = ccm_text_empty(code) ? NULL : strdup(code);

    ccm_lock(&calls->lock);
    if (calls->len > 0 && seq >= calls->items[0].seq && seq - calls->items[0].seq < calls->len) {
        struct call *call = &calls->items[seq - calls->items[0].seq];

        calls->open -= is_open(call);
        call->took_us = now_us(CLOCK_REALTIME) - call->wall_us;
        call->http = http;
        call->cut = cut;
        free(call->code);
        call->code = CCM_STEAL(copy);
    }
    (void)pthread_mutex_unlock(&calls->lock); /* held by us */
    free(copy);
}

static void call_write(struct ccm_jsonw *w, const struct call *call)
{
    int64_t took = call->took_us < 0 ? 0 : call->took_us;

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_i64(w, "seq", (int64_t)call->seq);
    ccm_buf_addf(w->buf, ",\"t\":%" PRId64 ".%06" PRId64, call->wall_us / 1000000,
                 call->wall_us % 1000000);
    head_write(w, call);
    ccm_jsonw_i64(w, "http", call->http);
    ccm_jsonw_str(w, "code", call->code == NULL ? "" : call->code);
    if (call->cut != NULL) {
        ccm_jsonw_str(w, "cut", call->cut);
    }
    ccm_buf_addf(w->buf, ",\"ms\":%" PRId64 ".%03" PRId64, took / 1000, took % 1000);
    ccm_jsonw_close(w, '}');
}

static void list(struct ccm_sim_calls *calls, int64_t since, bool all, struct ccm_sim_reply *reply)
{
    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "calls", '[');
    ccm_lock(&calls->lock);
    for (size_t i = 0; i < calls->len; i++) {
        if ((int64_t)calls->items[i].seq > since && (all || !calls->items[i].background)) {
            call_write(&w, &calls->items[i]);
        }
    }
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_i64(&w, "last", (int64_t)calls->last);
    (void)pthread_mutex_unlock(&calls->lock); /* held by us */
    ccm_jsonw_close(&w, '}');
}

void ccm_sim_calls_idle(struct ccm_sim_calls *calls, struct ccm_sim_reply *reply)
{
    ccm_lock(&calls->lock);

    const uint64_t last = calls->last;
    const uint64_t open = calls->open;

    (void)pthread_mutex_unlock(&calls->lock); /* held by us */
    ccm_buf_addf(&reply->body, "{\"last\":%" PRIu64 ",\"open\":%" PRIu64 "}\n", last, open);
}

void ccm_sim_calls_control(struct ccm_sim_calls *calls, const struct ccm_sim_request *req,
                           struct ccm_sim_reply *reply)
{
    const char *text = ccm_sim_params_get(&req->query, "since");
    int64_t since = 0;

    if (text != NULL && ccm_parse_i64(text, 0, INT64_MAX, &since) < 0) {
        ccm_sim_reply_error(reply, 400, "since: '%s' is not a number", text);
    } else if (ccm_text_equal(req->method, "GET")) {
        list(calls, since, ccm_sim_params_get(&req->query, "all") != NULL, reply);
    } else if (ccm_text_equal(req->method, "DELETE")) {
        ccm_lock(&calls->lock);
        clear_locked(calls, calls->len);
        (void)pthread_mutex_unlock(&calls->lock); /* held by us */
        ccm_buf_adds(&reply->body, "{}");
    } else {
        ccm_sim_reply_error(reply, 405, "%s is not offered here", req->method);
    }
}
