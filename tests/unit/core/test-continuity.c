#include "kube/client/continuity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_all_caches_in_step(void **state)
{
    struct kube_continuity c;

    (void)state;
    assert_int_equal(kube_continuity_init(&c), 0);
    assert_int_equal(kube_continuity_since(&c, 0), 0);

    const size_t services = kube_continuity_add(&c);
    const size_t nodes = kube_continuity_add(&c);

    kube_continuity_set(&c, services, false);
    assert_int_equal(kube_continuity_since(&c, 0), 0);
    kube_continuity_set(&c, services, true);
    kube_continuity_set(&c, nodes, true);

    const int64_t since_ms = kube_continuity_since(&c, 0);

    assert_true(since_ms > 0);
    /* A watch breaks, and it turns out to be the same server. */
    kube_continuity_set(&c, nodes, false);
    assert_int_equal(kube_continuity_since(&c, 0), 0);
    kube_continuity_set(&c, nodes, true);
    assert_int_equal(kube_continuity_since(&c, 0), since_ms);
    kube_continuity_fini(&c);
}

/* What was never in step does not count; what is refused is not in step, but lets go of the gate.
 */
static void test_refused(void **state)
{
    struct ccm_gate gate = { 0 };
    struct kube_continuity_view view;
    struct kube_continuity c;

    (void)state;
    assert_int_equal(kube_continuity_init(&c), 0);
    kube_continuity_set_gate(&c, &gate);

    const size_t services = kube_continuity_add(&c);
    const size_t others = kube_continuity_add(&c);

    kube_continuity_refuse(&c, others);
    kube_continuity_set(&c, services, true);
    assert_true(kube_continuity_since(&c, 0) > 0);
    kube_continuity_set(&c, others, true);
    kube_continuity_set(&c, others, false);
    kube_continuity_break(&c, "it was replaced");
    kube_continuity_check(&c, INT64_MAX - 1, 0, KUBE_CONTINUITY_NO_LEASE, &view);
    assert_true(view.held);
    kube_continuity_refuse(&c, others);
    assert_int_equal(kube_continuity_since(&c, 0), 0);
    assert_int_equal(kube_continuity_since(&c, kube_continuity_bit(services)), 0);
    assert_true(kube_continuity_since(&c, kube_continuity_bit(others)) > 0);
    kube_continuity_check(&c, INT64_MAX - 1, 0, KUBE_CONTINUITY_NO_LEASE, &view);
    assert_true(view.ended);
    kube_continuity_set(&c, others, true);
    assert_true(kube_continuity_since(&c, 0) > 0);
    kube_continuity_fini(&c);
}

static void test_another_server(void **state)
{
    struct kube_continuity c;

    (void)state;
    assert_int_equal(kube_continuity_init(&c), 0);
    (void)kube_continuity_add(&c); /* it is number 0 */
    kube_continuity_set(&c, 0, true);
    c.since_ms = 5;
    kube_continuity_set(&c, 0, false);
    kube_continuity_break(&c, "nodes: it was replaced");
    assert_int_equal(kube_continuity_since(&c, 0), 0);
    assert_int_equal(c.breaks, 1);
    assert_string_equal(c.reason, "nodes: it was replaced");
    kube_continuity_set(&c, 0, true);
    assert_true(kube_continuity_since(&c, 0) > 5);
    /* One that the caches did not notice, being in step all the time. */
    c.since_ms = 5;
    kube_continuity_break(&c, "another Lease");
    assert_true(kube_continuity_since(&c, 0) > 5);
    kube_continuity_fini(&c);
}

static void test_more_caches_than_are_asked(void **state)
{
    struct kube_continuity c;

    (void)state;
    assert_int_equal(kube_continuity_init(&c), 0);
    for (size_t i = 0; i < KUBE_CONTINUITY_CACHES + 3; i++) {
        assert_int_equal(kube_continuity_add(&c), i);
    }
    for (size_t i = 0; i < KUBE_CONTINUITY_CACHES; i++) {
        kube_continuity_set(&c, i, true);
    }
    assert_true(kube_continuity_since(&c, 0) > 0);
    kube_continuity_set(&c, KUBE_CONTINUITY_CACHES + 1, false);
    assert_true(kube_continuity_since(&c, 0) > 0);
    kube_continuity_fini(&c);
}

/* Everything is held from the break on, until the Lease was renewed and the time is up. */
static void test_hold(void **state)
{
    struct ccm_gate gate = { 0 };
    struct kube_continuity_view view;
    struct kube_continuity c;

    (void)state;
    ccm_gate_set(&gate, CCM_GATE_ALWAYS);
    assert_int_equal(kube_continuity_init(&c), 0);
    kube_continuity_set_gate(&c, &gate);
    (void)kube_continuity_add(&c); /* it is number 0 */
    kube_continuity_set(&c, 0, true);
    kube_continuity_check(&c, 100, 60, 50, &view);
    assert_false(view.held || view.ended);
    assert_true(ccm_gate_is_open(&gate));

    kube_continuity_set(&c, 0, false);
    kube_continuity_break(&c, "nodes: it was replaced");
    assert_false(ccm_gate_is_open(&gate));
    assert_true(ccm_gate_leads(&gate));
    c.broke_ms = 1000;
    c.held_ms = 1000;
    /* The list is missing, then the renewal, then the time. */
    kube_continuity_check(&c, 5000, 60, 4000, &view);
    assert_true(view.held);
    assert_int_equal(view.held_for_ms, 4000);
    assert_string_equal(view.reason, "nodes: it was replaced");
    kube_continuity_set(&c, 0, true);
    c.since_ms = 1500;
    c.renewed_ms = 0;
    kube_continuity_check(&c, 5000, 60, 999, &view); /* sent before the break */
    assert_true(view.held);
    kube_continuity_check(&c, 5000, 60, 4990, &view);
    assert_true(view.held);
    kube_continuity_check(&c, 5049, 60, 5040, &view); /* later ones move nothing */
    assert_true(view.held);
    kube_continuity_check(&c, 5050, 60, 5040, &view);
    assert_true(view.ended);
    assert_false(view.held);
    assert_true(ccm_gate_is_open(&gate));
    kube_continuity_check(&c, 5051, 60, 5040, &view);
    assert_false(view.ended);
    kube_continuity_fini(&c);
}

/* Two servers behind one address: new lists are asked for once, when the breaks are over. */
static void test_relist_after_the_last_break(void **state)
{
    static const struct {
        int64_t settle_ms;
        int64_t calm_ms;
    } table[] = { { 0, 0 }, { 4000, 1000 }, { 40000, 10000 }, { 600000, 10000 } };
    struct kube_continuity_view view;

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const int64_t calm_ms = table[i].calm_ms;
        int64_t now_ms = 1000000;
        struct kube_continuity c;

        assert_int_equal(kube_continuity_init(&c), 0);
        kube_continuity_check(&c, now_ms, table[i].settle_ms, 0, &view);
        assert_false(view.relist);
        for (int n = 0; n < 10; n++, now_ms += 900) {
            kube_continuity_break(&c, "another one");
            c.broke_ms = now_ms;
            kube_continuity_check(&c, now_ms + 899, table[i].settle_ms, 0, &view);
            assert_int_equal(view.relist, calm_ms < 900);
        }
        kube_continuity_check(&c, c.broke_ms + calm_ms, table[i].settle_ms, 0, &view);
        assert_int_equal(view.relist, calm_ms > 0);
        kube_continuity_check(&c, INT64_MAX - 1, table[i].settle_ms, 0, &view);
        assert_false(view.relist);
        kube_continuity_fini(&c);
    }
}

/* Another break begins the time anew; without a Lease the time alone counts. */
static void test_hold_without_a_lease(void **state)
{
    struct ccm_gate gate = { 0 };
    struct kube_continuity_view view;
    struct kube_continuity c;

    (void)state;
    assert_int_equal(kube_continuity_init(&c), 0);
    kube_continuity_set_gate(&c, &gate);
    (void)kube_continuity_add(&c); /* it is number 0 */
    kube_continuity_set(&c, 0, true);
    kube_continuity_break(&c, "the Lease is gone");
    c.broke_ms = 2000;
    c.since_ms = 2000;
    kube_continuity_check(&c, 2059, 60, KUBE_CONTINUITY_NO_LEASE, &view);
    assert_true(view.held);
    kube_continuity_check(&c, 2059, 60, KUBE_CONTINUITY_NO_LEASE, &view);
    assert_true(view.held);
    kube_continuity_break(&c, "nodes: none is left");
    c.broke_ms = 2059;
    c.since_ms = 2059;
    kube_continuity_check(&c, 2100, 60, KUBE_CONTINUITY_NO_LEASE, &view);
    assert_true(view.held);
    assert_int_equal(view.breaks, 2);
    kube_continuity_check(&c, 2119, 60, KUBE_CONTINUITY_NO_LEASE, &view);
    assert_true(view.ended);
    kube_continuity_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_caches_in_step),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_another_server),
        cmocka_unit_test(test_more_caches_than_are_asked),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_relist_after_the_last_break),
        cmocka_unit_test(test_hold_without_a_lease),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
