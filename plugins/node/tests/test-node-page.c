/* When the periodic look comes to which nodes. */
#include "node/page.h"
#include "support/fake_host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES_MAX 5000
#define ROUNDS    4
#define TOOK_MS   20 /* a page */

struct kit {
    struct fake_host *fake;
    struct node_control control;
    struct ccm_request req;
    struct ccm_node nodes[NODES_MAX];
    char names[NODES_MAX][32];
    char providers[NODES_MAX][64];
    unsigned looks[NODES_MAX]; /* of this round */
    size_t len;
};

/* Regions change from node to node. */
static void kit_begin(struct kit *kit, size_t nodes, size_t regions, int64_t period_s)
{
    memset(kit, 0, sizeof(*kit));
    kit->fake = fake_host_new();
    kit->control.host = fake_host_table(kit->fake);
    kit->control.period_ms = period_s * 1000;
    kit->len = nodes;
    for (size_t i = 0; i < nodes; i++) {
        (void)snprintf(kit->names[i], sizeof(kit->names[i]), "node-%zu", i);
        (void)snprintf(kit->providers[i], sizeof(kit->providers[i]), "cn-%zu.i-%zu", i % regions,
                       i);
        kit->nodes[i] = (struct ccm_node){ .meta = { .struct_size = sizeof(kit->nodes[i]),
                                                     .kind = CCM_KIND_NODE,
                                                     .key = kit->names[i],
                                                     .name = kit->names[i],
                                                     .namespace_ = "",
                                                     .uid = "u" },
                                           .provider_id = kit->providers[i] };
        fake_host_put(kit->fake, &kit->nodes[i].meta);
    }
}

static void kit_end(struct kit *kit)
{
    node_page_turn(&(struct node_run){ .control = &kit->control });
    assert_int_equal(fake_host_borrowed(kit->fake), 0);
    fake_host_free(kit->fake);
}

static void kit_note_page(struct kit *kit, const struct node_run *run)
{
    assert_true(run->len > 0 && run->len <= NODE_KEYS_MAX);
    for (size_t i = 0; i < run->len; i++) {
        kit->looks[(const struct ccm_node *)run->items[i].object - kit->nodes]++;
    }
}

/* One call, as the controller makes it. Returns whether the round is through. */
static bool kit_look(struct kit *kit, int64_t *ret_at_ms)
{
    struct node_run run = { .control = &kit->control, .req = &kit->req };
    uint64_t delay_ms = 0;

    fake_host_advance(kit->fake, NODE_BURST_MS);
    run.started_ms = fake_host_now(kit->fake);
    *ret_at_ms = run.started_ms;
    assert_int_equal(node_page_take(&run), 0);
    kit_note_page(kit, &run);
    fake_host_advance(kit->fake, TOOK_MS * (int64_t)((run.len + 99) / 100));

    const bool last = run.page_end == NULL;

    delay_ms = node_page_delay_ms(&run);
    node_page_turn(&run);
    node_run_fini(&run);
    fake_host_advance(kit->fake, (int64_t)delay_ms);
    return last;
}

/* All once; returns when the round began. */
static int64_t kit_go_round(struct kit *kit, size_t *ret_calls, int64_t *ret_took_ms)
{
    int64_t began_ms = 0;
    int64_t at_ms = 0;
    bool last = kit_look(kit, &began_ms);

    at_ms = began_ms;
    for (*ret_calls = 1; !last; ++*ret_calls) {
        last = kit_look(kit, &at_ms);
    }
    *ret_took_ms = at_ms - began_ms;
    for (size_t i = 0; i < kit->len; i++) {
        assert_int_equal(kit->looks[i], 1);
        kit->looks[i] = 0;
    }
    return began_ms;
}

/* With no more than so many calls. */
static void check_period(size_t nodes, size_t regions, int64_t period_s, size_t calls)
{
    static struct kit kit;
    int64_t before_ms = -1;
    size_t made = 0;
    int64_t took_ms = 0;

    kit_begin(&kit, nodes, regions, period_s);
    for (int i = 0; i < ROUNDS; i++) {
        const int64_t began_ms = kit_go_round(&kit, &made, &took_ms);
        const int64_t apart_ms = began_ms - before_ms;

        assert_in_range(made, (nodes + NODE_KEYS_MAX - 1) / NODE_KEYS_MAX, calls);
        assert_true(took_ms <= period_s * 1000 / 2 + NODE_BURST_MS);
        if (before_ms >= 0 && period_s > 1) {
            assert_in_range(apart_ms, period_s * 900, period_s * 1100);
        } else if (before_ms >= 0) { /* a call waits a second, and takes some time */
            assert_in_range(apart_ms, 1000, 1100);
        }
        before_ms = began_ms;
    }
    kit_end(&kit);
}

static void test_a_round_per_period(void **state)
{
    (void)state;
    check_period(1, 1, 1, 1);
    check_period(1, 1, 2, 1);
    check_period(100, 1, 5, 1);
    check_period(1, 1, 300, 1);
    check_period(150, 1, 300, 2);
    check_period(1000, 1, 300, 10);
    check_period(5000, 1, 300, 50);
    check_period(5000, 1, 120, 50);
}

/* There is not a second for each page: a call takes several. */
static void test_a_short_period(void **state)
{
    (void)state;
    check_period(300, 1, 1, 1);
    check_period(500, 1, 2, 2);
    check_period(1000, 1, 10, 5);
    check_period(5000, 1, 60, 31);
    check_period(5000, 1, 20, 10);
}

/* A page is of one region. */
static void test_many_regions(void **state)
{
    (void)state;
    check_period(30, 10, 300, 10);
    check_period(30, 10, 10, 5);
}

/* More than can be looked at within the period: one round after the other, as fast as may be. */
static void test_too_many(void **state)
{
    static struct kit kit;
    size_t calls = 0;
    int64_t took_ms = 0;

    (void)state;
    kit_begin(&kit, NODES_MAX, 1, 1);
    (void)kit_go_round(&kit, &calls, &took_ms);
    assert_int_equal(calls, NODES_MAX / NODE_KEYS_MAX);
    assert_in_range(took_ms, 9000, 11000);
    kit_end(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round_per_period),
        cmocka_unit_test(test_a_short_period),
        cmocka_unit_test(test_many_regions),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
