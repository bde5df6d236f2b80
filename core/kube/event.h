/*
 * Events: short messages about an object that `kubectl describe` shows. Emitting only queues a
 * copy; one thread of the recorder writes core/v1 Events, as client-go's recorder does:
 *
 * - The same happening (object, component, type, reason, message) again within an hour raises the
 *   count of the Event that is there, by a patch; when that has gone meanwhile, it is created anew.
 * - An object may speak 25 times, then once in 5 minutes; what is more is dropped.
 * - What lasts (a topic, see struct ccm_event) is said again every period, as long as its object is
 *   there, however much that object has spoken. Its Event has a name that the next process finds:
 *   what was said within the period is not said again after a restart, and its count continues.
 * - Namespaces take turns, and none has more than half of the queue: one that is full of what is
 *   wrong does not delay what is to be said of another.
 * - A write that fails for a passing reason is tried again up to 5 times, with growing pauses,
 *   while others are written; one that is refused is dropped. Both are logged.
 */
#ifndef CCM_KUBE_EVENT_H
#define CCM_KUBE_EVENT_H

#include "kube/client/client.h"
#include "kube/occurrence.h"

#define KUBE_EVENT_QUEUE_MAX     2000
#define KUBE_EVENT_NAMESPACE_MAX 1000    /* of them */
#define KUBE_EVENT_PERIOD_MS     1800000 /* of what lasts */

struct kube_event_recorder;

/* How what lasts is said again. Called by the recorder's thread; nothing blocks. */
struct kube_event_lasting {
    int64_t period_ms; /* 0 = KUBE_EVENT_PERIOD_MS */
    /* Whether the object is still there; NULL = always. */
    bool (*exists)(void *arg, const struct kube_occurrence *occurrence);
    void *arg;
};

/* The thread is started. client is borrowed and must live longer; lasting is copied, NULL =
 * whatever becomes of objects. NULL and err on failure. */
struct kube_event_recorder *kube_event_recorder_new(struct kube_client *client,
                                                    const struct kube_event_lasting *lasting,
                                                    struct ccm_error *err);

/* Queue a copy; any thread, never blocks. Returns whether it is news: what lasts is none while its
 * cause is the same, nor is its end. When KUBE_EVENT_QUEUE_MAX wait, or KUBE_EVENT_NAMESPACE_MAX of
 * one namespace, what lasts is written behind them, and the rest is dropped, counted, and logged by
 * the recorder's thread; so on ENOMEM. Message and reason are cut at 1,024 and 128 bytes. */
bool kube_event_emit(struct kube_event_recorder *recorder, const struct ccm_event *event);

/* How many were dropped because the queue was full. */
uint64_t kube_event_recorder_dropped(struct kube_event_recorder *recorder);

/* Whether every event so far is written or given up, but for those that are tried again later than
 * in horizon_ms. *ret_emitted: how many there were so far. Any thread. */
bool kube_event_recorder_is_idle(struct kube_event_recorder *recorder, int64_t horizon_ms,
                                 uint64_t *ret_emitted);

/* Take no more, write what is queued for up to drain_ms (one try each), give up the rest, end the
 * thread, free. No emit may run or follow. NULL is fine. */
void kube_event_recorder_free(struct kube_event_recorder *recorder, int64_t drain_ms);

#endif
