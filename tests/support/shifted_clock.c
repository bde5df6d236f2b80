/*
 * Preloaded into a process under test. Two things, each by an environment variable:
 * CCM_TEST_CLOCK=FILE: its wall clock is off by as many milliseconds as the file says (eight bytes,
 * which may be others at any moment).
 * CCM_TEST_TIME=SCALE,BEGAN: all its clocks run SCALE times as fast since the moment BEGAN of the
 * monotonic clock, in nanoseconds, and its waits are as much shorter. Processes with the same two
 * numbers have the same time.
 * Reads the kernel's clock without any library, so it works below the sanitizers, too.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

/* That of the C library or of a sanitizer: what a sanitizer knows of a wait it knows still. */
#define CALL_NEXT(name, ...)                                                                       \
    do {                                                                                           \
        __typeof__(name) *call;                                                                    \
                                                                                                   \
        *(void **)&call = dlsym(RTLD_NEXT, #name);                                                 \
        return call(__VA_ARGS__);                                                                  \
    } while (0)

static const _Atomic int64_t *shift_ms;
static int64_t scale = 1;
static int64_t began_ns;

static int64_t read_number(const char **text)
{
    int64_t number = 0;

    for (; **text >= '0' && **text <= '9'; (*text)++) {
        number = number * 10 + (**text - '0');
    }
    return number;
}

__attribute__((constructor)) static void shift_open(void)
{
    const char *path = getenv("CCM_TEST_CLOCK");
    const char *text = getenv("CCM_TEST_TIME");
    const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        void *page = mmap(NULL, sizeof(*shift_ms), PROT_READ, MAP_SHARED, fd, 0);

        shift_ms = page == MAP_FAILED ? NULL : page;
        (void)close(fd); /* the page stays */
    }
    if (text != NULL) {
        scale = read_number(&text);
        text += *text == ',' ? 1 : 0;
        began_ns = read_number(&text);
        if (*text != '\0' || scale < 1 || began_ns < 1) {
            abort(); /* not a test of ours */
        }
    }
}

static int64_t to_ns(const struct timespec *ts)
{
    return ts->tv_sec * SECOND + ts->tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

/* What a wait takes in the time of everybody else, rounded up, in the same unit. */
static int64_t shorter(int64_t wait)
{
    return wait <= 0 ? wait : (wait + scale - 1) / scale;
}

static int64_t kernel_ns(clockid_t id)
{
    struct timespec ts = { 0 };

    (void)syscall(SYS_clock_gettime, id, &ts); /* cannot fail for clocks that exist */
    return to_ns(&ts);
}

static int read_clock(clockid_t id, struct timespec *ts)
{
    const int r = (int)syscall(SYS_clock_gettime, id, ts);

    if (r != 0 || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0) {
        return r;
    }
    int64_t ns = to_ns(ts);

    if (scale > 1) {
        ns += (kernel_ns(CLOCK_MONOTONIC) - began_ns) * (scale - 1);
    }
    if (shift_ms != NULL && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        ns += atomic_load(shift_ms) * 1000000;
    }
    *ts = to_timespec(ns);
    return r;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
    return read_clock(id, ts);
}

int timespec_get(struct timespec *ts, int base)
{
    return base == TIME_UTC && read_clock(CLOCK_REALTIME, ts) == 0 ? base : 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec ts = { 0 };
    const int r = read_clock(CLOCK_REALTIME, &ts);

    (void)zone; /* nobody asks for it any more */
    *tv = (struct timeval){ .tv_sec = ts.tv_sec, .tv_usec = ts.tv_nsec / 1000 };
    return r;
}

time_t time(time_t *ret)
{
    struct timespec ts = { 0 };

    (void)read_clock(CLOCK_REALTIME, &ts); /* cannot fail for this clock */
    if (ret != NULL) {
        *ret = ts.tv_sec;
    }
    return ts.tv_sec;
}

/* Of the monotonic clock, as all of ours are: core/util/clock.c. */
int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline)
{
    const int64_t now = kernel_ns(CLOCK_MONOTONIC);
    const int64_t left = to_ns(deadline) - (now + (now - began_ns) * (scale - 1));
    const struct timespec ts = scale > 1 ? to_timespec(now + shorter(left)) : *deadline;

    CALL_NEXT(pthread_cond_timedwait, cond, mutex, &ts);
}

/* What is left when a signal cuts it short is not used. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    const struct timespec ts = to_timespec(shorter(to_ns(wanted)));

    CALL_NEXT(nanosleep, &ts, left);
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                 const struct timespec *restrict timeout)
{
    const struct timespec ts = to_timespec(shorter(timeout == NULL ? 0 : to_ns(timeout)));

    CALL_NEXT(sigtimedwait, set, info, timeout == NULL ? NULL : &ts);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    const struct timespec ts = to_timespec(shorter(timeout_ms < 0 ? 0 : timeout_ms * 1000000LL));

    CALL_NEXT(ppoll, fds, count, timeout_ms < 0 ? NULL : &ts, NULL);
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout_ms)
{
    CALL_NEXT(epoll_wait, epoll, events, count, (int)shorter(timeout_ms));
}

/* What is left of the timeout is not used. */
int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
           struct timeval *restrict timeout)
{
    const int64_t wait_us = timeout == NULL ? 0 : timeout->tv_sec * 1000000LL + timeout->tv_usec;
    struct timeval tv = { .tv_sec = shorter(wait_us) / 1000000,
                          .tv_usec = shorter(wait_us) % 1000000 };

    CALL_NEXT(select, count, in, out, except, timeout == NULL ? NULL : &tv);
}
