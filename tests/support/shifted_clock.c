/*
 * Preloaded into a process under test: its wall clock is off by as many milliseconds as the file
 * named in CCM_TEST_CLOCK says (eight bytes, which may be others at any moment). The other clocks
 * stay. Reads the kernel's clock without any library, so it works below the sanitizers, too.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *shift_ms;

__attribute__((constructor)) static void shift_open(void)
{
    const char *path = getenv("CCM_TEST_CLOCK");
    const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        void *page = mmap(NULL, sizeof(*shift_ms), PROT_READ, MAP_SHARED, fd, 0);

        shift_ms = page == MAP_FAILED ? NULL : page;
        (void)close(fd); /* the page stays */
    }
}

static int read_clock(clockid_t id, struct timespec *ts)
{
    const int r = (int)syscall(SYS_clock_gettime, id, ts);

    if (r == 0 && shift_ms != NULL && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        const int64_t shift = atomic_load(shift_ms);

        ts->tv_sec += shift / 1000;
        ts->tv_nsec += shift % 1000 * 1000000;
        if (ts->tv_nsec < 0) {
            ts->tv_nsec += 1000000000;
            ts->tv_sec--;
        } else if (ts->tv_nsec >= 1000000000) {
            ts->tv_nsec -= 1000000000;
            ts->tv_sec++;
        }
    }
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
