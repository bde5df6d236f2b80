#include "past.h"

#include "lbc/custom/parameters.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct one {
    char uid[64];
    struct ccm_strmap *annotations;
};

struct gateway_past {
    pthread_mutex_t lock;      /* guards the rest; a leaf */
    struct ccm_strmap *by_key; /* struct one */
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
    past->by_key = ccm_strmap_new(one_free);
    if (past->by_key == NULL || pthread_mutex_init(&past->lock, NULL) != 0) {
        ccm_strmap_free(past->by_key);
        free(past);
        return NULL;
    }
    return past;
}

void gateway_past_free(struct gateway_past *past)
{
    if (past != NULL) {
        ccm_lock_fini(&past->lock);
        ccm_strmap_free(past->by_key);
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
    const struct one *found = NULL;
    struct one *next = NULL;

    ccm_lock(&past->lock);
    found = ccm_strmap_get(past->by_key, key);
    if (found == NULL || strcmp(found->uid, uid) != 0 ||
        !maps_are_equal(found->annotations, annotations)) {
        next = one_new(uid, annotations);
    }
    if (next != NULL && ccm_strmap_set(past->by_key, key, next) < 0) {
        one_free(next);
    }
    ccm_unlock(&past->lock);
}

int gateway_past_get(struct gateway_past *past, const char *key, const char *uid,
                     struct ccm_strmap *to)
{
    const struct one *found = NULL;
    int r = 0;

    ccm_lock(&past->lock);
    found = ccm_strmap_get(past->by_key, key);
    if (found != NULL && strcmp(found->uid, uid) == 0) {
        r = maps_copy(to, found->annotations) < 0 ? -ENOMEM : 1;
    }
    ccm_unlock(&past->lock);
    return r;
}

void gateway_past_forget(struct gateway_past *past, const char *key)
{
    ccm_lock(&past->lock);
    ccm_strmap_del(past->by_key, key);
    ccm_unlock(&past->lock);
}
