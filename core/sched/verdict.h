/*
 * What a reconcile call says about its keys, and how a failure is counted and logged. One struct
 * per worker, used for one call after the other. One lock, a leaf.
 */
#ifndef CCM_SCHED_VERDICT_H
#define CCM_SCHED_VERDICT_H

#include "ccm/error.h"
#include "util/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* About one key. */
struct sched_verdict {
    bool reported;
    bool failed; /* then the error says why, else: */
    uint64_t requeue_after_ms;
};

struct sched_verdicts {
    pthread_mutex_t lock; /* guards what follows */
    struct sched_verdict *items;
    struct ccm_error *errors; /* by the same index; pages are touched only where a key failed */
    size_t cap;
    size_t count; /* keys of the running call; 0 = none runs */
};

/* Room for `cap` keys. 0 or -ENOMEM; fini is due only after 0. */
CCM_NODISCARD int sched_verdicts_init(struct sched_verdicts *verdicts, size_t cap);
void sched_verdicts_fini(struct sched_verdicts *verdicts);

/* A call with so many keys (at most cap) begins: nothing is settled yet. */
void sched_verdicts_begin(struct sched_verdicts *verdicts, size_t count);
/* It has returned: what comes later is not heard. The owner may now read items and errors. */
void sched_verdicts_end(struct sched_verdicts *verdicts);

/* As settle() of struct ccm_host. Any thread. */
void sched_verdicts_record(struct sched_verdicts *verdicts, uint64_t index,
                           uint64_t requeue_after_ms, const struct ccm_error *err);

/* Make the error what it is counted as: see the head of controller.h. result: what the plugin
 * returned. */
void sched_verdict_classify(struct ccm_error *err, int result, bool stopping);

/* "transient", "throttled", ...; "" for a kind that does not exist. */
const char *sched_verdict_kind_name(uint64_t kind);

/* One line of the log about a call that failed. */
struct sched_verdict_line {
    const char *part; /* of the log */
    const char *id;   /* of the call */
    const char *what; /* the keys */
    int64_t retry_ms; /* negative: there is none, because the controller stops */
    bool quiet;       /* at level debug */
};
void sched_verdict_log(const struct sched_verdict_line *line, const struct ccm_error *err);

#endif
