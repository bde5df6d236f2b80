#include "kube/object/names.h"

#include "util/cleanup.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* uthash must not exit on a failed allocation: it clears the added element instead. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct name {
    UT_hash_handle hh;
    size_t users;
    char text[];
};

struct kube_names {
    atomic_uint refs;
    pthread_mutex_t lock; /* guards `table` and all counts of users; leaf */
    struct name *table;
};

struct kube_names *kube_names_new(void)
{
    CCM_CLEANUP(ccm_freep) struct kube_names *names = calloc(1, sizeof(*names));

    if (names == NULL || pthread_mutex_init(&names->lock, NULL) != 0) {
        return NULL;
    }
    atomic_init(&names->refs, 1);
    return CCM_STEAL(names);
}

struct kube_names *kube_names_ref(struct kube_names *names)
{
    atomic_fetch_add_explicit(&names->refs, 1, memory_order_relaxed);
    return names;
}

void kube_names_unref(struct kube_names *names)
{
    if (names != NULL && atomic_fetch_sub_explicit(&names->refs, 1, memory_order_acq_rel) == 1) {
        ccm_lock_fini(&names->lock);
        free(names);
    }
}

static struct name *add_locked(struct kube_names *names, const char *text, size_t len)
{
    struct name *name = calloc(1, sizeof(*name) + len + 1);

    if (name == NULL) {
        return NULL;
    }
    memcpy(name->text, text, len + 1);
    HASH_ADD_KEYPTR(hh, names->table, name->text, len, name);
    if (name->hh.tbl == NULL) {
        free(name);
        return NULL;
    }
    return name;
}

const char *kube_names_intern(struct kube_names *names, const char *text)
{
    const size_t len = strlen(text);
    struct name *name = NULL;

    ccm_lock(&names->lock);
    HASH_FIND(hh, names->table, text, len, name);
    if (name == NULL) {
        name = add_locked(names, text, len);
    }
    if (name != NULL) {
        name->users++;
    }
    ccm_unlock(&names->lock);
    return name == NULL ? NULL : name->text;
}

void kube_names_drop(struct kube_names *names, const char *text)
{
    struct name *name = (struct name *)((uintptr_t)text - offsetof(struct name, text));

    ccm_lock(&names->lock);
    if (--name->users == 0) {
        HASH_DEL(names->table, name);
    } else {
        name = NULL;
    }
    ccm_unlock(&names->lock);
    free(name);
}

size_t kube_names_len(struct kube_names *names)
{
    ccm_lock(&names->lock);

    const size_t len = HASH_COUNT(names->table);

    ccm_unlock(&names->lock);
    return len;
}
