#include "common/params.h"

#include "util/array.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

void ccm_sim_params_fini(struct ccm_sim_params *params)
{
    for (size_t i = 0; i < params->len; i++) {
        free(params->items[i].name);
        free(params->items[i].value);
    }
    free(params->items);
    *params = (struct ccm_sim_params){ 0 };
}

/* Takes both texts, on failure too. */
static int add_owned(struct ccm_sim_params *params, char *name, char *value)
{
    CCM_CLEANUP(ccm_freep) char *own_name = name;
    CCM_CLEANUP(ccm_freep) char *own_value = value;

    if (own_name == NULL || own_value == NULL) {
        return -ENOMEM;
    }
    if (params->len >= CCM_SIM_PARAMS_MAX) {
        return -E2BIG;
    }

    int r = ccm_array_grow(&params->items, &params->cap, params->len + 1, sizeof(*params->items));

    if (r < 0) {
        return r;
    }
    params->items[params->len].name = CCM_STEAL(own_name);
    params->items[params->len].value = CCM_STEAL(own_value);
    params->len++;
    return 0;
}

int ccm_sim_params_add(struct ccm_sim_params *params, const char *name, const char *value)
{
    return add_owned(params, strdup(name), strdup(value));
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int ccm_sim_unescape(const char *text, size_t len, bool plus, char **ret)
{
    CCM_CLEANUP(ccm_freep) char *out = malloc(len + 1);
    size_t used = 0;

    if (out == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '%') {
            int high = len - i > 2 ? hex_digit(text[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(text[i + 2]);

            if (low < 0 || (high == 0 && low == 0)) {
                return -EBADMSG;
            }
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        } else if (c == '\0') {
            return -EBADMSG;
        }
        out[used++] = c;
    }
    out[used] = '\0';
    *ret = CCM_STEAL(out);
    return 0;
}

int ccm_sim_params_parse(struct ccm_sim_params *params, const char *text, size_t len)
{
    const char *end = text + len;

    for (const char *p = text; p < end;) {
        const char *stop = memchr(p, '&', (size_t)(end - p));
        const char *piece_end = stop == NULL ? end : stop;
        const char *sep = memchr(p, '=', (size_t)(piece_end - p));
        const char *name_end = sep == NULL ? piece_end : sep;
        const char *value = sep == NULL ? piece_end : sep + 1;

        if (piece_end > p) {
            CCM_CLEANUP(ccm_freep) char *key = NULL;
            CCM_CLEANUP(ccm_freep) char *val = NULL;
            int r = ccm_sim_unescape(p, (size_t)(name_end - p), true, &key);

            r = r < 0 ? r : ccm_sim_unescape(value, (size_t)(piece_end - value), true, &val);
            r = r < 0 ? r : add_owned(params, CCM_STEAL(key), CCM_STEAL(val));
            if (r < 0) {
                return r;
            }
        }
        p = stop == NULL ? end : stop + 1;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct ccm_sim_param *left = a;
    const struct ccm_sim_param *right = b;
    int r = strcmp(left->name, right->name);

    return r != 0 ? r : strcmp(left->value, right->value);
}

void ccm_sim_params_sort(struct ccm_sim_params *params)
{
    if (params->len > 1) {
        qsort(params->items, params->len, sizeof(*params->items), compare);
    }
}

/* Index of the first pair whose name is not below `name`. */
static size_t lower_bound(const struct ccm_sim_params *params, const char *name)
{
    size_t low = 0;
    size_t high = params->len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(params->items[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const struct ccm_sim_params *params, size_t i, const char *name)
{
    return i < params->len && strcmp(params->items[i].name, name) == 0;
}

int ccm_sim_params_set(struct ccm_sim_params *params, const char *name, const char *value)
{
    size_t at = lower_bound(params, name);

    if (is_at(params, at, name)) {
        char *copy = strdup(value);

        if (copy == NULL) {
            return -ENOMEM;
        }
        free(params->items[at].value);
        params->items[at].value = copy;
        return 0;
    }

    int r = ccm_sim_params_add(params, name, value);

    if (r < 0) {
        return r;
    }

    struct ccm_sim_param added = params->items[params->len - 1];

    memmove(params->items + at + 1, params->items + at,
            (params->len - 1 - at) * sizeof(*params->items));
    params->items[at] = added;
    return 0;
}

void ccm_sim_params_del(struct ccm_sim_params *params, const char *name)
{
    size_t at = lower_bound(params, name);

    if (is_at(params, at, name)) {
        free(params->items[at].name);
        free(params->items[at].value);
        params->len--;
        memmove(params->items + at, params->items + at + 1,
                (params->len - at) * sizeof(*params->items));
    }
}

const char *ccm_sim_params_get(const struct ccm_sim_params *params, const char *name)
{
    size_t at = lower_bound(params, name);

    return is_at(params, at, name) ? params->items[at].value : NULL;
}

const char *ccm_sim_params_text(const struct ccm_sim_params *params, const char *name)
{
    const char *value = ccm_sim_params_get(params, name);

    return value == NULL ? "" : value;
}

void ccm_sim_escape(struct ccm_buf *buf, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_' || c == '.' || c == '~';

        if (plain) {
            ccm_buf_addc(buf, (char)c);
        } else {
            ccm_buf_addc(buf, '%');
            ccm_buf_addc(buf, hex[c >> 4]);
            ccm_buf_addc(buf, hex[c & 15]);
        }
    }
}
