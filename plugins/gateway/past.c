#include "past.h"

#include "lbc/custom/parameters.h"
#include "util/book.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct one {
    char uid[64];
    struct ccm_strmap *annotations;
};

struct gateway_past {
    struct ccm_book by_key; /* struct one */
};

static void one_free(void *value)
{
    struct one *one = value;

    ccm_strmap_free(one->annotations);
    free(one);
}

struct gateway_past *gateway_past_new(void)
{
    struct gateway_past *past = calloc(1, sizeof(*past));

    if (past == NULL) {
        return NULL;
    }
    if (ccm_book_init(&past->by_key, one_free) < 0) {
        free(past);
        return NULL;
    }
    return past;
}

void gateway_past_free(struct gateway_past *past)
{
    if (past != NULL) {
        ccm_book_fini(&past->by_key);
        free(past);
    }
}

static bool maps_are_equal(const struct ccm_strmap *a, const struct ccm_strmap *b)
{
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;
    bool same = ccm_strmap_len(a) == ccm_strmap_len(b);

    while (same && ccm_strmap_next(a, &cursor, &key, &value)) {
        same = ccm_text_equal(value, ccm_strmap_get(b, key));
    }
    return same;
}

static int maps_copy(struct ccm_strmap *to, const struct ccm_strmap *from)
{
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;
    int r = 0;

    while (r == 0 && ccm_strmap_next(from, &cursor, &key, &value)) {
        r = lbc_custom_parameters_put(to, key, value);
    }
    return r;
}

static struct one *one_new(const char *uid, const struct ccm_strmap *annotations)
{
    struct one *one = calloc(1, sizeof(*one));

    if (one == NULL) {
        return NULL;
    }
    ccm_text_copy(one->uid, sizeof(one->uid), uid);
    one->annotations = ccm_strmap_new(free);
    if (one->annotations == NULL || maps_copy(one->annotations, annotations) < 0) {
        one_free(one);
        return NULL;
    }
    return one;
}

void gateway_past_put(struct gateway_past *past, const char *key, const char *uid,
                      const struct ccm_strmap *annotations)
{
    struct ccm_strmap *by_key = ccm_book_open(&past->by_key);
    const struct one *found = ccm_strmap_get(by_key, key);
    struct one *next = NULL;

    if (found == NULL || strcmp(found->uid, uid) != 0 ||
        !maps_are_equal(found->annotations, annotations)) {
        next = one_new(uid, annotations);
    }
    if (next != NULL && ccm_strmap_set(by_key, key, next) < 0) {
        one_free(next);
    }
    ccm_book_close(&past->by_key);
}

int gateway_past_get(struct gateway_past *past, const char *key, const char *uid,
                     struct ccm_strmap *to)
{
    const struct one *found = ccm_strmap_get(ccm_book_open(&past->by_key), key);
    int r = 0;

    if (found != NULL && strcmp(found->uid, uid) == 0) {
        r = maps_copy(to, found->annotations) < 0 ? -ENOMEM : 1;
    }
    ccm_book_close(&past->by_key);
    return r;
}

void gateway_past_forget(struct gateway_past *past, const char *key)
{
    ccm_book_forget(&past->by_key, key);
}
