/* Inside of the reflector; see reflector.h. Everything here runs in the reflector's thread unless
 * it says otherwise. */
#ifndef CCM_KUBE_REFLECTOR_PRIV_H
#define CCM_KUBE_REFLECTOR_PRIV_H

#include "kube/cache/jsonstream.h"
#include "kube/cache/reflector.h"
#include "kube/cache/stream.h"
#include "util/log.h"
#include "util/strmap.h"
#include "util/thread.h"

#include <pthread.h>

#define KUBE_REFLECTOR_MAX_OBJECTS ((size_t)500000)

struct kube_reflector {
    struct kube_reflector_config config; /* defaults filled in */
    struct kube_decode_kind written;     /* of answers to our own writes; unchanged, any thread */
    struct kube_stream *main;            /* list and watch */
    struct kube_stream *side;            /* fetches while the watch is open */
    struct kube_builder *builder;
    struct ccm_thread thread; /* start, join and free come from one thread */
    size_t cache;             /* its number in config.continuity */

    /* The thread's own. */
    bool listed;            /* the store is a list plus the events up to `version` */
    bool streaming;         /* ask for streaming lists; false until paged_until_ms */
    int64_t paged_until_ms; /* monotonic; streaming lists are not asked for before */
    unsigned paged;         /* streaming lists that failed without one that went well in between */
    bool server_uncertain;  /* a watch broke: who answers now may be another server */
    bool replaced;          /* it is: the next list waits for `ahead` */
    bool broken_off;        /* and config.continuity knows it, since the last list */
    struct ccm_buf version;
    uint64_t random;
    char kind_name[64];   /* of raw objects, once a list has said it */
    unsigned failures;    /* in a row, without any progress in between; so are the others */
    unsigned stale;       /* 410 */
    unsigned silent;      /* watches that said something and then nothing, and the next ones */
    unsigned quiet;       /* watches that said nothing at all */
    unsigned broken;      /* could not be read */
    unsigned rejected;    /* watch refused with a status */
    unsigned refused;     /* 401, 403, 404 */
    unsigned backwards;   /* times that versions went backwards, each soon after the one before */
    int64_t backwards_ms; /* the last of them */

    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t changed;
    bool stopping;
    bool recheck;
    bool serving;               /* something that was asked for is being done */
    bool relist;                /* too many fetches, or somebody builds on a new list */
    int64_t broke_ms;           /* monotonic; the last time that doubt began, 0 = never */
    int64_t began_ms;           /* monotonic; when the list in the store began */
    struct ccm_strmap *fetches; /* waiting selectors */
    uint64_t asked;             /* calls of fetch(), and ... */
    uint64_t served;            /* ... how many of them are in the store */
    struct kube_reflector_status status;
};

/* How a request ended. */
struct kube_reflector_end {
    /* 0 = complete; -ETIME silent, -EBADMSG and -EMSGSIZE unreadable, -ENOBUFS reader too slow,
     * -EXFULL listed again on request, -ESTALE without a status: versions went backwards; else as
     * kube_do() */
    int code;
    bool initial; /* a streaming list before its end mark */
    bool watch;   /* a watch, or a streaming list after its end mark */
    bool progress;
    int64_t lasted_ms;
    struct ccm_error err;
};

/* A request whose answer is cut into pieces. The sink of `scan` counts `pieces`; every piece
 * restarts the clock of the longest silence. */
struct kube_reflector_pump {
    struct kube_reflector *reflector;
    struct kube_stream *stream;
    struct kube_jsonstream scan;
    uint64_t pieces;
    uint32_t silence_ms;
    /* Called in between, also when somebody woke the stream; NULL = not. */
    int (*serve)(struct kube_reflector *reflector, struct ccm_error *err);
    struct ccm_error *err;
};

extern const struct ccm_log kube_reflector_log;

/* Runs the request to its end. The code is as in struct kube_reflector_end; err is set when it is
 * negative. */
int kube_reflector_pump(struct kube_reflector_pump *pump, const char *path);

/* "?a=b" or "&a=b" with both selectors; label NULL = the configured one. */
void kube_reflector_path(const struct kube_reflector *r, struct ccm_buf *path, const char *params,
                         const char *label);

/* "&name=value", escaped, unless the value is NULL or "". */
void kube_reflector_add_param(struct ccm_buf *path, const char *name, const char *value);

/*
 * One object: into the stage, or into the store with the changes reported when stage is NULL.
 * What is not kept is removed. An object that cannot be decoded but whose key is known is logged
 * and left as it was. `version`, if not NULL, gets the object's version. -EBADMSG when not even key
 * and version can be read; -ENOMEM; -EMSGSIZE.
 */
int kube_reflector_apply(struct kube_reflector *r, struct kube_stage *stage, bool deleted,
                         const struct kube_decode_text *text, struct ccm_buf *version,
                         struct ccm_error *err);

/* The stage becomes the store; a watch may start from `version`. how: for the log. */
void kube_reflector_commit(struct kube_reflector *r, struct kube_stage **stage, const char *version,
                           const char *how, int64_t started_ms);

/* List in pages until it is complete or fails. */
void kube_reflector_list(struct kube_reflector *r, struct kube_reflector_end *end);

/* Watch from the last version, or as a streaming list. */
void kube_reflector_watch(struct kube_reflector *r, bool initial, struct kube_reflector_end *end);

/* Ask how far the versions of the server are, when there is doubt whether it is still the same:
 * -ESTALE when it has not come as far as we were. */
/* List anew if a cache of this process has seen a change of the server since the list in the store
 * began. Versions alone do not show it: a server may be replaced twice while a watch hangs. */
void kube_reflector_relist_outdated(struct kube_reflector *r);
/* For the next list; NULL = out of memory. */
struct kube_stage *kube_reflector_new_stage(struct kube_reflector *r);
void kube_reflector_check_server(struct kube_reflector *r, struct kube_reflector_end *end);

/* -ESTALE with the words for it when `version` is older than what this server said before, else 0.
 */
int kube_reflector_check_version(struct kube_reflector *r, const char *version,
                                 struct ccm_error *err);

/* Read one selection page by page into the store. */
int kube_reflector_fetch_now(struct kube_reflector *r, const char *label, struct ccm_error *err);

/* Nothing that was asked for waits, and none of it is under way. The caller holds the lock. */
void kube_reflector_mark_served_locked(struct kube_reflector *r);

/* Do what other threads asked for. -EXFULL: by a new list. */
int kube_reflector_serve(struct kube_reflector *r, struct ccm_error *err);

/* What follows from the end of a request: sets listed, streaming and the counters, logs; returns
 * the wait in ms. */
int64_t kube_reflector_handle_end(struct kube_reflector *r, const struct kube_reflector_end *end);

/* The server is another one, or was restored: tell whoever asks, once until the next list. */
void kube_reflector_report_break(struct kube_reflector *r, const char *why);

/* Whether the store is in step with the server. */
void kube_reflector_set_in_step(struct kube_reflector *r, bool in_step);

/* Even random number in min..max. */
uint32_t kube_reflector_random(struct kube_reflector *r, uint32_t min, uint32_t max);

/* Wait until `after` has its first list. */
void kube_reflector_await_after(struct kube_reflector *r);

/* Before a list: when the server was replaced wait until `ahead` has one that began since. */
void kube_reflector_await_ahead(struct kube_reflector *r);

/* The thread is about to wait, at most until then, and to work on what comes. */
void kube_reflector_set_due(struct kube_reflector *r, int64_t until_ms);

/* An event or a bookmark came. */
void kube_reflector_record_event(struct kube_reflector *r);

bool kube_reflector_stopping(struct kube_reflector *r);

#endif
