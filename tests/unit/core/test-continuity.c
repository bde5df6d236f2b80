#include "kube/continuity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_all_caches_in_step(void **state)
{
    struct ccm_continuity c;

    (void)state;
    assert_int_equal(ccm_continuity_init(&c), 0);
    assert_int_equal(ccm_continuity_since(&c), 0);

    const size_t services = ccm_continuity_add(&c);
    const size_t nodes = ccm_continuity_add(&c);

    ccm_continuity_set(&c, services, true);
    assert_int_equal(ccm_continuity_since(&c), 0);
    ccm_continuity_set(&c, nodes, true);

    const int64_t since_ms = ccm_continuity_since(&c);

    assert_true(since_ms > 0);
    /* A watch breaks, and it turns out to be the same server. */
    ccm_continuity_set(&c, nodes, false);
    assert_int_equal(ccm_continuity_since(&c), 0);
    ccm_continuity_set(&c, nodes, true);
    assert_int_equal(ccm_continuity_since(&c), since_ms);
    ccm_continuity_fini(&c);
}

static void test_another_server(void **state)
{
    struct ccm_continuity c;

    (void)state;
    assert_int_equal(ccm_continuity_init(&c), 0);
    (void)ccm_continuity_add(&c); /* it is number 0 */
    ccm_continuity_set(&c, 0, true);
    c.since_ms = 5;
    ccm_continuity_set(&c, 0, false);
    ccm_continuity_break(&c, "nodes: it was replaced");
    assert_int_equal(ccm_continuity_since(&c), 0);
    assert_int_equal(c.breaks, 1);
    assert_string_equal(c.reason, "nodes: it was replaced");
    ccm_continuity_set(&c, 0, true);
    assert_true(ccm_continuity_since(&c) > 5);
    /* One that the caches did not notice, being in step all the time. */
    c.since_ms = 5;
    ccm_continuity_break(&c, "another Lease");
    assert_true(ccm_continuity_since(&c) > 5);
    ccm_continuity_fini(&c);
}

static void test_more_caches_than_are_asked(void **state)
{
    struct ccm_continuity c;

    (void)state;
    assert_int_equal(ccm_continuity_init(&c), 0);
    for (size_t i = 0; i < CCM_CONTINUITY_CACHES + 3; i++) {
        assert_int_equal(ccm_continuity_add(&c), i);
    }
    for (size_t i = 0; i < CCM_CONTINUITY_CACHES; i++) {
        assert_int_equal(ccm_continuity_since(&c), 0);
        ccm_continuity_set(&c, i, true);
    }
    assert_true(ccm_continuity_since(&c) > 0);
    ccm_continuity_set(&c, CCM_CONTINUITY_CACHES + 1, false);
    assert_true(ccm_continuity_since(&c) > 0);
    ccm_continuity_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_caches_in_step),
        cmocka_unit_test(test_another_server),
        cmocka_unit_test(test_more_caches_than_are_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
