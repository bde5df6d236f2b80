/*
 * The names of the C library that make a program unpredictable: threads, locks, clocks, entropy and
 * signals. The program exports them, so the plugins that it loads and the libraries that they need
 * find these before those of the C library; the files that are tested are the files that are
 * shipped. Before sim_begin() there is one thread: locks do nothing.
 *
 * test-imports compares what the program and the plugins import with the list in imports.txt: a
 * call that blocks and is not here is found there.
 */
#define _GNU_SOURCE
#include "libc.h"
#include "order.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Laid over pthread_mutex_t and pthread_cond_t; all zero is a free one. */
struct lock {
    unsigned owner; /* thread + 1; 0 = free */
    unsigned waiters;
};
struct condition {
    unsigned waiters;
};

static bool begun;
static int pending[SIM_INSTANCES]; /* signal of each instance; 0 = none */
void (*sim_on_alarm)(int instance);

void sim_libc_begin(void)
{
    begun = true;
}

/* --- locks --- */

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    (void)attr;
    memset(mutex, 0, sizeof(*mutex));
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct lock *lock = (struct lock *)mutex;

    if (!begun) {
        return 0;
    }
    sim_yield_sometimes();
    while (lock->owner != 0) {
        lock->waiters++;
        (void)sim_wait(SIM_WAIT_LOCK, lock, SIM_FOREVER); /* there is no deadline */
        lock->waiters--;
    }
    lock->owner = sim_thread_self() + 1;
    return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct lock *lock = (struct lock *)mutex;

    if (!begun) {
        return 0;
    }
    if (lock->owner != 0) {
        return EBUSY;
    }
    lock->owner = sim_thread_self() + 1;
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct lock *lock = (struct lock *)mutex;

    lock->owner = 0;
    if (lock->waiters > 0) {
        sim_wake(SIM_WAIT_LOCK, lock, false);
    }
    return 0;
}

/* --- conditions --- */

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    memset(cond, 0, sizeof(*cond));
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static int condition_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_us)
{
    struct condition *condition = (struct condition *)cond;
    bool woken = false;

    (void)pthread_mutex_unlock(mutex);
    condition->waiters++;
    woken = sim_wait(SIM_WAIT_COND, cond, until_us);
    condition->waiters--;
    (void)pthread_mutex_lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return condition_wait(cond, mutex, SIM_FOREVER);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *at)
{
    const int64_t most_s = INT64_C(4000000000000);
    const int64_t s = at->tv_sec > most_s ? most_s : at->tv_sec;

    return condition_wait(cond, mutex, s * 1000000 + at->tv_nsec / 1000);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    if (((struct condition *)cond)->waiters > 0) {
        sim_wake(SIM_WAIT_COND, cond, true);
    }
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (((struct condition *)cond)->waiters > 0) {
        sim_wake(SIM_WAIT_COND, cond, false);
    }
    return 0;
}

/* --- threads --- */

int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    const unsigned thread = sim_thread_start(run, arg);

    (void)attr;
    *ret = (pthread_t)thread;
    return thread == 0 ? EAGAIN : 0;
}

int pthread_join(pthread_t thread, void **ret)
{
    void *result = sim_thread_join((unsigned)thread);

    if (ret != NULL) {
        *ret = result;
    }
    return 0;
}

/* --- time --- */

int clock_gettime(clockid_t id, struct timespec *ret)
{
    const int64_t us = id == CLOCK_REALTIME ? sim_wall_us() : sim_now_us();

    if (id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID) {
        return (int)syscall(SYS_clock_gettime, id, ret);
    }
    ret->tv_sec = us / 1000000;
    ret->tv_nsec = us % 1000000 * 1000;
    return 0;
}

int gettimeofday(struct timeval *ret, void *zone)
{
    (void)zone;
    ret->tv_sec = sim_wall_us() / 1000000;
    ret->tv_usec = sim_wall_us() % 1000000;
    return 0;
}

time_t time(time_t *ret)
{
    const time_t now = sim_wall_us() / 1000000;

    if (ret != NULL) {
        *ret = now;
    }
    return now;
}

int nanosleep(const struct timespec *span, struct timespec *rest)
{
    (void)rest;
    sim_sleep_us(span->tv_sec * 1000000 + span->tv_nsec / 1000);
    return 0;
}

/* --- what comes from the system --- */

ssize_t getrandom(void *bytes, size_t len, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < len; i++) {
        ((unsigned char *)bytes)[i] = (unsigned char)sim_draw(SIM_ENTROPY);
    }
    return (ssize_t)len;
}

int gethostname(char *name, size_t size)
{
    (void)snprintf(name, size, "ccmd-%d", sim_instance());
    return 0;
}

/* --- signals: an instance takes itself for a process --- */

void sim_send_signal(int instance, int number)
{
    pending[instance] = number;
    sim_wake(SIM_WAIT_SIGNAL, &pending[instance], false);
}

int kill(pid_t pid, int number)
{
    (void)pid;
    if (number == SIGALRM && sim_on_alarm != NULL) {
        sim_on_alarm(sim_instance());
    } else {
        sim_send_signal(sim_instance(), number);
    }
    return 0;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    int *mine = &pending[sim_instance()];
    const int64_t until_us = sim_now_us() + timeout->tv_sec * 1000000 + timeout->tv_nsec / 1000;
    int number = 0;

    (void)set;
    (void)info;
    if (*mine == 0) {
        (void)sim_wait(SIM_WAIT_SIGNAL, mine, until_us); /* *mine says which it was */
    }
    number = *mine;
    *mine = 0;
    errno = EAGAIN;
    return number == 0 ? -1 : number;
}

/* The real process keeps its own. */
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    (void)how;
    (void)set;
    if (old != NULL) {
        (void)sigemptyset(old); /* cannot fail */
    }
    return 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return sigprocmask(how, set, old);
}

/* <signal.h> names it __sysv_signal for strict C11. */
__sighandler_t __sysv_signal(int number, __sighandler_t handler);
__sighandler_t __sysv_signal(int number, __sighandler_t handler)
{
    (void)number;
    (void)handler;
    return SIG_DFL;
}
