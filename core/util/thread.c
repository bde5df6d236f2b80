#include "util/thread.h"

#include "util/clock.h"

#include <errno.h>

static void *thread_main(void *arg)
{
    struct ccm_thread *thread = arg;

    thread->run(thread->arg);
    (void)pthread_mutex_lock(&thread->lock); /* a default mutex, never taken twice */
    thread->ended = true;
    (void)pthread_cond_signal(&thread->change); /* cannot fail on a valid condition */
    (void)pthread_mutex_unlock(&thread->lock);  /* held by this thread */
    return NULL;
}

static void thread_fini_lock(struct ccm_thread *thread)
{
    (void)pthread_cond_destroy(&thread->change); /* nobody waits */
    (void)pthread_mutex_destroy(&thread->lock);  /* nobody holds it */
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
        (void)pthread_mutex_destroy(&thread->lock); /* nobody holds it */
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
    (void)pthread_mutex_lock(&thread->lock); /* as above */
    while (!thread->ended && r == 0) {
        r = ccm_clock_cond_wait(&thread->change, &thread->lock, deadline_ms);
    }

    const bool ended = thread->ended;

    (void)pthread_mutex_unlock(&thread->lock); /* held by this thread */
    if (!ended) {
        return -ETIMEDOUT;
    }
    (void)pthread_join(thread->id, NULL); /* about to end; joinable, and joined once */
    thread_fini_lock(thread);
    thread->started = false;
    return 0;
}
