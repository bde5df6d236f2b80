/* A queue with a clock of its own, for tests of what it hands out and when. */
#ifndef TEST_QUEUE_FIXTURE_H
#define TEST_QUEUE_FIXTURE_H

#include "sched/queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/clock.h"

/* A clock that only moves when told; a queue with it never waits. */
struct fixture {
    int64_t now_ms;
    struct sched_queue *queue;
};

static inline int64_t fake_now(void *arg)
{
    return ((struct fixture *)arg)->now_ms;
}

static inline int set_up(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){ .now_ms = 1000 };
    fixture.queue = sched_queue_new(
        &(struct sched_queue_options){ .now_ms = fake_now, .arg = &fixture, .seed = 7 });
    *state = &fixture;
    return fixture.queue == NULL ? -1 : 0;
}

static inline int tear_down(void **state)
{
    sched_queue_free(((struct fixture *)*state)->queue);
    return 0;
}

static inline void add_key(struct fixture *f, const char *key, uint64_t lane)
{
    assert_int_equal(sched_queue_add(f->queue, key, lane), 0);
}

static inline void add_after(struct fixture *f, const char *key, uint64_t lane, int64_t delay_ms)
{
    assert_int_equal(sched_queue_add_after(f->queue, key, lane, delay_ms), 0);
}

/* The next key is `key` (NULL: none is ready). It stays with the caller. */
static inline void expect_get(struct fixture *f, const char *key)
{
    struct sched_queue_item item = { 0 };
    const int r = sched_queue_get(f->queue, 0, &item);

    if (key == NULL) {
        assert_int_equal(r, -ETIMEDOUT);
    } else {
        assert_int_equal(r, 0);
        assert_string_equal(item.key, key);
    }
}

static inline void expect_run(struct fixture *f, const char *key)
{
    expect_get(f, key);
    sched_queue_done(f->queue, key);
}

static inline struct sched_queue_stats stats_of(struct fixture *f)
{
    struct sched_queue_stats stats;

    sched_queue_get_stats(f->queue, &stats);
    return stats;
}

static inline struct ccm_error error_of(uint64_t kind)
{
    struct ccm_error err = CCM_ERROR_INIT;

    err.kind = kind;
    return err;
}

#define QUEUE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

#endif
