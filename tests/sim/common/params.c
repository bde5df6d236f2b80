#include "common/params.h"

#include "util/array.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

void ccm_sim_params_fini(struct ccm_sim_params *params)
{
    for (size_t i = 0; i < params->len && !params->borrowed; i++) {
        free(params->items[i].name);
    }
    free(params->items);
    *params = (struct ccm_sim_params){ 0 };
}

static int append(struct ccm_sim_params *params, const struct ccm_sim_param *pair)
{
    if (params->len >= CCM_SIM_PARAMS_MAX) {
        return -E2BIG;
    }

    int r = ccm_array_grow(&params->items, &params->cap, params->len + 1, sizeof(*params->items));

    if (r < 0) {
        return r;
    }
    params->items[params->len++] = *pair;
    return 0;
}

int ccm_sim_params_borrow(struct ccm_sim_params *params, const struct ccm_sim_param *pair)
{
    params->borrowed = true;
    return append(params, pair);
}

/* Takes the block that starts with the name, on failure too. */
static int add_owned(struct ccm_sim_params *params, char *name, char *value)
{
    const struct ccm_sim_param pair = { .name = name, .value = value };
    const int r = append(params, &pair);

    if (r < 0) {
        free(name);
    }
    return r;
}

/* One block with both texts. */
static char *pair_new(const char *name, const char *value, char **ret_value)
{
    size_t name_size = strlen(name) + 1;
    size_t value_size = strlen(value) + 1;
    char *block = malloc(name_size + value_size);

    if (block != NULL) {
        memcpy(block, name, name_size);
        memcpy(block + name_size, value, value_size);
        *ret_value = block + name_size;
    }
    return block;
}

int ccm_sim_params_add(struct ccm_sim_params *params, const char *name, const char *value)
{
    char *copy = NULL;
    char *block = pair_new(name, value, &copy);

    return block == NULL ? -ENOMEM : add_owned(params, block, copy);
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

/* Decode into `to`, which has room for len + 1 bytes. The length, or -EBADMSG.
 */
static ssize_t decode(const char *text, size_t len, bool plus, char *to)
{
    size_t used = 0;

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
        to[used++] = c;
    }
    to[used] = '\0';
    return (ssize_t)used;
}

int ccm_sim_unescape(const char *text, size_t len, bool plus, char **ret)
{
    CCM_CLEANUP(ccm_freep) char *out = malloc(len + 1);

    if (out == NULL) {
        return -ENOMEM;
    }
    if (decode(text, len, plus, out) < 0) {
        return -EBADMSG;
    }
    *ret = CCM_STEAL(out);
    return 0;
}

/* One "name=value" of a query. */
static int parse_piece(struct ccm_sim_params *params, const char *text, size_t len)
{
    const char *sep = memchr(text, '=', len);
    size_t name_len = sep == NULL ? len : (size_t)(sep - text);
    const char *value = sep == NULL ? text + len : sep + 1;
    CCM_CLEANUP(ccm_freep) char *block = malloc(len + 2);

    if (block == NULL) {
        return -ENOMEM;
    }

    ssize_t name_used = decode(text, name_len, true, block);

    if (name_used < 0 ||
        decode(value, (size_t)(text + len - value), true, block + name_used + 1) < 0) {
        return -EBADMSG;
    }

    char *own = CCM_STEAL(block);

    return add_owned(params, own, own + name_used + 1);
}

int ccm_sim_params_parse(struct ccm_sim_params *params, const char *text, size_t len)
{
    const char *end = text + len;

    for (const char *p = text; p < end;) {
        const char *stop = memchr(p, '&', (size_t)(end - p));
        const char *piece_end = stop == NULL ? end : stop;
        int r = piece_end > p ? parse_piece(params, p, (size_t)(piece_end - p)) : 0;

        if (r < 0) {
            return r;
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

/* Longer lists than this are worth the way through qsort. */
#define SHORT_LIST 24

void ccm_sim_params_sort(struct ccm_sim_params *params)
{
    if (params->len > SHORT_LIST) {
        qsort(params->items, params->len, sizeof(*params->items), compare);
        return;
    }
    for (size_t i = 1; i < params->len; i++) {
        const struct ccm_sim_param item = params->items[i];
        size_t at = i;

        for (; at > 0 && compare(&params->items[at - 1], &item) > 0; at--) {
            params->items[at] = params->items[at - 1];
        }
        params->items[at] = item;
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
        char *copy = NULL;
        char *block = pair_new(name, value, &copy);

        if (block == NULL) {
            return -ENOMEM;
        }
        free(params->items[at].name);
        params->items[at] = (struct ccm_sim_param){ .name = block, .value = copy };
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

static bool is_plain(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

void ccm_sim_escape(struct ccm_buf *buf, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (const char *p = text; *p != '\0';) {
        size_t run = 0;

        while (is_plain((unsigned char)p[run])) {
            run++;
        }
        if (run > 0) {
            ccm_buf_add(buf, p, run);
            p += run;
            continue;
        }

        unsigned char c = (unsigned char)*p++;
        const char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };

        ccm_buf_add(buf, escaped, sizeof(escaped));
    }
}
