#include "selector.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS, OP_GREATER, OP_LESS };

struct term {
    char *key;
    const struct ccm_ks_selectable *field; /* NULL = a label */
    enum op op;
    char **values;
    size_t count;
    size_t cap;
};

struct ccm_ks_selector {
    struct term *terms;
    size_t count;
    size_t cap;
};

static void term_fini(struct term *term)
{
    for (size_t i = 0; i < term->count; i++) {
        free(term->values[i]);
    }
    free(term->values);
    free(term->key);
}

void ccm_ks_selector_free(struct ccm_ks_selector *selector)
{
    if (selector == NULL) {
        return;
    }
    for (size_t i = 0; i < selector->count; i++) {
        term_fini(&selector->terms[i]);
    }
    free(selector->terms);
    free(selector);
}

void ccm_ks_selector_freep(struct ccm_ks_selector **selector)
{
    ccm_ks_selector_free(*selector);
}

bool ccm_ks_selector_empty(const struct ccm_ks_selector *selector)
{
    return selector == NULL || selector->count == 0;
}

static int add_value(struct term *term, const char *start, size_t len)
{
    int r = ccm_array_grow(&term->values, &term->cap, term->count + 1, sizeof(*term->values));

    if (r < 0) {
        return r;
    }
    term->values[term->count] = strndup(start, len);
    if (term->values[term->count] == NULL) {
        return -ENOMEM;
    }
    term->count++;
    return 0;
}

static int add_term(struct ccm_ks_selector *selector, struct term *term)
{
    const int r = ccm_array_grow(&selector->terms, &selector->cap, selector->count + 1,
                                 sizeof(*selector->terms));

    if (r < 0) {
        return r;
    }
    selector->terms[selector->count++] = *term;
    memset(term, 0, sizeof(*term));
    return 0;
}

/* --- label selectors --- */

struct token {
    const char *start;
    size_t len; /* 0 = end */
};

static bool is_special(char c)
{
    return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

static struct token next_token(const char **cursor)
{
    const char *p = *cursor;
    struct token token;

    while (isspace((unsigned char)*p)) {
        p++;
    }
    token.start = p;
    if (is_special(*p)) {
        p += (p[0] == '=' && p[1] == '=') || (p[0] == '!' && p[1] == '=') ? 2 : 1;
    } else {
        while (*p != '\0' && !is_special(*p) && !isspace((unsigned char)*p)) {
            p++;
        }
    }
    token.len = (size_t)(p - token.start);
    *cursor = p;
    return token;
}

static bool token_is(struct token token, const char *text)
{
    return token.len == strlen(text) && strncmp(token.start, text, token.len) == 0;
}

static bool is_word(struct token token)
{
    return token.len > 0 && !is_special(token.start[0]);
}

static int expected(struct ccm_buf *message, struct token found, const char *what)
{
    ccm_buf_addf(message, "unable to parse requirement: found '%.*s', expected: %s", (int)found.len,
                 found.start, what);
    return -EINVAL;
}

static int parse_set(const char **cursor, struct term *term, struct ccm_buf *message)
{
    struct token token = next_token(cursor);

    if (!token_is(token, "(")) {
        return expected(message, token, "'('");
    }
    do {
        int r;

        token = next_token(cursor);
        if (is_word(token)) {
            r = add_value(term, token.start, token.len);
            token = next_token(cursor);
        } else {
            r = add_value(term, "", 0);
        }
        if (r < 0) {
            return r;
        }
        if (!token_is(token, ",") && !token_is(token, ")")) {
            return expected(message, token, "',' or ')'");
        }
    } while (!token_is(token, ")"));
    return 0;
}

/* The one value after =, ==, !=, >, <; none at all means "". */
static int parse_value(const char **cursor, struct term *term, struct ccm_buf *message)
{
    const char *ahead = *cursor;
    struct token token = next_token(&ahead);

    if (token.len == 0 || token_is(token, ",")) {
        return add_value(term, "", 0);
    }
    if (!is_word(token)) {
        return expected(message, token, "identifier");
    }
    *cursor = ahead;
    return add_value(term, token.start, token.len);
}

static int parse_operator(const char **cursor, struct term *term, struct ccm_buf *message)
{
    const char *ahead = *cursor;
    const struct token token = next_token(&ahead);

    if (token.len == 0 || token_is(token, ",")) {
        term->op = OP_EXISTS;
        return 0;
    }
    *cursor = ahead;
    if (token_is(token, "in") || token_is(token, "notin")) {
        term->op = token_is(token, "in") ? OP_IN : OP_NOT_IN;
        return parse_set(cursor, term, message);
    }
    if (token_is(token, "=") || token_is(token, "==")) {
        term->op = OP_IN;
    } else if (token_is(token, "!=")) {
        term->op = OP_NOT_IN;
    } else if (token_is(token, ">") || token_is(token, "gt")) {
        term->op = OP_GREATER;
    } else if (token_is(token, "<") || token_is(token, "lt")) {
        term->op = OP_LESS;
    } else {
        return expected(message, token, "in, notin, =, ==, !=, gt, lt");
    }
    return parse_value(cursor, term, message);
}

static int parse_requirement(const char **cursor, struct term *term, struct ccm_buf *message)
{
    struct token token = next_token(cursor);

    if (token_is(token, "!")) {
        token = next_token(cursor);
        term->op = OP_NOT_EXISTS;
    } else {
        term->op = OP_EXISTS;
    }
    if (!is_word(token)) {
        return expected(message, token, "identifier");
    }
    term->key = strndup(token.start, token.len);
    if (term->key == NULL) {
        return -ENOMEM;
    }
    return term->op == OP_NOT_EXISTS ? 0 : parse_operator(cursor, term, message);
}

int ccm_ks_selector_labels(const char *text, struct ccm_ks_selector **ret, struct ccm_buf *message)
{
    CCM_CLEANUP(ccm_ks_selector_freep)
    struct ccm_ks_selector *selector = calloc(1, sizeof(*selector));
    const char *cursor = text;
    const char *ahead = text;

    if (selector == NULL) {
        return -ENOMEM;
    }
    while (next_token(&ahead).len > 0) {
        CCM_CLEANUP(term_fini) struct term term = { 0 };
        int r = parse_requirement(&cursor, &term, message);

        if (r < 0 || (r = add_term(selector, &term)) < 0) {
            return r;
        }
        ahead = cursor;

        const struct token token = next_token(&cursor);

        if (token.len > 0 && !token_is(token, ",")) {
            return expected(message, token, "',' or 'end of string'");
        }
        ahead = cursor;
        if (token.len > 0 && next_token(&ahead).len == 0) {
            return expected(message, (struct token){ .start = "", .len = 0 },
                            "identifier after ','");
        }
        ahead = cursor;
    }
    *ret = CCM_STEAL(selector);
    return 0;
}

/* --- field selectors --- */

/* Up to the next ',' that is not escaped; the unescaped text in `piece`. Returns false at the end.
 */
static bool field_piece(const char **cursor, struct ccm_buf *piece)
{
    const char *p = *cursor;

    ccm_buf_reset(piece);
    if (*p == '\0') {
        return false;
    }
    while (*p != '\0' && *p != ',') {
        if (*p == '\\' && p[1] != '\0') {
            ccm_buf_addc(piece, *p++);
        }
        ccm_buf_addc(piece, *p++);
    }
    *cursor = *p == ',' ? p + 1 : p;
    return true;
}

static int parse_field(const char *piece, const struct ccm_ks_selectable *table, struct term *term,
                       const char *whole, struct ccm_buf *message)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf value = { .max = 65536 };
    const char *sign = piece;

    while (*sign != '\0' && *sign != '=' && !(sign[0] == '!' && sign[1] == '=')) {
        sign++;
    }
    if (*sign == '\0') {
        ccm_buf_addf(message, "invalid selector: '%s'; can't understand '%s'", whole, piece);
        return -EINVAL;
    }
    term->op = *sign == '!' ? OP_NOT_IN : OP_IN;
    term->key = strndup(piece, (size_t)(sign - piece));
    if (term->key == NULL) {
        return -ENOMEM;
    }
    sign += sign[0] == '!' || sign[1] == '=' ? 2 : 1;
    for (; *sign != '\0'; sign++) {
        if (*sign == '\\' && sign[1] != '\0') {
            sign++;
        }
        ccm_buf_addc(&value, *sign);
    }
    for (; table->label != NULL; table++) {
        if (strcmp(table->label, term->key) == 0) {
            term->field = table;
            return add_value(term, ccm_buf_str(&value), value.len);
        }
    }
    ccm_buf_addf(message, "field label not supported: %s", term->key);
    return -EINVAL;
}

int ccm_ks_selector_fields(const char *text, const struct ccm_ks_selectable *table,
                           struct ccm_ks_selector **ret, struct ccm_buf *message)
{
    CCM_CLEANUP(ccm_ks_selector_freep)
    struct ccm_ks_selector *selector = calloc(1, sizeof(*selector));
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf piece = { .max = 65536 };
    const char *cursor = text;

    if (selector == NULL) {
        return -ENOMEM;
    }
    while (field_piece(&cursor, &piece)) {
        CCM_CLEANUP(term_fini) struct term term = { 0 };

        if (piece.len == 0) {
            continue;
        }

        int r = parse_field(ccm_buf_str(&piece), table, &term, text, message);

        if (r < 0 || (r = add_term(selector, &term)) < 0) {
            return r;
        }
    }
    *ret = CCM_STEAL(selector);
    return 0;
}

/* --- matching --- */

static const cJSON *walk_path(const cJSON *object, const char *path)
{
    while (object != NULL && *path != '\0') {
        char name[64];
        const size_t n = strcspn(path, ".");

        if (n >= sizeof(name)) {
            return NULL;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        object = ccm_json_get(object, name);
        path += path[n] == '.' ? n + 1 : n;
    }
    return object;
}

/* Value of a field as text; number is room for numbers. */
static const char *field_value(const struct ccm_ks_selectable *field, const cJSON *object,
                               char number[32])
{
    const cJSON *item = walk_path(object, field->path);

    if (field->or_path != NULL && (item == NULL || ccm_text_empty(cJSON_GetStringValue(item)))) {
        item = walk_path(object, field->or_path);
    }
    if (cJSON_IsString(item)) {
        return item->valuestring;
    }
    if (cJSON_IsBool(item)) {
        return cJSON_IsTrue(item) ? "true" : "false";
    }
    if (cJSON_IsNumber(item)) {
        ccm_text_printf(number, 32, "%" PRId64, (int64_t)item->valuedouble);
        return number;
    }
    return field->absent == NULL ? "" : field->absent;
}

static bool is_among(const struct term *term, const char *value)
{
    for (size_t i = 0; i < term->count; i++) {
        if (strcmp(term->values[i], value) == 0) {
            return true;
        }
    }
    return false;
}

static bool compare_numbers(const struct term *term, const char *value)
{
    int64_t have;
    int64_t limit;

    if (value == NULL || term->count == 0 ||
        ccm_parse_i64(value, INT64_MIN, INT64_MAX, &have) < 0 ||
        ccm_parse_i64(term->values[0], INT64_MIN, INT64_MAX, &limit) < 0) {
        return false;
    }
    return term->op == OP_GREATER ? have > limit : have < limit;
}

static bool match_term(const struct term *term, const cJSON *object, const cJSON *labels)
{
    char number[32];
    const char *value = term->field != NULL ? field_value(term->field, object, number)
                                            : ccm_json_str(labels, term->key);

    switch (term->op) {
    case OP_EXISTS:
        return value != NULL;
    case OP_NOT_EXISTS:
        return value == NULL;
    case OP_IN:
        return value != NULL && is_among(term, value);
    case OP_NOT_IN:
        return value == NULL || !is_among(term, value);
    case OP_GREATER:
    case OP_LESS:
        break;
    }
    return compare_numbers(term, value);
}

bool ccm_ks_selector_match(const struct ccm_ks_selector *selector, const cJSON *object)
{
    if (selector == NULL) {
        return true;
    }

    const cJSON *labels = ccm_json_path(object, "metadata", "labels", NULL);

    for (size_t i = 0; i < selector->count; i++) {
        if (!match_term(&selector->terms[i], object, labels)) {
            return false;
        }
    }
    return true;
}
