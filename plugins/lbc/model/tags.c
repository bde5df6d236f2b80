#include "lbc/model/tags.h"

#include "util/array.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lbc_text_set(char **text, const char *value)
{
    char *copy = NULL;

    if (!ccm_text_empty(value)) {
        copy = strdup(value);
        if (copy == NULL) {
            return -ENOMEM;
        }
    }
    free(*text);
    *text = copy;
    return 0;
}

/* --- tags --- */

static size_t tag_place(const struct lbc_tags *tags, const char *key, bool *ret_found)
{
    size_t i = 0;

    while (i < tags->len && strcmp(tags->items[i].key, key) < 0) {
        i++;
    }
    *ret_found = i < tags->len && strcmp(tags->items[i].key, key) == 0;
    return i;
}

int lbc_tags_put(struct lbc_tags *tags, const char *key, const char *value)
{
    bool found = false;
    const size_t at = tag_place(tags, key, &found);
    struct lbc_tag fresh = { .value = strdup(value) };

    if (fresh.value != NULL && found) {
        free(tags->items[at].value);
        tags->items[at].value = fresh.value;
        return 0;
    }
    fresh.key = fresh.value == NULL ? NULL : strdup(key);
    if (fresh.key == NULL ||
        ccm_array_grow(&tags->items, &tags->cap, tags->len + 1, sizeof(*tags->items)) < 0) {
        free(fresh.key);
        free(fresh.value);
        return -ENOMEM;
    }
    memmove(&tags->items[at + 1], &tags->items[at], (tags->len - at) * sizeof(*tags->items));
    tags->items[at] = fresh;
    tags->len++;
    return 0;
}

void lbc_tags_remove(struct lbc_tags *tags, const char *key)
{
    bool found = false;
    const size_t at = tag_place(tags, key, &found);

    if (!found) {
        return;
    }
    free(tags->items[at].key);
    free(tags->items[at].value);
    tags->len--;
    memmove(&tags->items[at], &tags->items[at + 1], (tags->len - at) * sizeof(*tags->items));
}

const char *lbc_tags_get(const struct lbc_tags *tags, const char *key)
{
    bool found = false;
    const size_t at = tag_place(tags, key, &found);

    return found ? tags->items[at].value : NULL;
}

int lbc_tags_copy_equal(const struct lbc_tags *tags, const char *key, const char *value,
                        struct lbc_tags *ret)
{
    return ccm_text_equal(lbc_tags_get(tags, key), value) ? lbc_tags_put(ret, key, value) : 0;
}

int lbc_tags_copy(struct lbc_tags *to, const struct lbc_tags *from)
{
    lbc_tags_fini(to);
    for (size_t i = 0; i < from->len; i++) {
        if (lbc_tags_put(to, from->items[i].key, from->items[i].value) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void lbc_tags_fini(struct lbc_tags *tags)
{
    for (size_t i = 0; i < tags->len; i++) {
        free(tags->items[i].key);
        free(tags->items[i].value);
    }
    free(tags->items);
    memset(tags, 0, sizeof(*tags));
}

/* --- texts --- */

static size_t text_place(const struct lbc_texts *texts, const char *text, bool *ret_found)
{
    size_t low = 0;
    size_t high = texts->len;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(texts->items[middle], text) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *ret_found = low < texts->len && strcmp(texts->items[low], text) == 0;
    return low;
}

/* Owns `text` from now on; NULL = out of memory. */
static int put_own(struct lbc_texts *texts, char *text)
{
    bool found = false;
    const size_t at = text == NULL ? 0 : text_place(texts, text, &found);

    if (text == NULL || found) {
        free(text);
        return found ? 0 : -ENOMEM;
    }
    if (ccm_array_grow(&texts->items, &texts->cap, texts->len + 1, sizeof(*texts->items)) < 0) {
        free(text);
        return -ENOMEM;
    }
    memmove(&texts->items[at + 1], &texts->items[at], (texts->len - at) * sizeof(*texts->items));
    texts->items[at] = text;
    texts->len++;
    return 0;
}

int lbc_texts_put(struct lbc_texts *texts, const char *text)
{
    return put_own(texts, strdup(text));
}

void lbc_texts_remove(struct lbc_texts *texts, const char *text)
{
    bool found = false;
    const size_t at = text_place(texts, text, &found);

    if (!found) {
        return;
    }
    free(texts->items[at]);
    texts->len--;
    memmove(&texts->items[at], &texts->items[at + 1], (texts->len - at) * sizeof(*texts->items));
}

bool lbc_texts_has(const struct lbc_texts *texts, const char *text)
{
    bool found = false;

    (void)text_place(texts, text, &found); /* the place does not matter */
    return found;
}

bool lbc_texts_equal(const struct lbc_texts *a, const struct lbc_texts *b)
{
    if (a->len != b->len) {
        return false;
    }
    for (size_t i = 0; i < a->len; i++) {
        if (strcmp(a->items[i], b->items[i]) != 0) {
            return false;
        }
    }
    return true;
}

int lbc_texts_split(struct lbc_texts *texts, const char *list)
{
    const char *cursor = list;
    const char *piece = NULL;
    size_t len = 0;
    int r = 0;

    while (r == 0 && cursor != NULL && ccm_parse_piece(&cursor, ',', &piece, &len)) {
        r = len == 0 ? 0 : put_own(texts, strndup(piece, len));
    }
    return r;
}

int lbc_texts_copy(struct lbc_texts *to, const struct lbc_texts *from)
{
    lbc_texts_fini(to);
    for (size_t i = 0; i < from->len; i++) {
        if (lbc_texts_put(to, from->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

int lbc_texts_put_missing(struct lbc_texts *texts, const struct lbc_texts *from,
                          const struct lbc_texts *without, const char *but)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->len; i++) {
        if (!lbc_texts_has(without, from->items[i]) && !ccm_text_equal(from->items[i], but)) {
            r = lbc_texts_put(texts, from->items[i]);
        }
    }
    return r;
}

void lbc_texts_fini(struct lbc_texts *texts)
{
    for (size_t i = 0; i < texts->len; i++) {
        free(texts->items[i]);
    }
    free(texts->items);
    memset(texts, 0, sizeof(*texts));
}
