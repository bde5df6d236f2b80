#include "kube/cache/own_write.h"

#include "kube/object/object.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTES ((size_t)64 * 1024)

struct own_write {
    const struct ccm_object *object;
    int64_t span_ms;  /* longest that it hides what the watch shows */
    bool hides;       /* the watch has shown another version since, */
    int64_t until_ms; /* and may go on for so long; 0 = not set yet */
};

struct kube_write {
    struct kube_write *next;
    char *key;
    struct ccm_buf versions; /* that the table has had, each with a NUL behind it */
    bool overtaken;          /* by a list, or by the end of the object */
};

static void own_write_free(void *value)
{
    struct own_write *own = value;

    kube_object_unref(own->object);
    free(own);
}

int kube_own_writes_init(struct kube_own_writes *own)
{
    own->shown = ccm_strmap_new(own_write_free);
    own->under_way = NULL;
    return own->shown == NULL ? -ENOMEM : 0;
}

static void write_free(struct kube_write *write)
{
    ccm_buf_fini(&write->versions);
    free(write->key);
    free(write);
}

static void write_freep(struct kube_write **write)
{
    if (*write != NULL) {
        write_free(*write);
    }
}

void kube_own_writes_fini(struct kube_own_writes *own)
{
    while (own->under_way != NULL) {
        struct kube_write *write = own->under_way;

        own->under_way = write->next;
        write_free(write);
    }
    ccm_strmap_free(own->shown);
}

const struct ccm_object *kube_own_writes_see(const struct kube_own_writes *own,
                                             const struct ccm_object *object)
{
    const struct own_write *write = ccm_strmap_get(own->shown, object->key);

    return write == NULL ? object : write->object;
}

/* --- a write that is under way --- */

static void write_note_version(struct kube_write *write, const char *version)
{
    ccm_buf_add(&write->versions, version, strlen(version) + 1);
}

static bool write_has_version(const struct kube_write *write, const char *version)
{
    const char *at = ccm_buf_str(&write->versions);
    const char *end = at + write->versions.len;

    while (at < end && strcmp(at, version) != 0) {
        at += strlen(at) + 1;
    }
    return at < end;
}

struct kube_write *kube_own_writes_begin(struct kube_own_writes *own,
                                         const struct ccm_object *object)
{
    CCM_CLEANUP(write_freep) struct kube_write *write = calloc(1, sizeof(*write));

    if (write == NULL) {
        return NULL;
    }
    write->versions.max = MAX_NOTES;
    write->key = strdup(object->key);
    if (write->key == NULL) {
        return NULL;
    }
    write_note_version(write, object->resource_version);
    /* What changes nothing is answered with the version that is there. */
    write_note_version(write, kube_own_writes_see(own, object)->resource_version);
    write->next = own->under_way;
    own->under_way = write;
    return CCM_STEAL(write);
}

static void own_writes_unlink(struct kube_own_writes *own, const struct kube_write *write)
{
    struct kube_write **at = &own->under_way;

    while (*at != write) {
        at = &(*at)->next;
    }
    *at = write->next;
}

static void own_writes_show(struct kube_own_writes *own, const struct ccm_object *answer,
                            int64_t span_ms)
{
    struct own_write *shown = calloc(1, sizeof(*shown));

    if (shown == NULL) {
        return; /* the watch will show it */
    }
    shown->object = kube_object_ref(answer);
    shown->span_ms = span_ms;
    if (ccm_strmap_set(own->shown, answer->key, shown) < 0) {
        own_write_free(shown);
    }
}

/* Whether the answer is about the object of the table, and the table has not had it. */
static bool write_is_news(const struct kube_write *write, const struct ccm_object *answer,
                          const struct ccm_object *object)
{
    return !write->overtaken && ccm_buf_error(&write->versions) == 0 && object != NULL &&
           strcmp(answer->key, write->key) == 0 && strcmp(answer->uid, object->uid) == 0 &&
           !ccm_text_empty(answer->resource_version) &&
           !write_has_version(write, answer->resource_version);
}

void kube_own_writes_end(struct kube_own_writes *own, struct kube_write *write,
                         const struct ccm_object *answer, const struct ccm_object *object,
                         int64_t span_ms)
{
    own_writes_unlink(own, write);
    if (answer != NULL && write_is_news(write, answer, object)) {
        own_writes_show(own, answer, span_ms);
    }
    write_free(write);
}

/* --- what lists and watches say --- */

void kube_own_writes_note(struct kube_own_writes *own, const struct ccm_object *object)
{
    struct own_write *shown = ccm_strmap_get(own->shown, object->key);

    for (struct kube_write *write = own->under_way; write != NULL; write = write->next) {
        if (strcmp(write->key, object->key) == 0) {
            write_note_version(write, object->resource_version);
        }
    }
    if (shown == NULL) {
        return;
    }
    if (strcmp(shown->object->uid, object->uid) != 0 ||
        strcmp(shown->object->resource_version, object->resource_version) == 0) {
        ccm_strmap_del(own->shown, object->key);
    } else {
        shown->hides = true;
    }
}

void kube_own_writes_forget(struct kube_own_writes *own, const char *key)
{
    for (struct kube_write *write = own->under_way; write != NULL; write = write->next) {
        write->overtaken = write->overtaken || strcmp(write->key, key) == 0;
    }
    ccm_strmap_del(own->shown, key);
}

void kube_own_writes_clear(struct kube_own_writes *own)
{
    const char *key;
    void *cursor = NULL;

    for (struct kube_write *write = own->under_way; write != NULL; write = write->next) {
        write->overtaken = true;
    }
    while (ccm_strmap_next(own->shown, &cursor, &key, NULL)) {
        ccm_strmap_del(own->shown, key);
    }
}

int64_t kube_own_writes_due(const struct kube_own_writes *own)
{
    int64_t due_ms = INT64_MAX;
    void *cursor = NULL;
    void *value;

    while (ccm_strmap_next(own->shown, &cursor, NULL, &value)) {
        const struct own_write *shown = value;

        if (shown->hides && shown->until_ms < due_ms) {
            due_ms = shown->until_ms;
        }
    }
    return due_ms;
}

const struct ccm_object *kube_own_writes_expire(struct kube_own_writes *own, int64_t now_ms)
{
    const char *key;
    void *cursor = NULL;
    void *value;

    while (ccm_strmap_next(own->shown, &cursor, &key, &value)) {
        struct own_write *shown = value;

        if (shown->hides && shown->until_ms == 0) {
            shown->until_ms = now_ms + shown->span_ms;
        } else if (shown->hides && shown->until_ms <= now_ms) {
            const struct ccm_object *object = kube_object_ref(shown->object);

            ccm_strmap_del(own->shown, key);
            return object;
        }
    }
    return NULL;
}
