#include "nlb.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A token holds for one action with the same filters: page size aside, all parameters go in. */
static uint64_t mark_of(const struct ccm_cloud_call *call)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325) + call->cloud->nlb->page_epoch;

    for (const char *p = call->action->name; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001B3);
    }
    for (size_t i = 0; i < call->params->len; i++) {
        const struct ccm_sim_param *param = &call->params->items[i];

        if (ccm_cloud_spec_is_common(param->name) || ccm_text_equal(param->name, "MaxResults") ||
            ccm_text_equal(param->name, "NextToken")) {
            continue;
        }
        for (const char *p = param->name; *p != '\0'; p++) {
            hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001B3);
        }
        for (const char *p = param->value; *p != '\0'; p++) {
            hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001B3);
        }
        hash = (hash ^ '&') * UINT64_C(0x100000001B3);
    }
    return hash;
}

#define HEX 16

static bool hex_read(const char *text, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < HEX; i++) {
        const char *digits = "0123456789abcdef";
        const char *found = text[i] == '\0' ? NULL : strchr(digits, text[i]);

        if (found == NULL) {
            return false;
        }
        *ret = *ret << 4 | (uint64_t)(found - digits);
    }
    return true;
}

static bool token_read(const struct ccm_cloud_call *call, const char *token, uint64_t *ret)
{
    uint64_t mark = mark_of(call);
    uint64_t given = 0;

    if (strlen(token) != (size_t)3 * HEX || !hex_read(token, &given) ||
        !hex_read(token + HEX, &ret[0]) || !hex_read(token + (size_t)2 * HEX, &ret[1])) {
        return false;
    }
    ret[0] ^= mark;
    ret[1] ^= ~mark;
    return given == (mark ^ ret[0] * 31 ^ ret[1]);
}

int ccm_nlb_page_read(struct ccm_cloud_call *call, int64_t usual, struct ccm_nlb_page *ret)
{
    const char *token = ccm_cloud_text(call, "NextToken", NULL);

    ret->size = ccm_cloud_int(call, "MaxResults", usual);
    if (token != NULL && !token_read(call, token, ret->after)) {
        return ccm_nlb_fail_illegal(call, "IllegalParam.NextToken", "NextToken");
    }
    return 0;
}

bool ccm_nlb_page_takes(struct ccm_nlb_page *page, uint64_t a, uint64_t b)
{
    page->total++;
    if (a < page->after[0] || (a == page->after[0] && b <= page->after[1])) {
        return false;
    }
    if (page->written == page->size) {
        page->more = true;
        return false;
    }
    page->written++;
    page->last[0] = a;
    page->last[1] = b;
    return true;
}

void ccm_nlb_page_write(struct ccm_cloud_call *call, const struct ccm_nlb_page *page)
{
    ccm_jsonw_i64(call->out, "MaxResults", page->size);
    ccm_jsonw_i64(call->out, "TotalCount", page->total);
    if (page->more) {
        uint64_t mark = mark_of(call);
        char token[3 * HEX + 1];

        (void)snprintf(token, sizeof(token), "%016" PRIx64 "%016" PRIx64 "%016" PRIx64,
                       mark ^ page->last[0] * 31 ^ page->last[1], page->last[0] ^ mark,
                       page->last[1] ^ ~mark); /* always fits */
        ccm_jsonw_str(call->out, "NextToken", token);
    }
}

bool ccm_nlb_list_has(const struct ccm_sim_params *list, const char *value)
{
    for (size_t i = 0; i < list->len; i++) {
        if (ccm_text_equal(list->items[i].value, value)) {
            return true;
        }
    }
    return list->len == 0;
}

bool ccm_nlb_attr_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                       const char *name)
{
    const char *want = ccm_cloud_text(call, name, NULL);

    return want == NULL || ccm_text_equal_case(want, ccm_cloud_attr(obj, name));
}

void ccm_nlb_tags_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj, bool long_names)
{
    ccm_jsonw_open(w, "Tags", '[');
    for (size_t i = 0; i < obj->tags.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, long_names ? "TagKey" : "Key", obj->tags.items[i].name);
        ccm_jsonw_str(w, long_names ? "TagValue" : "Value", obj->tags.items[i].value);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

int ccm_nlb_tags_put(struct ccm_cloud_call *call, struct ccm_cloud_obj *obj,
                     const struct ccm_sim_params *tags)
{
    size_t fresh = 0;

    for (size_t i = 0; i < tags->len; i++) {
        fresh += ccm_sim_params_get(&obj->tags, tags->items[i].name) == NULL;
    }
    if (obj->tags.len + fresh > CCM_CLOUD_TAGS_MAX) {
        return ccm_nlb_fail_quota(call, "resource_tags_num", obj->tags.len, CCM_CLOUD_TAGS_MAX);
    }
    for (size_t i = 0; i < tags->len; i++) {
        int r = ccm_sim_params_set(&obj->tags, tags->items[i].name, tags->items[i].value);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

void ccm_nlb_list_write(struct ccm_jsonw *w, const char *name, const char *list)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    ccm_jsonw_open(w, name, '[');
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        char piece[128];

        if (len > 0 && len < sizeof(piece)) {
            ccm_text_copy(piece, len + 1, start);
            ccm_jsonw_str(w, NULL, piece);
        }
    }
    ccm_jsonw_close(w, ']');
}
