/* Threads that are joined with a deadline. */
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool open;
    int passed;
};

static void pass(void *arg)
{
    struct gate *gate = arg;

    pthread_mutex_lock(&gate->lock);
    while (!gate->open) {
        pthread_cond_wait(&gate->change, &gate->lock);
    }
    gate->passed++;
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_signal(&gate->change);
    pthread_mutex_unlock(&gate->lock);
}

static void joining_has_a_deadline(void **state)
{
    struct gate gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };
    struct ccm_thread thread = { 0 };

    (void)state;
    assert_int_equal(ccm_thread_start(&thread, pass, &gate), 0);
    assert_int_equal(ccm_thread_join(&thread, ccm_clock_now_ms() + 10), -ETIMEDOUT);
    assert_int_equal(ccm_thread_join(&thread, 0), -ETIMEDOUT);
    open_gate(&gate);
    assert_int_equal(ccm_thread_join(&thread, ccm_clock_now_ms() + 60000), 0);
    assert_int_equal(gate.passed, 1);
}

static void joining_twice_or_nothing_is_fine(void **state)
{
    struct gate gate = { .lock = PTHREAD_MUTEX_INITIALIZER,
                         .change = PTHREAD_COND_INITIALIZER,
                         .open = true };
    struct ccm_thread thread = { 0 };

    (void)state;
    assert_int_equal(ccm_thread_join(&thread, 0), 0);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(ccm_thread_start(&thread, pass, &gate), 0);
        assert_int_equal(ccm_thread_join(&thread, ccm_clock_now_ms() + 60000), 0);
        assert_int_equal(ccm_thread_join(&thread, 0), 0);
        assert_int_equal(gate.passed, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joining_has_a_deadline),
        cmocka_unit_test(joining_twice_or_nothing_is_fine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
