/* When the guard ends the process: with a thread for which time flies, and calls that are told to
 * it. */
#include "daemon/hang_guard.h"

#include "util/buf.h"
#include "util/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define HANG_S   120
#define LIMIT_MS 360000 /* so long a call may take before it hangs */
#define LOOKS    1000

/* What happens to a process, look by look of the guard, which is a second or `jump_ms` later. */
struct course {
    int64_t jump_ms; /* with look number `jump_at` */
    int jump_at;
    int call_ends_at; /* the call that began with the first look; 0 = never */
    bool stops;       /* with that look the process is told to end, in 10 s */
    int ended_at;     /* what came of it: the look with which it ended itself; 0 = it did not */
    int killed_at;    /* and the one with which it was ended */
    int look;
    int64_t now_ms;
    int64_t began_ms;     /* of the call; 0 = none runs */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t change;
    bool may_begin;
    bool is_through;
};

static struct course course;
static struct daemon_host_services services;
static struct daemon_observed seen = { .services = &services };

int64_t __real_ccm_clock_now_ms(void);
int64_t __wrap_ccm_clock_now_ms(void);
int __wrap_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms);
int __wrap_kill(pid_t process, int number);

int64_t __wrap_ccm_clock_now_ms(void)
{
    return course.now_ms;
}

static void course_await(const bool *flag)
{
    (void)pthread_mutex_lock(&course.lock);
    while (!*flag) {
        (void)pthread_cond_wait(&course.change, &course.lock);
    }
    (void)pthread_mutex_unlock(&course.lock);
}

static void course_begin(void)
{
    (void)pthread_mutex_lock(&course.lock);
    course.may_begin = true;
    (void)pthread_cond_broadcast(&course.change);
    (void)pthread_mutex_unlock(&course.lock);
}

/* The guard's: between two looks. */
int __wrap_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms)
{
    if (course.look == LOOKS) {
        (void)pthread_mutex_lock(&course.lock);
        course.is_through = true;
        (void)pthread_cond_broadcast(&course.change);
        (void)pthread_mutex_unlock(&course.lock);
        return -pthread_cond_wait(cond, mutex);
    }
    if (course.look == 0) {
        (void)pthread_mutex_unlock(mutex);
        course_await(&course.may_begin);
        (void)pthread_mutex_lock(mutex);
    }
    course.look++;
    course.now_ms = deadline_ms + (course.look == course.jump_at ? course.jump_ms : 0);
    if (course.look == course.call_ends_at) {
        course.began_ms = 0;
    }
    return -ETIMEDOUT;
}

/* Stand for what the guard asks. */

int64_t config_int(const struct config_tree *config, const char *plugin, const char *group,
                   const char *name)
{
    (void)config;
    (void)plugin;
    (void)group;
    (void)name;
    return HANG_S;
}

void daemon_observe_hung(struct daemon_observed *observed, int64_t grace_ms, struct ccm_buf *wrong)
{
    (void)observed;
    if (course.began_ms != 0 && course.now_ms - course.began_ms > LIMIT_MS + grace_ms) {
        ccm_buf_adds(wrong, "a call hangs\n");
    }
}

static void course_end(void *arg)
{
    (void)arg;
    assert_int_equal(course.ended_at, 0);
    course.ended_at = course.look;
}

int __wrap_kill(pid_t process, int number)
{
    assert_int_equal(process, getpid());
    assert_int_equal(number, SIGALRM);
    course.killed_at = course.killed_at == 0 ? course.look : course.killed_at;
    return 0;
}

static void course_run(struct course how)
{
    course = how;
    course.now_ms = 1000000;
    course.began_ms = course.now_ms;
    course.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    course.change = (pthread_cond_t)PTHREAD_COND_INITIALIZER;

    struct daemon_hang_guard *guard = daemon_hang_guard_start(&seen, course_end, NULL);

    assert_non_null(guard);
    if (how.stops) {
        daemon_hang_guard_note_end(guard, 10000);
    }
    course_begin();
    course_await(&course.is_through);
    daemon_hang_guard_free(guard);
}

/* What hangs is ended, and nothing else. */
static void test_a_call(void **state)
{
    (void)state;
    course_run((struct course){ .call_ends_at = 470 });
    assert_int_equal(course.ended_at, 0);
    assert_int_equal(course.killed_at, 0);
    course_run((struct course){ .call_ends_at = 0 });
    assert_in_range(course.ended_at, 480, 483);
    /* nobody heeds it */
    assert_in_range(course.killed_at, course.ended_at + 10, course.ended_at + 11);
    course_run((struct course){ .call_ends_at = 0, .jump_ms = 3600000, .jump_at = 485 });
    assert_in_range(course.killed_at, course.ended_at + 10, course.ended_at + 11);
}

/* A process that was stopped for an hour goes on, if its calls do. */
static void test_a_process_that_stood_still(void **state)
{
    (void)state;
    course_run((struct course){ .jump_ms = 3600000, .jump_at = 10, .call_ends_at = 12 });
    assert_int_equal(course.ended_at, 0);
    course_run((struct course){ .jump_ms = 3600000, .jump_at = 10, .call_ends_at = 125 });
    assert_int_equal(course.ended_at, 0);
    course_run((struct course){ .jump_ms = 3600000, .jump_at = 10 });
    assert_in_range(course.ended_at, 130, 133);
    /* a machine that is slow is no such thing */
    course_run((struct course){ .jump_ms = 4000, .jump_at = 470 });
    assert_in_range(course.ended_at, 476, 480);
}

/* The time that it has for its end is its own, too. */
static void test_one_that_stands_still_at_its_end(void **state)
{
    (void)state;
    course_run((struct course){ .stops = true });
    assert_in_range(course.killed_at, 19, 22);
    course_run((struct course){ .stops = true, .jump_ms = 3600000, .jump_at = 10 });
    assert_in_range(course.killed_at, 19, 22);
    assert_int_equal(course.ended_at, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call),
        cmocka_unit_test(test_a_process_that_stood_still),
        cmocka_unit_test(test_one_that_stands_still_at_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
