#include "lbc/service/goyaml.h"

#include "lbc/service/goyaml_text.h"
#include "util/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP           2
#define SIMPLE_KEY_MAX 128

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) != 0;
}

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* Value of a run of digits, appended to `value`; more than 63 bits wrap around, as there. */
static uint64_t run_value(const char *p, uint64_t value, size_t *ret_len)
{
    size_t len = 0;

    while (is_digit(p[len])) {
        value = value * 10 + (uint64_t)(p[len] - '0');
        len++;
    }
    *ret_len = len;
    return value;
}

/* Zeros count within a number, not in front of it: 1 when a digit other than 0 stands before. */
static uint64_t leading_value(const char *text, size_t at)
{
    while (at > 0 && is_digit(text[at - 1])) {
        if (text[--at] != '0') {
            return 1;
        }
    }
    return 0;
}

static int compare_differing(const char *a, const char *b, size_t at)
{
    const uint64_t start = a[at] == '0' || b[at] == '0' ? leading_value(a, at) : 0;
    size_t a_len = 0;
    size_t b_len = 0;
    const uint64_t a_value = run_value(a + at, start, &a_len);
    const uint64_t b_value = run_value(b + at, start, &b_len);

    if (a_value != b_value) {
        return (int64_t)a_value < (int64_t)b_value ? -1 : 1;
    }
    if (a_len != b_len) {
        return a_len < b_len ? -1 : 1;
    }
    return (unsigned char)a[at] < (unsigned char)b[at] ? -1 : 1;
}

int lbc_yaml_compare_keys(const char *a, const char *b)
{
    size_t at = 0;

    while (a[at] != '\0' && a[at] == b[at]) {
        at++;
    }
    if (a[at] == b[at]) {
        return 0;
    }
    if (a[at] == '\0' || b[at] == '\0') {
        return a[at] == '\0' ? -1 : 1;
    }
    if (is_letter(a[at]) && is_letter(b[at])) {
        return a[at] < b[at] ? -1 : 1;
    }
    if (is_letter(a[at]) || is_letter(b[at])) {
        return is_letter(b[at]) ? -1 : 1;
    }
    return compare_differing(a, b, at);
}

static int compare_items(const void *a, const void *b)
{
    const cJSON *const *left = a;
    const cJSON *const *right = b;

    return lbc_yaml_compare_keys((*left)->string, (*right)->string);
}

static void yaml_emit_value(struct ccm_buf *buf, const cJSON *json, size_t indent);

/* A text as it has become on its way through JSON. Returns whether the line has ended with it. */
static bool emit_text(struct ccm_buf *buf, const char *text, size_t indent, bool key)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf read = { .max = 0 };

    if (!lbc_yaml_needs_reread(text)) {
        return lbc_yaml_text(buf, text, indent, key);
    }
    const int r = lbc_yaml_reread(text, &read);

    if (r < 0) {
        buf->error = buf->error < 0 ? buf->error : r;
        return false;
    }
    return lbc_yaml_text(buf, ccm_buf_str(&read), indent, key);
}

static void emit_list(struct ccm_buf *buf, const cJSON *list, size_t indent)
{
    for (const cJSON *item = list->child; item != NULL; item = item->next) {
        if (item != list->child) {
            ccm_buf_addf(buf, "%*s", (int)indent, "");
        }
        ccm_buf_adds(buf, "- ");
        yaml_emit_value(buf, item, indent + STEP);
    }
}

/* A key of more bytes stands on a line of its own, behind a question mark. */
static void emit_key(struct ccm_buf *buf, const char *key, size_t indent)
{
    if (strlen(key) <= SIMPLE_KEY_MAX) {
        (void)emit_text(buf, key, indent, true); /* it leaves the line open */
        return;
    }
    ccm_buf_adds(buf, "? ");
    if (!emit_text(buf, key, indent + STEP, false)) {
        ccm_buf_addc(buf, '\n');
    }
    ccm_buf_addf(buf, "%*s", (int)indent, "");
}

/* A value after "key:": lists stand below it at the same column, maps one step deeper. */
static void emit_value(struct ccm_buf *buf, const cJSON *value, size_t indent)
{
    const bool nested = (cJSON_IsArray(value) || cJSON_IsObject(value)) && value->child != NULL;

    if (!nested) {
        ccm_buf_addc(buf, ' ');
        yaml_emit_value(buf, value, indent + STEP);
        return;
    }
    const size_t column = cJSON_IsArray(value) ? indent : indent + STEP;

    ccm_buf_addf(buf, "\n%*s", (int)column, "");
    yaml_emit_value(buf, value, column);
}

static void emit_map(struct ccm_buf *buf, const cJSON *map, size_t indent)
{
    const size_t count = (size_t)cJSON_GetArraySize(map);
    CCM_CLEANUP(ccm_freep) const cJSON **items = calloc(count, sizeof(const cJSON *));
    size_t len = 0;

    if (items == NULL) {
        buf->error = -ENOMEM;
        return;
    }
    for (const cJSON *item = map->child; item != NULL; item = item->next) {
        items[len++] = item;
    }
    qsort(items, len, sizeof(const cJSON *), compare_items);
    for (size_t i = 0; i < len; i++) {
        if (i > 0) {
            ccm_buf_addf(buf, "%*s", (int)indent, "");
        }
        emit_key(buf, items[i]->string, indent);
        ccm_buf_addc(buf, ':');
        emit_value(buf, items[i], indent);
    }
}

static void yaml_emit_value(struct ccm_buf *buf, const cJSON *json, size_t indent)
{
    if (cJSON_IsArray(json) && json->child != NULL) {
        emit_list(buf, json, indent);
        return;
    }
    if (cJSON_IsObject(json) && json->child != NULL) {
        emit_map(buf, json, indent);
        return;
    }
    if (cJSON_IsString(json)) {
        if (emit_text(buf, json->valuestring, indent, false)) {
            return;
        }
    } else if (cJSON_IsNumber(json)) {
        ccm_buf_addf(buf, "%.0f", json->valuedouble);
    } else if (cJSON_IsBool(json)) {
        ccm_buf_adds(buf, cJSON_IsTrue(json) ? "true" : "false");
    } else {
        ccm_buf_adds(buf, cJSON_IsArray(json) ? "[]" : cJSON_IsObject(json) ? "{}" : "null");
    }
    ccm_buf_addc(buf, '\n');
}

int lbc_yaml_emit(struct ccm_buf *buf, const cJSON *json)
{
    yaml_emit_value(buf, json, 0);
    return ccm_buf_error(buf);
}
