#include "common/faults.h"

#include "common/effect.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/jsonw.h"
#include "util/parse.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <string.h>

struct ccm_sim_faults {
    pthread_mutex_t lock; /* guards all below; no other lock is taken inside */
    struct ccm_sim_fault *first;
    int64_t last_id;
};

struct ccm_sim_faults *ccm_sim_faults_new(void)
{
    struct ccm_sim_faults *faults = calloc(1, sizeof(*faults));

    if (faults != NULL) {
        (void)pthread_mutex_init(&faults->lock, NULL); /* cannot fail with default attributes */
    }
    return faults;
}

static void list_free(struct ccm_sim_fault *first)
{
    while (first != NULL) {
        struct ccm_sim_fault *next = first->next;

        ccm_sim_fault_free(first);
        first = next;
    }
}

static void list_freep(struct ccm_sim_fault **first)
{
    list_free(*first);
}

void ccm_sim_faults_free(struct ccm_sim_faults *faults)
{
    if (faults == NULL) {
        return;
    }
    list_free(faults->first);
    (void)pthread_mutex_destroy(&faults->lock); /* nobody holds it any more */
    free(faults);
}

static bool pattern_fits(const char *pattern, const char *text)
{
    return pattern == NULL || fnmatch(pattern, text, 0) == 0;
}

static bool fits(const struct ccm_sim_fault *fault, const char *action, const char *path,
                 const struct ccm_sim_params *params)
{
    if (!pattern_fits(fault->action, action) || !pattern_fits(fault->path, path)) {
        return false;
    }
    for (size_t i = 0; i < fault->params.len; i++) {
        const char *value = ccm_sim_params_get(params, fault->params.items[i].name);

        if (value == NULL || !pattern_fits(fault->params.items[i].value, value)) {
            return false;
        }
    }
    return true;
}

/* xorshift32, seeded by the rule's number: the same rules give the same sequence in each run. */
static double next_random(struct ccm_sim_fault *fault)
{
    uint32_t x = fault->random;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    fault->random = x;
    return (double)x / 4294967296.0;
}

static bool acts_locked(struct ccm_sim_fault *fault, const char *action, const char *path,
                        const struct ccm_sim_params *params)
{
    if (!fits(fault, action, path, params)) {
        return false;
    }
    fault->seen++;
    if (fault->seen < fault->nth || (fault->count >= 0 && fault->hits >= fault->count)) {
        return false;
    }
    if (fault->p < 1.0 && next_random(fault) >= fault->p) {
        return false;
    }
    fault->hits++;
    return true;
}

static int text_copy(const char *from, char **to)
{
    *to = from == NULL ? NULL : strdup(from);
    return from != NULL && *to == NULL ? -ENOMEM : 0;
}

static int effect_copy(const struct ccm_sim_effect *from, struct ccm_sim_effect *to)
{
    int r = 0;

    *to = (struct ccm_sim_effect){
        .http = from->http,
        .delay_ms = from->delay_ms,
        .cut = from->cut,
        .truncate = from->truncate,
    };
    if (text_copy(from->code, &to->code) < 0 || text_copy(from->message, &to->message) < 0 ||
        text_copy(from->body, &to->body) < 0) {
        r = -ENOMEM;
    }
    for (size_t i = 0; i < from->headers.len && r == 0; i++) {
        r = ccm_sim_params_add(&to->headers, from->headers.items[i].name,
                               from->headers.items[i].value);
    }
    if (r < 0) {
        ccm_sim_effect_fini(to);
    }
    return r;
}

int ccm_sim_faults_pick(struct ccm_sim_faults *faults, const char *action, const char *path,
                        const struct ccm_sim_params *params, bool background,
                        struct ccm_sim_effect *ret_effect)
{
    int r = 0;

    (void)pthread_mutex_lock(&faults->lock); /* a default mutex that we do not hold cannot fail */
    for (struct ccm_sim_fault *fault = faults->first; fault != NULL && r == 0;
         fault = fault->next) {
        bool meant = !background || fault->action != NULL || fault->path != NULL;

        if (meant && acts_locked(fault, action, path, params)) {
            r = effect_copy(&fault->effect, ret_effect) < 0 ? -ENOMEM : 1;
            ret_effect->rule = fault->id;
        }
    }
    (void)pthread_mutex_unlock(&faults->lock); /* held by us */
    return r;
}

bool ccm_sim_faults_has(struct ccm_sim_faults *faults, int64_t rule)
{
    bool has = false;

    ccm_lock(&faults->lock);
    for (const struct ccm_sim_fault *fault = faults->first; fault != NULL && !has;
         fault = fault->next) {
        has = fault->id == rule;
    }
    (void)pthread_mutex_unlock(&faults->lock); /* held by us */
    return has;
}

static int parse_all(const cJSON *json, struct ccm_sim_fault **ret, struct ccm_buf *why)
{
    CCM_CLEANUP(list_freep) struct ccm_sim_fault *first = NULL;
    struct ccm_sim_fault **end = &first;

    if (!cJSON_IsArray(json)) {
        return ccm_sim_fault_parse(json, ret, why);
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        int r = ccm_sim_fault_parse(item, end, why);

        if (r < 0) {
            return r;
        }
        end = &(*end)->next;
    }
    *ret = CCM_STEAL(first);
    return 0;
}

static void post(struct ccm_sim_faults *faults, const struct ccm_sim_request *req,
                 struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    struct ccm_sim_fault *list = NULL;

    if (ccm_json_parse(req->body, req->body_len, &json) < 0) {
        ccm_sim_reply_error(reply, 400, "the body is not JSON");
        return;
    }

    int r = parse_all(json, &list, &why);

    if (r < 0) {
        ccm_sim_reply_error(reply, r == -ENOMEM ? 500 : 400, "%s", ccm_buf_str(&why));
        return;
    }

    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "ids", '[');
    ccm_lock(&faults->lock);

    struct ccm_sim_fault **end = &faults->first;

    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = list;
    for (; list != NULL; list = list->next) {
        list->id = ++faults->last_id;
        list->random = 2463534242U ^ (uint32_t)list->id * 2654435761U;
        ccm_jsonw_i64(&w, NULL, list->id);
    }
    (void)pthread_mutex_unlock(&faults->lock); /* held by us */
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
}

static void get(struct ccm_sim_faults *faults, struct ccm_sim_reply *reply)
{
    static const char *const cuts[] = { "", "before", "after" };
    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_open(&w, "faults", '[');
    ccm_lock(&faults->lock);
    for (const struct ccm_sim_fault *fault = faults->first; fault != NULL; fault = fault->next) {
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_i64(&w, "id", fault->id);
        ccm_jsonw_str(&w, "action", fault->action);
        ccm_jsonw_str(&w, "code", fault->effect.code);
        ccm_jsonw_str(&w, "cut", cuts[fault->effect.cut]);
        ccm_jsonw_i64(&w, "delay_ms", fault->effect.delay_ms);
        ccm_jsonw_i64(&w, "count", fault->count);
        ccm_jsonw_i64(&w, "seen", fault->seen);
        ccm_jsonw_i64(&w, "hits", fault->hits);
        ccm_jsonw_close(&w, '}');
    }
    (void)pthread_mutex_unlock(&faults->lock); /* held by us */
    ccm_jsonw_close(&w, ']');
    ccm_jsonw_close(&w, '}');
}

static void del(struct ccm_sim_faults *faults, const struct ccm_sim_request *req,
                struct ccm_sim_reply *reply)
{
    const char *text = ccm_sim_params_get(&req->query, "id");
    int64_t id = 0;

    if (text != NULL && ccm_parse_i64(text, 1, INT64_MAX, &id) < 0) {
        ccm_sim_reply_error(reply, 400, "id: '%s' is not a number", text);
        return;
    }

    ccm_lock(&faults->lock);
    for (struct ccm_sim_fault **link = &faults->first; *link != NULL;) {
        struct ccm_sim_fault *fault = *link;

        if (id == 0 || fault->id == id) {
            *link = fault->next;
            ccm_sim_fault_free(fault);
        } else {
            link = &fault->next;
        }
    }
    (void)pthread_mutex_unlock(&faults->lock); /* held by us */
    ccm_buf_adds(&reply->body, "{}");
}

void ccm_sim_faults_control(struct ccm_sim_faults *faults, const struct ccm_sim_request *req,
                            struct ccm_sim_reply *reply)
{
    if (ccm_text_equal(req->method, "POST")) {
        post(faults, req, reply);
    } else if (ccm_text_equal(req->method, "GET")) {
        get(faults, reply);
    } else if (ccm_text_equal(req->method, "DELETE")) {
        del(faults, req, reply);
    } else {
        ccm_sim_reply_error(reply, 405, "%s is not offered here", req->method);
    }
}
