/*
 * Locks, and a thread that can be waited for with a deadline, for code that may hang in a call that
 * is not ours: embedded in what owns the work, zeroed at first; start and join come from one
 * thread.
 */
#ifndef CCM_UTIL_THREAD_H
#define CCM_UTIL_THREAD_H

#include "util/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct ccm_thread {
    void (*run)(void *arg);
    void *arg;
    pthread_t id;
    bool started;
    pthread_mutex_t lock; /* guards ended; leaf */
    pthread_cond_t change;
    bool ended;
};

/* Runs run(arg). 0 or a negative errno, and then there is nothing to join. */
CCM_NODISCARD int ccm_thread_start(struct ccm_thread *thread, void (*run)(void *arg), void *arg);

/*
 * Wait until run() has returned, at most until the monotonic time deadline_ms. 0, also when it was
 * never started or has been joined. -ETIMEDOUT: it runs on, so nothing it uses may be freed, the
 * struct included; it may be joined again.
 */
CCM_NODISCARD int ccm_thread_join(struct ccm_thread *thread, int64_t deadline_ms);

/* What cannot fail: the mutex is a default one, initialised, and never taken twice by one thread;
 * the condition is initialised. fini: nobody holds it, or waits. */
void ccm_lock(pthread_mutex_t *lock);
void ccm_unlock(pthread_mutex_t *lock);
void ccm_lock_fini(pthread_mutex_t *lock);
void ccm_wake_one(pthread_cond_t *changed);
void ccm_wake_all(pthread_cond_t *changed);
void ccm_cond_fini(pthread_cond_t *changed);

#endif
