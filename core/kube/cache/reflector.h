/*
 * Keeps the store of one kind equal to the API server: list, then watch, for ever. One thread each,
 * which decodes, is the only writer of the store, and tells every change in order.
 *
 * First list: as a stream (sendInitialEvents) where the server has it. Whatever ends such a list
 * early (a status, an ERROR event, silence, what is no event, a connection that breaks) is answered
 * with a list in pages, and the next lists are paged too for a while, longer each time: some
 * servers accept the request and cannot serve it. A list takes effect at once when it is complete,
 * never in part. Watch: resumed from the last version after every disconnect; listed again when the
 * server no longer has that version (410), when its versions went backwards, when a watch that said
 * something fell silent and the next one stays so, when ten in a row say nothing at all, or when
 * what it says cannot be read three times. 401, 403 and 404 are tried again, in the end
 * slowly, so that rights given later heal without a restart. An object that cannot be decoded is
 * logged and its last readable version stays.
 *
 * resourceVersion is opaque here but for one thing: Kubernetes promises numbers that grow, so a
 * smaller one than before is the sign of a server that was replaced or restored from a backup. A
 * watch from a version that such a server has not reached yet would be silent; so after a watch
 * that broke or ended before its time, a list of one object, which no cache answers, shows its
 * version. `synced` stays true: a cache that cannot be refreshed stays readable.
 */
#ifndef CCM_KUBE_REFLECTOR_H
#define CCM_KUBE_REFLECTOR_H

#include "kube/cache/store.h"
#include "kube/client/client.h"
#include "kube/client/continuity.h"
#include "kube/object/decode.h"

struct kube_reflector;

/* 0 = the value in parentheses. */
struct kube_reflector_timing {
    uint32_t backoff_min_ms; /* after the first failure, halved at random (200) */
    uint32_t backoff_max_ms; /* most between two attempts (30,000) */
    uint32_t refused_ms;     /* most between attempts after 401, 403, 404 (30,000) */
    uint32_t progress_ms; /* longest silence of a watch or a list; a server sends a bookmark about
                             every minute (90,000) */
    uint32_t initial_ms;  /* longest silence of a streaming list before its end mark (10,000) */
    uint32_t paged_ms;    /* lists are paged for so long after a streaming one failed; doubles with
                             each further failure, 64 times as long at most (600,000) */
    uint32_t head_ms;     /* longest wait for the head of an answer (65,000) */
    uint32_t own_ms;      /* longest that an own write hides what the watch says (30,000) */
    /* A watch is asked to end after a random time in this range (300 to 600). */
    uint32_t watch_min_s;
    uint32_t watch_max_s;
    uint64_t seed; /* of the jitter (from the clock) */
};

/* Pointers and strings are borrowed for the life of the reflector. */
struct kube_reflector_config {
    struct kube_client *client;
    struct kube_store *store;
    const char *name; /* for messages: "services" */
    const char *path; /* "/api/v1/services", escaped */
    struct kube_decode_kind kind;
    const char *label_selector; /* not escaped; NULL = none */
    const char *field_selector;

    /* Whether the object is of interest; one that is not counts as absent. NULL = all are. Runs in
     * the reflector's thread, must not block. */
    bool (*keep)(void *arg, const struct ccm_object *object);
    /* Begin when this one has its first list, because `keep` asks its store. NULL = at once. */
    struct kube_reflector *after;
    /* What the objects are there for: on a server that was replaced, or restored from a backup,
     * this one is listed anew first, however long that takes. Else whoever looks at both would take
     * a server that is still empty for a wish to have everything removed. NULL = there is none. */
    struct kube_reflector *ahead;
    /* Where to say whether it is in step with the server, and whether that is another one. NULL =
     * nobody asks. */
    struct kube_continuity *continuity;
    bool optional;    /* 404 means that there is no such resource, and so none of its objects */
    bool never_empty; /* a list without any object, where there were some, is that of another server
                         or of one that was emptied */
    /* In the reflector's thread, in order, after the store holds the change. Must not block. May be
     * NULL. */
    kube_change_fn change;
    void *arg; /* of both */

    struct kube_reflector_timing timing;
    uint32_t page_limit; /* objects per page (500) */
    size_t max_pending;  /* bytes that wait to be decoded, see stream.h (256 KiB) */
};

/* Nothing is sent yet. NULL on ENOMEM. */
struct kube_reflector *kube_reflector_new(const struct kube_reflector_config *config);

/* Start the thread; once. 0 or -errno. */
CCM_NODISCARD int kube_reflector_start(struct kube_reflector *reflector);

/* Ask it to end: breaks off what it waits for. Returns at once; any thread. */
void kube_reflector_stop(struct kube_reflector *reflector);

/* Wait for the end; after stop(), also when it never started. 0, or -ETIMEDOUT at the monotonic
 * time deadline_ms: a change function hangs, and the reflector may not be freed. */
CCM_NODISCARD int kube_reflector_join(struct kube_reflector *reflector, int64_t deadline_ms);

/* Stops and joins if need be, however long that takes. NULL is fine. */
void kube_reflector_free(struct kube_reflector *reflector);

/* Wait until the first list is in the store and its changes are reported, or the server said that
 * there is no such resource and that is `optional`. 0, -ETIMEDOUT (monotonic
 * deadline), -ECANCELED (stopped, or `cancel`, which may be NULL, was set: noticed within 100 ms).
 */
CCM_NODISCARD int kube_reflector_wait_synced(struct kube_reflector *reflector, int64_t deadline_ms,
                                             const struct ccm_cancel *cancel);

/*
 * For a `keep` whose answer changes over time, from any thread, return at once:
 * fetch: read the objects with this label selector (not escaped) again, so that those which are
 * kept now come into the store; between two events of the watch, whose order for one object may
 * thereby go back and forth once. When it fails, or too many wait, everything is listed again.
 * -ENOMEM: not queued. recheck: drop what is no longer kept.
 */
CCM_NODISCARD int kube_reflector_fetch(struct kube_reflector *reflector,
                                       const char *label_selector);
/* Wait until all that was asked for by fetch() so far is in the store. 0; -ETIMEDOUT at the
 * monotonic time deadline_ms; -EAGAIN at once when there is no first list yet, or no connection at
 * the moment: it comes with them. Not from the thread of this reflector. */
CCM_NODISCARD int kube_reflector_wait_fetched(struct kube_reflector *reflector,
                                              int64_t deadline_ms);
void kube_reflector_recheck(struct kube_reflector *reflector);

/*
 * Around a write to an object with this key, from any thread: when end_write() returns the store
 * shows what was written, whatever the watch has shown so far. text: the answer of the server, the
 * whole object; NULL = the write failed. What cannot be decoded, or is not held, is left to the
 * watch; so is all of a reflector with a `keep`. begin_write() returns NULL when there is nothing
 * to end.
 */
struct kube_write *kube_reflector_begin_write(struct kube_reflector *reflector, const char *key);
void kube_reflector_end_write(struct kube_reflector *reflector, struct kube_write *write,
                              const char *text, size_t len);

/* List everything again. Any thread, returns at once. */
void kube_reflector_relist(struct kube_reflector *reflector);
/* The same, if another cache of this process (`continuity`) has noticed a change of the server and
 * this one has not listed since: its watch may go on from a version which that server has not
 * reached, and is silent then. */
void kube_reflector_relist_after_break(struct kube_reflector *reflector);

struct kube_reflector_status {
    bool synced;
    bool absent;           /* `optional`: the server has no such resource at the moment */
    bool streaming;        /* lists as a stream (as far as is known) */
    uint64_t objects;      /* in the store */
    uint64_t too_large;    /* of these: were cut, see decode.h */
    uint64_t lists;        /* complete lists so far */
    uint64_t events;       /* of watches, bookmarks included */
    uint64_t failures;     /* in a row; 0 = working */
    int64_t last_event_ms; /* monotonic; of the last event or list, 0 = none yet */
    bool listed;           /* the store is a list and what came since, not one to be replaced */
    bool requested;        /* what fetch(), recheck() or relist() asked for is not done yet */
    char version[32];      /* how far the store and the reported changes are: resourceVersion of the
                              server,      cut; "" = no list yet */
    int64_t due_ms;        /* monotonic; the thread shows up again by then, or it hangs, such as in
                              a change function; 0 = it does not run */
    char error[256];       /* the last failure, also when it is over; "" = none */
};

/* Any thread. */
/* Its number in the continuity. Any thread. */
size_t kube_reflector_cache(const struct kube_reflector *reflector);
void kube_reflector_status(struct kube_reflector *reflector, struct kube_reflector_status *ret);

#endif
