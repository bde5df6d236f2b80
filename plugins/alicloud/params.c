#include "alicloud/params.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/secret.h"
#include "util/text.h"
#include "util/url.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More than any action takes, less than what a loop gone wrong would make. */
#define MAX_PARAMS 4096

void ali_param_add(struct ali_params *params, const char *name, const char *value)
{
    if (params->error != 0 || value == NULL) {
        return;
    }
    if (params->len >= MAX_PARAMS) {
        params->error = -E2BIG;
        return;
    }

    CCM_CLEANUP(ccm_freep) char *name_copy = strdup(name);
    CCM_CLEANUP(ccm_freep) char *value_copy = strdup(value);

    if (name_copy == NULL || value_copy == NULL) {
        params->error = -ENOMEM;
        return;
    }

    const int r =
        ccm_array_grow(&params->items, &params->cap, params->len + 1, sizeof(*params->items));

    if (r < 0) {
        params->error = r;
        return;
    }
    params->items[params->len++] =
        (struct ali_param){ .name = CCM_STEAL(name_copy), .value = CCM_STEAL(value_copy) };
}

void ali_param_opt(struct ali_params *params, const char *name, const char *value)
{
    if (!ccm_text_empty(value)) {
        ali_param_add(params, name, value);
    }
}

void ali_param_i64(struct ali_params *params, const char *name, int64_t value)
{
    char text[24];

    ccm_text_printf(text, sizeof(text), "%" PRId64, value);
    ali_param_add(params, name, text);
}

void ali_param_item(struct ali_params *params, const char *name, size_t n, const char *value)
{
    char full[96];

    ccm_text_printf(full, sizeof(full), "%.64s.%zu", name, n);
    ali_param_add(params, full, value);
}

void ali_param_tag(struct ali_params *params, size_t n, const char *key, const char *value)
{
    char name[48];

    ccm_text_printf(name, sizeof(name), "Tag.%zu.Key", n);
    ali_param_add(params, name, key);
    ccm_text_printf(name, sizeof(name), "Tag.%zu.Value", n);
    ali_param_add(params, name, value);
}

void ali_params_fini(struct ali_params *params)
{
    for (size_t i = 0; i < params->len; i++) {
        struct ccm_secret value = { .hidden = params->items[i].value };

        ccm_secret_fini(&value); /* it may be a token */
        free(params->items[i].name);
    }
    free(params->items);
    *params = (struct ali_params){ 0 };
}

void ali_params_extend(struct ali_params *to, const struct ali_params *from)
{
    if (from == NULL) {
        return;
    }
    if (from->error != 0 && to->error == 0) {
        to->error = from->error;
    }
    for (size_t i = 0; i < from->len; i++) {
        ali_param_add(to, from->items[i].name, from->items[i].value);
    }
}

bool ali_params_has(const struct ali_params *params, const char *name)
{
    for (size_t i = 0; i < params->len; i++) {
        if (strcmp(params->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Equal names stand in list order: their addresses are those of the list. */
static int params_compare_names(const void *a, const void *b)
{
    const struct ali_param *const *left = a;
    const struct ali_param *const *right = b;
    const int order = strcmp((*left)->name, (*right)->name);

    if (order != 0) {
        return order;
    }
    return *left < *right ? -1 : 1;
}

int ali_params_encode(const struct ali_params *params, struct ccm_buf *buf)
{
    if (params->error != 0) {
        return params->error;
    }
    if (params->len == 0) {
        return 0;
    }

    CCM_CLEANUP(ccm_freep)
    const struct ali_param **sorted = calloc(params->len, sizeof(*sorted));

    if (sorted == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < params->len; i++) {
        sorted[i] = &params->items[i];
    }
    qsort(sorted, params->len, sizeof(*sorted), params_compare_names);
    for (size_t i = 0; i < params->len; i++) {
        if (i > 0) {
            ccm_buf_addc(buf, '&');
        }
        ccm_url_escape(buf, sorted[i]->name);
        ccm_buf_addc(buf, '=');
        ccm_url_escape(buf, sorted[i]->value);
    }
    return ccm_buf_error(buf);
}
