/* What a key that goes on failing costs in an hour, with workers for whom time flies. */
#include "sched/controller.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "group_watchdog.h"

#include "util/attr.h"
#include "util/clock.h"

#define PATIENCE_MS 20000
#define HOUR_MS     INT64_C(3600000)
#define HOURS       8
#define CALLS_MAX   20000

/* A worker does not sleep: it is later. Other threads sleep as long as they would. */
static atomic_llong ahead_ms;
static _Thread_local bool is_worker;

int64_t __real_ccm_clock_now_ms(void);
int64_t __wrap_ccm_clock_now_ms(void);
int __real_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms);
int __wrap_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms);

int64_t __wrap_ccm_clock_now_ms(void)
{
    return __real_ccm_clock_now_ms() + atomic_load(&ahead_ms);
}

int __wrap_ccm_clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_ms)
{
    const int64_t left_ms = deadline_ms - __wrap_ccm_clock_now_ms();

    if (!is_worker) {
        return __real_ccm_clock_cond_wait(cond, mutex, deadline_ms - atomic_load(&ahead_ms));
    }
    atomic_fetch_add(&ahead_ms, left_ms > 0 ? left_ms : 0);
    return -ETIMEDOUT;
}

/* The calls of one key: when. */
struct ledger {
    int64_t at_ms[CALLS_MAX];
    size_t len;
    size_t passes;
    atomic_bool full; /* HOURS have passed */
};

static int ledger_fail(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                       struct ccm_error *err)
{
    static const uint64_t kinds[] = { CCM_ERROR_TRANSIENT, CCM_ERROR_TERMINAL, CCM_ERROR_THROTTLED,
                                      CCM_ERROR_AUTH, CCM_ERROR_NOT_FOUND };
    static const size_t costs[] = { 2, 9, 4, 12 };
    struct ledger *ledger = arg;
    const int64_t now = ccm_clock_now_ms();
    uint64_t most_ms = 0;

    (void)ret;
    is_worker = true;
    for (size_t i = 0; i < costs[ledger->passes % CCM_ARRAY_LEN(costs)]; i++) {
        assert_true(ledger->len < CALLS_MAX);
        ledger->at_ms[ledger->len++] = now;
        sched_controller_count_call(req);
    }
    (void)ccm_error_set(err, -EIO, kinds[ledger->passes++ % CCM_ARRAY_LEN(kinds)], "no");
    (void)sched_controller_retry_ms(req, 0, err, &most_ms); /* what is asked costs nothing */
    atomic_store(&ledger->full, now - ledger->at_ms[0] > HOURS * HOUR_MS);
    return -EIO;
}

static size_t ledger_most_calls(const struct ledger *ledger)
{
    size_t most = 0;

    for (size_t i = 0; i < ledger->len; i++) {
        size_t count = 0;

        for (size_t k = i; k < ledger->len && ledger->at_ms[i] >= ledger->at_ms[0] + HOUR_MS &&
                           ledger->at_ms[k] < ledger->at_ms[i] + HOUR_MS;
             k++) {
            count++;
        }
        most = count > most ? count : most;
    }
    return most;
}

static void test_an_hour(void **state)
{
    static struct ledger ledger;
    const int64_t end = __real_ccm_clock_now_ms() + PATIENCE_MS;
    struct sched_controller *controller = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    assert_int_equal(
        sched_controller_new(&(struct sched_controller_options){ .name = "ill",
                                                                 .workers = 1,
                                                                 .watchdog = watchdog,
                                                                 .reconcile = ledger_fail,
                                                                 .arg = &ledger },
                             &controller, &err),
        0);
    sched_controller_enqueue(controller, "default/web", CCM_LANE_SPEC, 0);
    assert_int_equal(sched_controller_start(controller, &err), 0);
    while (!atomic_load(&ledger.full)) {
        assert_true(__real_ccm_clock_now_ms() < end);
    }
    sched_controller_stop(controller);
    assert_int_equal(sched_controller_join(controller, ccm_clock_now_ms() + PATIENCE_MS), 0);
    sched_controller_free(controller);
    assert_in_range(ledger_most_calls(&ledger), 10, 30);
}

/* ---- many keys that fail together, beside one that comes back within a period ---- */

#define NODES     100
#define PERIOD_MS 300000
#define LOOK      "all nodes"

static struct {
    uint64_t kind;
    struct ledger calls; /* one each, whoever it is about */
    size_t alone;        /* calls about some of the nodes */
} batch;

static int batch_fail(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                      struct ccm_error *err)
{
    const int64_t now = ccm_clock_now_ms();
    size_t nodes = 0;

    (void)arg;
    (void)ret;
    is_worker = true;
    (void)ccm_error_set(err, -EIO, batch.kind, "no");
    for (size_t i = 0; i < req->key_count; i++) {
        if (strcmp(req->keys[i], LOOK) == 0) {
            sched_controller_settle(req, i, PERIOD_MS, err);
        } else {
            nodes++;
        }
    }
    assert_true(batch.calls.len < CALLS_MAX);
    batch.calls.at_ms[batch.calls.len++] = now;
    batch.alone += nodes % NODES;
    sched_controller_count_call(req);
    atomic_store(&batch.calls.full, now - batch.calls.at_ms[0] > HOURS * HOUR_MS);
    return -EIO;
}

/* What failed in one call comes again in one call: a hundred keys cost what one costs. */
static void check_batch(uint64_t kind, size_t least, size_t most)
{
    const int64_t end = __real_ccm_clock_now_ms() + PATIENCE_MS;
    struct sched_controller *controller = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    char name[32];

    memset(&batch, 0, sizeof(batch));
    batch.kind = kind;
    assert_int_equal(
        sched_controller_new(&(struct sched_controller_options){ .name = "ill",
                                                                 .workers = 1,
                                                                 .watchdog = watchdog,
                                                                 .batch_max = 500,
                                                                 .batch_wait_ms = 1000,
                                                                 .reconcile = batch_fail },
                             &controller, &err),
        0);
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof(name), "node-%d", i);
        sched_controller_enqueue(controller, name, CCM_LANE_URGENT, 0);
    }
    sched_controller_enqueue(controller, LOOK, CCM_LANE_BULK, 0);
    assert_int_equal(sched_controller_start(controller, &err), 0);
    while (!atomic_load(&batch.calls.full)) {
        assert_true(__real_ccm_clock_now_ms() < end);
    }
    sched_controller_stop(controller);
    assert_int_equal(sched_controller_join(controller, ccm_clock_now_ms() + PATIENCE_MS), 0);
    sched_controller_free(controller);
    assert_int_equal(batch.alone, 0);
    assert_in_range(ledger_most_calls(&batch.calls), least, most);
}

/* Four tries of the nodes and twelve of the look. Those that are terminal are tried once or twice;
 * those that the other side throttles come at their own pace, six times each at most. */
static void test_an_hour_of_many_that_fail_together(void **state)
{
    (void)state;
    check_batch(CCM_ERROR_TRANSIENT, 12, 16);
    check_batch(CCM_ERROR_AUTH, 12, 16);
    check_batch(CCM_ERROR_THROTTLED, 4, 12);
    check_batch(CCM_ERROR_TERMINAL, 12, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_hour),
        cmocka_unit_test(test_an_hour_of_many_that_fail_together),
    };

    return cmocka_run_group_tests(tests, start_watchdog, end_watchdog);
}
