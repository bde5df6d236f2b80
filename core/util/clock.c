#include "util/clock.h"

#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(id, &ts); /* cannot fail for these clocks */
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t ccm_clock_now_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

int64_t ccm_clock_now_us(void)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t ccm_clock_boot_ms(void)
{
    return read_ms(CLOCK_BOOTTIME);
}

int64_t ccm_clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

static void format_seconds(int64_t wall_ms, char *text, size_t size)
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;

    if (gmtime_r(&seconds, &tm) == NULL || strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
        text[0] = '\0';
    }
}

void ccm_clock_format(int64_t wall_ms, char *text, size_t size)
{
    char seconds[CCM_CLOCK_TEXT];

    format_seconds(wall_ms, seconds, sizeof(seconds));
    ccm_text_printf(text, size, "%sZ", seconds);
}

void ccm_clock_format_micro(int64_t wall_ms, char *text, size_t size)
{
    char seconds[CCM_CLOCK_TEXT];

    format_seconds(wall_ms, seconds, sizeof(seconds));
    ccm_text_printf(text, size, "%s.%06dZ", seconds, (int)(wall_ms % 1000) * 1000);
}

int ccm_clock_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    int r = pthread_condattr_init(&attr);

    if (r != 0) {
        return -r;
    }
    r = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (r == 0) {
        r = pthread_cond_init(cond, &attr);
    }
    (void)pthread_condattr_destroy(&attr); /* a valid attribute object */
    return -r;
}

int ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms)
{
    const struct timespec ts = {
        .tv_sec = (time_t)(deadline_ms / 1000),
        .tv_nsec = (long)(deadline_ms % 1000) * 1000000,
    };

    return -pthread_cond_timedwait(cond, mutex, &ts);
}
