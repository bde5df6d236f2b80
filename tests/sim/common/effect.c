#include "common/effect.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define DELAY_MAX_MS 600000

void ccm_sim_effect_fini(struct ccm_sim_effect *effect)
{
    free(effect->code);
    free(effect->message);
    free(effect->body);
    ccm_sim_params_fini(&effect->headers);
    *effect = (struct ccm_sim_effect){ .truncate = -1 };
}

bool ccm_sim_effect_is_error(const struct ccm_sim_effect *effect)
{
    return effect->body == NULL && (effect->code != NULL || effect->http != 0);
}

void ccm_sim_fault_free(struct ccm_sim_fault *fault)
{
    if (fault == NULL) {
        return;
    }
    free(fault->action);
    free(fault->path);
    ccm_sim_params_fini(&fault->params);
    ccm_sim_effect_fini(&fault->effect);
    free(fault);
}

static void fault_freep(struct ccm_sim_fault **fault)
{
    ccm_sim_fault_free(*fault);
}

static int bad(struct ccm_buf *why, const char *name, const char *text)
{
    ccm_buf_addf(why, "%s: %s", name, text);
    return -EINVAL;
}

static int read_text(const cJSON *item, char **ret, struct ccm_buf *why)
{
    if (!cJSON_IsString(item)) {
        return bad(why, item->string, "must be text");
    }

    char *copy = strdup(item->valuestring);

    if (copy == NULL) {
        return -ENOMEM;
    }
    free(*ret);
    *ret = copy;
    return 0;
}

static int read_number(const cJSON *item, int64_t min, int64_t max, int64_t *ret,
                       struct ccm_buf *why)
{
    if (!cJSON_IsNumber(item) || item->valuedouble < (double)min ||
        item->valuedouble > (double)max ||
        item->valuedouble != (double)(int64_t)item->valuedouble) {
        ccm_buf_addf(why, "%s: must be a number from %lld to %lld", item->string, (long long)min,
                     (long long)max);
        return -EINVAL;
    }
    *ret = (int64_t)item->valuedouble;
    return 0;
}

static int read_pairs(const cJSON *item, struct ccm_sim_params *ret, struct ccm_buf *why)
{
    if (!cJSON_IsObject(item)) {
        return bad(why, item->string, "must be an object of texts");
    }
    for (const cJSON *child = item->child; child != NULL; child = child->next) {
        if (!cJSON_IsString(child)) {
            return bad(why, child->string, "must be text");
        }

        int r = ccm_sim_params_add(ret, child->string, child->valuestring);

        if (r < 0) {
            return r;
        }
    }
    ccm_sim_params_sort(ret);
    return 0;
}

static int match_member(struct ccm_sim_fault *fault, const cJSON *item, struct ccm_buf *why)
{
    if (ccm_text_equal(item->string, "action")) {
        return read_text(item, &fault->action, why);
    }
    if (ccm_text_equal(item->string, "path")) {
        return read_text(item, &fault->path, why);
    }
    if (ccm_text_equal(item->string, "params")) {
        return read_pairs(item, &fault->params, why);
    }
    if (ccm_text_equal(item->string, "nth")) {
        return read_number(item, 1, INT32_MAX, &fault->nth, why);
    }
    if (ccm_text_equal(item->string, "p")) {
        if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > 1) {
            return bad(why, "p", "must be a number from 0 to 1");
        }
        fault->p = item->valuedouble;
        return 0;
    }
    return bad(why, item->string, "is no member of match");
}

static int read_cut(const cJSON *item, enum ccm_sim_cut *ret, struct ccm_buf *why)
{
    const char *text = cJSON_IsString(item) ? item->valuestring : "";

    if (ccm_text_equal(text, "before")) {
        *ret = CCM_SIM_CUT_BEFORE;
    } else if (ccm_text_equal(text, "after")) {
        *ret = CCM_SIM_CUT_AFTER;
    } else {
        return bad(why, "cut", "must be \"before\" or \"after\"");
    }
    return 0;
}

static int effect_member(struct ccm_sim_effect *effect, const cJSON *item, struct ccm_buf *why)
{
    int64_t number = 0;
    int r = 0;

    if (ccm_text_equal(item->string, "code")) {
        return read_text(item, &effect->code, why);
    }
    if (ccm_text_equal(item->string, "message")) {
        return read_text(item, &effect->message, why);
    }
    if (ccm_text_equal(item->string, "body")) {
        return read_text(item, &effect->body, why);
    }
    if (ccm_text_equal(item->string, "cut")) {
        return read_cut(item, &effect->cut, why);
    }
    if (ccm_text_equal(item->string, "headers")) {
        return read_pairs(item, &effect->headers, why);
    }
    if (ccm_text_equal(item->string, "truncate")) {
        return read_number(item, 0, INT32_MAX, &effect->truncate, why);
    }
    if (ccm_text_equal(item->string, "http")) {
        r = read_number(item, 200, 599, &number, why);
        effect->http = (unsigned)number;
        return r;
    }
    if (ccm_text_equal(item->string, "delay_ms")) {
        r = read_number(item, 0, DELAY_MAX_MS, &number, why);
        effect->delay_ms = (uint32_t)number;
        return r;
    }
    return bad(why, item->string, "is no member of effect");
}

static int effect_check(const struct ccm_sim_effect *effect, struct ccm_buf *why)
{
    bool answers = effect->code != NULL || effect->http != 0 || effect->body != NULL;

    if (effect->cut != CCM_SIM_CUT_NONE && (answers || effect->truncate >= 0)) {
        return bad(why, "effect", "cut and an answer exclude each other");
    }
    if (effect->message != NULL && effect->code == NULL && effect->http == 0) {
        return bad(why, "effect", "message needs code or http");
    }
    if (!answers && effect->cut == CCM_SIM_CUT_NONE && effect->delay_ms == 0 &&
        effect->truncate < 0 && effect->headers.len == 0) {
        return bad(why, "effect", "does nothing");
    }
    return 0;
}

static int fault_member(struct ccm_sim_fault *fault, const cJSON *item, struct ccm_buf *why)
{
    if (ccm_text_equal(item->string, "count")) {
        return read_number(item, 1, INT32_MAX, &fault->count, why);
    }

    bool match = ccm_text_equal(item->string, "match");

    if (!match && !ccm_text_equal(item->string, "effect")) {
        return bad(why, item->string, "is no member of a fault");
    }
    if (!cJSON_IsObject(item)) {
        return bad(why, item->string, "must be an object");
    }
    for (const cJSON *child = item->child; child != NULL; child = child->next) {
        int r = match ? match_member(fault, child, why) : effect_member(&fault->effect, child, why);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int ccm_sim_fault_parse(const cJSON *json, struct ccm_sim_fault **ret, struct ccm_buf *why)
{
    if (!cJSON_IsObject(json)) {
        return bad(why, "fault", "must be an object");
    }

    CCM_CLEANUP(fault_freep) struct ccm_sim_fault *fault = calloc(1, sizeof(*fault));

    if (fault == NULL) {
        return -ENOMEM;
    }
    fault->p = 1.0;
    fault->count = -1;
    fault->effect.truncate = -1;
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        int r = fault_member(fault, item, why);

        if (r < 0) {
            return r;
        }
    }
    if (fault->nth > 0 && fault->count < 0) {
        fault->count = 1;
    }

    int r = effect_check(&fault->effect, why);

    if (r < 0) {
        return r;
    }
    *ret = CCM_STEAL(fault);
    return 0;
}
