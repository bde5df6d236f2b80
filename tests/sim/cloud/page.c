#include "page.h"

#include "util/parse.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t clamp(int64_t value, int64_t min, int64_t max)
{
    if (value < min) {
        return min;
    }
    return value > max ? max : value;
}

int ccm_cloud_page_read(struct ccm_cloud_call *call, int64_t min, int64_t max, int64_t usual,
                        struct ccm_cloud_page *ret)
{
    const char *token = ccm_cloud_text(call, "NextToken", NULL);
    int64_t after = 0;

    if (token != NULL && ccm_parse_i64(token, 1, INT64_MAX, &after) < 0) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.NextToken",
                              "The specified NextToken is invalid.");
    }
    ret->after = (uint64_t)after;
    ret->by_token = token != NULL || ccm_cloud_has(call, "MaxResults");
    ret->number = ccm_cloud_int(call, "PageNumber", 1);
    ret->size =
        clamp(ccm_cloud_int(call, ret->by_token ? "MaxResults" : "PageSize", usual), min, max);
    return 0;
}

bool ccm_cloud_page_takes(struct ccm_cloud_page *page, uint64_t seq)
{
    int64_t index = page->total++;

    if (!page->by_token) {
        return index >= (page->number - 1) * page->size && index < page->number * page->size;
    }
    if (seq <= page->after) {
        return false;
    }
    if (page->written == page->size) {
        page->more = true;
        return false;
    }
    page->written++;
    page->last = seq;
    return true;
}

void ccm_cloud_page_token(const struct ccm_cloud_page *page, char *text, size_t size)
{
    text[0] = '\0';
    if (page->more) {
        (void)snprintf(text, size, "%" PRIu64, page->last); /* 24 bytes always fit */
    }
}

void ccm_cloud_page_write(struct ccm_jsonw *w, const struct ccm_cloud_page *page)
{
    char token[24] = "";

    if (page->more) {
        (void)snprintf(token, sizeof(token), "%" PRIu64, page->last); /* always fits */
    }
    ccm_jsonw_i64(w, "TotalCount", page->total);
    ccm_jsonw_i64(w, "PageNumber", page->number);
    ccm_jsonw_i64(w, "PageSize", page->size);
    if (page->by_token) {
        ccm_jsonw_str(w, "NextToken", token);
    }
}
