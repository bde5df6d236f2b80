#include "util/thread.h"

#include "util/clock.h"

#include <errno.h>

void ccm_lock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_lock(lock); /* see the header; so are the others */
}

void ccm_unlock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
}

void ccm_lock_fini(pthread_mutex_t *lock)
{
    (void)pthread_mutex_destroy(lock);
}

void ccm_wake_one(pthread_cond_t *changed)
{
    (void)pthread_cond_signal(changed);
}

void ccm_wake_all(pthread_cond_t *changed)
{
    (void)pthread_cond_broadcast(changed);
}

void ccm_cond_fini(pthread_cond_t *changed)
{
    (void)pthread_cond_destroy(changed);
}

static void *thread_main(void *arg)
{
    struct ccm_thread *thread = arg;

    thread->run(thread->arg);
    ccm_lock(&thread->lock);
    thread->ended = true;
    ccm_wake_one(&thread->change);
    ccm_unlock(&thread->lock);
    return NULL;
}

static void thread_fini_lock(struct ccm_thread *thread)
{
    ccm_cond_fini(&thread->change);
    ccm_lock_fini(&thread->lock);
}

int ccm_thread_start(struct ccm_thread *thread, void (*run)(void *arg), void *arg)
{
    thread->run = run;
    thread->arg = arg;
    thread->ended = false;

    int r = -pthread_mutex_init(&thread->lock, NULL);

    if (r < 0) {
        return r;
    }
    r = ccm_clock_cond_init(&thread->change);
    if (r < 0) {
        ccm_lock_fini(&thread->lock);
        return r;
    }
    r = -pthread_create(&thread->id, NULL, thread_main, thread);
    if (r < 0) {
        thread_fini_lock(thread);
        return r;
    }
    thread->started = true;
    return 0;
}

int ccm_thread_join(struct ccm_thread *thread, int64_t deadline_ms)
{
    int r = 0;

    if (!thread->started) {
        return 0;
    }
    ccm_lock(&thread->lock);
    while (!thread->ended && r == 0) {
        r = ccm_clock_cond_wait(&thread->change, &thread->lock, deadline_ms);
    }

    const bool ended = thread->ended;

    ccm_unlock(&thread->lock);
    if (!ended) {
        return -ETIMEDOUT;
    }
    (void)pthread_join(thread->id, NULL); /* about to end; joinable, and joined once */
    thread_fini_lock(thread);
    thread->started = false;
    return 0;
}
