/* Workers that sleep, and what wakes them. */
#include "sched/queue.h"
#include "util/clock.h"
#include "util/text.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PATIENCE_MS 20000

/* How often somebody has gone to sleep. The queue sleeps with its lock held at both ends, so that
 * whoever calls it after it was counted finds the sleeper asleep. */
static atomic_uint sleeps;

int __real_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms);
int __wrap_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms);

int __wrap_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms)
{
    atomic_fetch_add(&sleeps, 1);
    return __real_ccm_clock_cond_wait(cond, mutex, deadline_ms);
}

/* A worker that takes one key. */
struct worker {
    struct sched_queue *queue;
    pthread_t thread;
    char key[16];
    uint64_t lane;
    int result;
};

static void *worker_take_key(void *arg)
{
    struct worker *worker = arg;
    struct sched_queue_item item;

    worker->result = sched_queue_get(worker->queue, ccm_clock_now_ms() + PATIENCE_MS, &item);
    if (worker->result == 0) {
        ccm_text_copy(worker->key, sizeof(worker->key), item.key);
        worker->lane = item.lane;
        sched_queue_done(worker->queue, item.key);
    }
    return NULL;
}

static void worker_start(struct worker *worker, struct sched_queue *queue)
{
    const unsigned before = atomic_load(&sleeps);
    const int64_t end = ccm_clock_now_ms() + PATIENCE_MS;

    *worker = (struct worker){ .queue = queue };
    assert_int_equal(pthread_create(&worker->thread, NULL, worker_take_key, worker), 0);
    while (atomic_load(&sleeps) == before) {
        assert_true(ccm_clock_now_ms() < end);
    }
}

/* What it took, before its time was over. */
static void worker_expect(struct worker *worker, const char *key, uint64_t lane)
{
    assert_int_equal(pthread_join(worker->thread, NULL), 0);
    assert_int_equal(worker->result, 0);
    assert_string_equal(worker->key, key);
    assert_int_equal(worker->lane, lane);
}

/* One worker has the only key that all may take, one is kept for removals and backends. */
static struct sched_queue *queue_make_crowded(struct worker *kept)
{
    struct sched_queue *queue = sched_queue_new(&(struct sched_queue_options){ .common_max = 1 });
    struct sched_queue_item item;

    assert_non_null(queue);
    assert_int_equal(sched_queue_add(queue, "a/long", CCM_LANE_SPEC), 0);
    assert_int_equal(sched_queue_get(queue, 0, &item), 0);
    assert_int_equal(sched_queue_add(queue, "a/late", CCM_LANE_BULK), 0);
    worker_start(kept, queue);
    return queue;
}

/* A key that nobody may take becomes one that the kept worker may: it hears of it. */
static void test_moved_key_wakes(void **state)
{
    static const uint64_t lanes[] = { CCM_LANE_BACKENDS, CCM_LANE_REMOVE };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(lanes); i++) {
        struct worker kept;
        struct sched_queue *queue = queue_make_crowded(&kept);

        assert_int_equal(sched_queue_add(queue, "a/late", lanes[i]), 0);
        worker_expect(&kept, "a/late", lanes[i]);
        sched_queue_done(queue, "a/long");
        sched_queue_free(queue);
    }
}

/* So does a new key, one whose delay is over, and one that was processed meanwhile. */
static void test_added_key_wakes(void **state)
{
    struct worker kept;
    struct sched_queue *queue = queue_make_crowded(&kept);

    (void)state;
    assert_int_equal(sched_queue_add(queue, "a/gone", CCM_LANE_REMOVE), 0);
    worker_expect(&kept, "a/gone", CCM_LANE_REMOVE);

    worker_start(&kept, queue);
    assert_int_equal(sched_queue_add_after(queue, "a/node", CCM_LANE_BACKENDS, 10), 0);
    worker_expect(&kept, "a/node", CCM_LANE_BACKENDS);

    worker_start(&kept, queue);
    assert_int_equal(sched_queue_add(queue, "a/long", CCM_LANE_BACKENDS), 0);
    sched_queue_done(queue, "a/long");
    worker_expect(&kept, "a/long", CCM_LANE_BACKENDS);
    sched_queue_free(queue);
}

/* What nobody may take yet wakes nobody for good, and whoever gives a common key back is followed
 * by the next. */
static void test_common_key_follows(void **state)
{
    struct worker kept;
    struct sched_queue *queue = queue_make_crowded(&kept);

    (void)state;
    sched_queue_done(queue, "a/long");
    assert_int_equal(sched_queue_add(queue, "a/more", CCM_LANE_BULK), 0);
    worker_expect(&kept, "a/late", CCM_LANE_BULK);
    sched_queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved_key_wakes),
        cmocka_unit_test(test_added_key_wakes),
        cmocka_unit_test(test_common_key_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
