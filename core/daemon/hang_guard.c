#include "daemon/hang_guard.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/thread.h"

#include <signal.h>
#include <unistd.h>

#define HANG_MS    120000 /* beyond what /livez bears */
#define LOOK_MS    1000
#define SPARE_MS   10000 /* beyond what the end may take, and until it begins */
#define STOPPED_MS 5000  /* a look that comes so late: the whole process stood still */

static const struct ccm_log guard_log = { .part = "ccmd" };

struct daemon_hang_guard {
    struct daemon_observed *seen;
    void (*end)(void *arg);
    void *arg;
    pthread_t thread;
    pthread_mutex_t
        lock; /* guards what follows, and that nothing of `seen` goes while it is read */
    pthread_cond_t change;
    int64_t end_ms; /* when the process has to be gone; 0 = it does not end */
    int64_t looked_ms;
    int64_t awake_ms; /* since when the process runs as far as is known */
    int64_t begin_ms; /* when its end has to have begun, since it was told to; 0 = it was not */
    bool stopping;
};

/* Not in order: the thread that would do it hangs. See exit_as_failed() in main.c. */
static void guard_kill_process(const char *why)
{
    ccm_log_error(&guard_log, "%s: the process is ended at once", why);
    (void)kill(getpid(), SIGALRM); /* always allowed */
}

/* Signals, containers that are frozen, machines that are paused: time went on for nobody but the
 * clock, and calls that were under way then need theirs to end. */
static void guard_note_time_locked(struct daemon_hang_guard *guard, int64_t now)
{
    const int64_t late_ms = now - guard->looked_ms - LOOK_MS;

    if (late_ms >= STOPPED_MS) {
        guard->awake_ms = now;
        guard->end_ms += guard->end_ms > 0 ? late_ms : 0;
        guard->begin_ms += guard->begin_ms > 0 ? late_ms : 0;
    }
    guard->looked_ms = now;
}

static void guard_look_locked(struct daemon_hang_guard *guard, int64_t now)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { .max = 65536 };

    if (guard->begin_ms > 0 || now - guard->awake_ms < HANG_MS) {
        return;
    }
    daemon_observe_hung(guard->seen, HANG_MS, &wrong);
    if (wrong.len == 0) {
        return;
    }
    guard->begin_ms = now + SPARE_MS;
    ccm_log_error(&guard_log, "ending, because nothing else helps: %s", ccm_buf_str(&wrong));
    if (atomic_load(&guard->seen->creating)) {
        guard_kill_process("create() of a plugin hangs");
    } else {
        guard->end(guard->arg);
    }
}

static void *guard_run_thread(void *arg)
{
    struct daemon_hang_guard *guard = arg;

    ccm_lock(&guard->lock);
    while (!guard->stopping) {
        const int64_t now = ccm_clock_now_ms();

        guard_note_time_locked(guard, now);
        if (guard->end_ms == 0 && guard->begin_ms > 0 && now >= guard->begin_ms) {
            guard_kill_process("the end does not begin: the main thread hangs, too");
        } else if (guard->end_ms == 0) {
            guard_look_locked(guard, now);
        } else if (now >= guard->end_ms) {
            guard_kill_process("the end takes too long: stop() or destroy() of a plugin hangs");
        }
        (void)ccm_clock_cond_wait(&guard->change, &guard->lock, now + LOOK_MS); /* looks again */
    }
    ccm_unlock(&guard->lock);
    return NULL;
}

struct daemon_hang_guard *daemon_hang_guard_start(struct daemon_observed *seen,
                                                  void (*end)(void *arg), void *arg)
{
    struct daemon_hang_guard *guard = calloc(1, sizeof(*guard));

    if (guard == NULL || pthread_mutex_init(&guard->lock, NULL) != 0) {
        free(guard);
        return NULL;
    }
    guard->seen = seen;
    guard->end = end;
    guard->arg = arg;
    guard->looked_ms = ccm_clock_now_ms();
    guard->awake_ms = guard->looked_ms;
    if (ccm_clock_cond_init(&guard->change) < 0) {
        ccm_lock_fini(&guard->lock);
        free(guard);
        return NULL;
    }
    if (pthread_create(&guard->thread, NULL, guard_run_thread, guard) != 0) {
        ccm_cond_fini(&guard->change);
        ccm_lock_fini(&guard->lock);
        free(guard);
        return NULL;
    }
    return guard;
}

void daemon_hang_guard_note_end(struct daemon_hang_guard *guard, int64_t stop_ms)
{
    if (guard != NULL) {
        ccm_lock(&guard->lock);
        guard->end_ms = ccm_clock_now_ms() + stop_ms + SPARE_MS;
        ccm_unlock(&guard->lock);
    }
}

void daemon_hang_guard_free(struct daemon_hang_guard *guard)
{
    if (guard == NULL) {
        return;
    }
    ccm_lock(&guard->lock);
    guard->stopping = true;
    ccm_wake_one(&guard->change);
    ccm_unlock(&guard->lock);
    (void)pthread_join(guard->thread, NULL); /* a joinable thread, joined once */
    ccm_cond_fini(&guard->change);
    ccm_lock_fini(&guard->lock);
    free(guard);
}
