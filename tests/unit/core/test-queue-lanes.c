/* Which key of a queue comes next. */
#include "queue_fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/attr.h"

/* --- lanes ---------------------------------------------------------------------------------- */

static void test_moves_up_never_down(void **state)
{
    struct fixture *f = *state;

    add_key(f, "a", CCM_LANE_BULK);
    add_key(f, "b", CCM_LANE_URGENT);
    add_key(f, "c", CCM_LANE_BULK);
    add_key(f, "c", CCM_LANE_URGENT);
    add_key(f, "b", CCM_LANE_BULK);
    assert_int_equal(stats_of(f).depth[CCM_LANE_URGENT], 2);
    assert_int_equal(stats_of(f).depth[CCM_LANE_BULK], 1);
    expect_run(f, "b");
    expect_run(f, "c");
    expect_run(f, "a");
    expect_get(f, NULL);
}

/* How often each lane is served in `gets` takes, when each lane of `busy` never runs dry. */
static void test_lane_shares(void **state)
{
    static const struct {
        bool busy[SCHED_QUEUE_LANES];
        int gets;
        int served[SCHED_QUEUE_LANES];
    } table[] = {
        { { true, true, true, true }, 15, { 8, 4, 2, 1 } },
        { { true, true, true, true }, 150, { 80, 40, 20, 10 } },
        { { true, true, true, true, true }, 230, { 80, 40, 20, 10, 80 } },
        { { false, false, false, true, true }, 9, { 0, 0, 0, 1, 8 } },
        { { true, false, false, true }, 90, { 80, 0, 0, 10 } },
        { { false, true, true, false }, 60, { 0, 40, 20, 0 } },
        { { false, false, false, true }, 5, { 0, 0, 0, 5 } },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(table); i++) {
        void *own = NULL;
        int served[SCHED_QUEUE_LANES] = { 0 };

        assert_int_equal(set_up(&own), 0);

        struct fixture *f = own;
        char key[32];

        for (int n = 0; n < table[i].gets; n++) {
            for (uint64_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
                if (table[i].busy[lane]) {
                    (void)snprintf(key, sizeof(key), "%d-%d", (int)lane, n);
                    add_key(f, key, lane);
                }
            }

            struct sched_queue_item item;

            assert_int_equal(sched_queue_get(f->queue, 0, &item), 0);
            served[item.lane]++;
            sched_queue_done(f->queue, item.key);
        }
        assert_memory_equal(served, table[i].served, sizeof(served));
        (void)tear_down(&own);
    }
}

/* Namespaces take turns in each lane; one that has taken its turn goes behind the others. */
static void test_namespaces_take_turns(void **state)
{
    struct fixture *f = *state;
    char key[32];

    for (int i = 0; i < 400; i++) {
        (void)snprintf(key, sizeof(key), "many/%d", i);
        add_key(f, key, CCM_LANE_URGENT);
    }
    add_key(f, "few/0", CCM_LANE_URGENT);
    add_key(f, "other/0", CCM_LANE_URGENT);
    add_key(f, "few/1", CCM_LANE_URGENT);
    add_key(f, "node", CCM_LANE_URGENT); /* of no namespace */
    expect_run(f, "many/0");
    expect_run(f, "few/0");
    expect_run(f, "other/0");
    expect_run(f, "node");
    expect_run(f, "many/1");
    expect_run(f, "few/1");
    expect_run(f, "many/2");
    expect_run(f, "many/3");
    add_key(f, "few/2", CCM_LANE_BULK); /* its turn in one lane is none in another */
    add_key(f, "few/2", CCM_LANE_URGENT);
    expect_run(f, "many/4");
    expect_run(f, "few/2");
    assert_int_equal(stats_of(f).depth[CCM_LANE_URGENT], 395);
}

/* Long work of other lanes never takes all workers. */
static void test_kept_lanes(void **state)
{
    struct fixture own = { .now_ms = 1000 };
    struct fixture *f = &own;

    (void)state;
    own.queue = sched_queue_new(&(struct sched_queue_options){
        .now_ms = fake_now, .arg = &own, .seed = 7, .common_max = 2 });
    assert_non_null(own.queue);
    add_key(f, "a/1", CCM_LANE_URGENT);
    add_key(f, "a/2", CCM_LANE_SPEC);
    add_key(f, "a/3", CCM_LANE_BULK);
    expect_get(f, "a/1");
    expect_get(f, "a/2");
    expect_get(f, NULL); /* that worker is kept */
    add_key(f, "b/1", CCM_LANE_BACKENDS);
    add_key(f, "b/2", CCM_LANE_REMOVE);
    expect_get(f, "b/2");
    expect_get(f, "b/1");
    expect_get(f, NULL);
    sched_queue_done(f->queue, "b/1");
    expect_get(f, NULL);
    add_key(f, "a/3", CCM_LANE_BACKENDS); /* it moves up, and so out of the crowd */
    expect_run(f, "a/3");
    add_key(f, "a/4", CCM_LANE_SPEC);
    sched_queue_done(f->queue, "a/1");
    expect_get(f, "a/4");
    sched_queue_done(f->queue, "a/4");
    sched_queue_done(f->queue, "a/2");
    sched_queue_done(f->queue, "b/2");
    assert_int_equal(stats_of(f).processing, 0);
    sched_queue_free(own.queue);
}

/* A removal of a backend comes no later because the Service was edited as well. */
static void test_edited_key_keeps_its_worker(void **state)
{
    static const struct {
        uint64_t first;
        uint64_t second;
        int64_t delay_ms;
        uint64_t told; /* the lane it is handed out with */
        uint64_t counted;
        bool kept;
    } rows[] = {
        { CCM_LANE_BACKENDS, CCM_LANE_SPEC, 0, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_SPEC, CCM_LANE_BACKENDS, 0, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_BACKENDS, CCM_LANE_URGENT, 0, CCM_LANE_BACKENDS, CCM_LANE_URGENT, true },
        { CCM_LANE_BULK, CCM_LANE_BACKENDS, 0, CCM_LANE_BACKENDS, CCM_LANE_BACKENDS, true },
        { CCM_LANE_BACKENDS, CCM_LANE_BULK, 0, CCM_LANE_BACKENDS, CCM_LANE_BACKENDS, true },
        { CCM_LANE_REMOVE, CCM_LANE_BACKENDS, 0, CCM_LANE_REMOVE, CCM_LANE_REMOVE, true },
        { CCM_LANE_SPEC, CCM_LANE_REMOVE, 0, CCM_LANE_REMOVE, CCM_LANE_REMOVE, true },
        { CCM_LANE_SPEC, CCM_LANE_BACKENDS, 50, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_BACKENDS, CCM_LANE_SPEC, 50, CCM_LANE_BACKENDS, CCM_LANE_SPEC, true },
        { CCM_LANE_SPEC, CCM_LANE_URGENT, 0, CCM_LANE_URGENT, CCM_LANE_URGENT, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture own = { .now_ms = 1000 };
        struct fixture *f = &own;
        struct sched_queue_item item;

        own.queue = sched_queue_new(&(struct sched_queue_options){
            .now_ms = fake_now, .arg = &own, .seed = 7, .common_max = 1 });
        assert_non_null(own.queue);
        add_key(f, "a/long", CCM_LANE_SPEC);
        expect_get(f, "a/long");
        add_after(f, "a/edited", rows[i].first, rows[i].delay_ms);
        add_after(f, "a/edited", rows[i].second, rows[i].delay_ms);
        f->now_ms += rows[i].delay_ms;
        assert_int_equal(sched_queue_get(f->queue, 0, &item), rows[i].kept ? 0 : -ETIMEDOUT);
        if (rows[i].kept) {
            assert_string_equal(item.key, "a/edited");
            assert_int_equal(item.lane, rows[i].told);
            add_key(f, "a/edited", rows[i].first); /* while it is processed */
            add_key(f, "a/edited", rows[i].second);
            sched_queue_done(f->queue, "a/edited");
        }
        for (uint64_t lane = 0; lane < SCHED_QUEUE_LANES; lane++) {
            assert_int_equal(stats_of(f).depth[lane], lane == rows[i].counted ? 1 : 0);
        }
        if (rows[i].kept) {
            expect_run(f, "a/edited"); /* once, though it waited in two lanes */
        }
        expect_get(f, NULL);
        sched_queue_done(f->queue, "a/long");
        sched_queue_free(own.queue);
    }
}

/* Its place in either lane is the one that it came to first. */
static void test_edited_key_keeps_its_place(void **state)
{
    struct fixture own = { .now_ms = 1000 };
    struct fixture *f = &own;

    (void)state;
    own.queue = sched_queue_new(&(struct sched_queue_options){
        .now_ms = fake_now, .arg = &own, .seed = 7, .common_max = 1 });
    assert_non_null(own.queue);
    add_key(f, "a/edited", CCM_LANE_BACKENDS);
    add_key(f, "a/next", CCM_LANE_BACKENDS);
    add_key(f, "a/spec", CCM_LANE_SPEC);
    add_key(f, "a/edited", CCM_LANE_SPEC);
    expect_get(f, "a/spec");
    expect_run(f, "a/edited");
    expect_run(f, "a/next");
    sched_queue_done(f->queue, "a/spec");
    add_key(f, "a/edited", CCM_LANE_SPEC);
    add_key(f, "a/other", CCM_LANE_SPEC);
    add_key(f, "a/edited", CCM_LANE_BACKENDS);
    expect_run(f, "a/edited"); /* as an edit, before the other one */
    expect_run(f, "a/other");
    expect_get(f, NULL);
    sched_queue_free(own.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(test_moves_up_never_down),
        cmocka_unit_test(test_lane_shares),
        QUEUE_TEST(test_namespaces_take_turns),
        cmocka_unit_test(test_kept_lanes),
        cmocka_unit_test(test_edited_key_keeps_its_worker),
        cmocka_unit_test(test_edited_key_keeps_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
