/* How full vSwitches are: when one is read, and what is told. */
#include "check.h"

#include "lbc/vswitch.h"
#include "support/fake_host.h"

#include <string.h>

#define INTERVAL 1000
#define HELD(id) fake_host_held(fake, id ": addresses of the vSwitch")

static const struct lbc_product product = { .type = "CLBType",
                                            .component = "ccmd",
                                            .vswitch_from = "annotation vswitch-id" };
static const char *const both[] = { "vsw-1", "vsw-2" };

static void vswitches_record_usage(struct lbc_vswitches *set, const char *id, uint64_t used,
                                   uint64_t total)
{
    const struct lbc_vswitch_use use = { used, total };

    lbc_vswitches_record(set, id, &use);
}

static void test_one_read_per_interval(void **state)
{
    struct fake_host *fake = fake_host_new();
    struct lbc_vswitches *set = lbc_vswitches_new(fake_host_table(fake), &product);

    (void)state;
    fake_host_advance(fake, 5);
    assert_false(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL)); /* nobody stands there */
    lbc_vswitches_hold(set, "a/web", both, 2);
    lbc_vswitches_hold(set, "b/web", both, 1);
    assert_true(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL));
    assert_false(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL));
    assert_true(lbc_vswitches_take_turn(set, "vsw-2", INTERVAL));
    fake_host_advance(fake, INTERVAL - 1);
    assert_false(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL));
    lbc_vswitches_return_turn(set, "vsw-1");
    assert_true(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL));
    fake_host_advance(fake, 1);
    assert_false(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL));
    assert_true(lbc_vswitches_take_turn(set, "vsw-2", INTERVAL));
    lbc_vswitches_hold(set, "a/web", NULL, 0);
    lbc_vswitches_hold(set, "b/web", NULL, 0);
    fake_host_advance(fake, INTERVAL);
    assert_false(lbc_vswitches_take_turn(set, "vsw-1", INTERVAL));
    lbc_vswitches_free(set);
    fake_host_free(fake);
}

/* From 80 % on until fewer than 70 % are used. */
static void test_what_is_told(void **state)
{
    static const struct {
        uint64_t used;
        const char *held;
    } rows[] = {
        { 0, NULL },          { 79, NULL }, { 80, "80: of 100" }, { 100, "100: of 100" },
        { 75, "75: of 100" }, { 69, NULL }, { 79, NULL },         { 81, "81: of 100" },
    };
    struct fake_host *fake = fake_host_new();
    struct lbc_vswitches *set = lbc_vswitches_new(fake_host_table(fake), &product);

    (void)state;
    lbc_vswitches_hold(set, "a/web", both, 2);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        vswitches_record_usage(set, "vsw-1", rows[i].used, 100);
        if (rows[i].held == NULL) {
            assert_null(HELD("vsw-1"));
        } else {
            assert_string_equal(HELD("vsw-1"), rows[i].held);
        }
    }
    assert_null(HELD("vsw-2"));
    assert_non_null(strstr(fake_host_event(fake, 0)->message,
                           "vSwitch vsw-1: 80 % or more of its 100 addresses are used"));
    assert_string_equal(fake_host_event(fake, 0)->reason, "QuotaNear");
    lbc_vswitches_hold(set, "a/web", both + 1, 1); /* it stands elsewhere now */
    assert_null(HELD("vsw-1"));
    vswitches_record_usage(set, "vsw-1", 90, 100); /* an answer that comes late */
    assert_null(HELD("vsw-1"));
    lbc_vswitches_free(set);
    fake_host_free(fake);
}

/* As long as one load balancer stands there. */
static void test_the_last_one_ends_it(void **state)
{
    struct fake_host *fake = fake_host_new();
    struct lbc_vswitches *set = lbc_vswitches_new(fake_host_table(fake), &product);

    (void)state;
    lbc_vswitches_hold(set, "a/web", both, 1);
    lbc_vswitches_hold(set, "b/web", both, 1);
    vswitches_record_usage(set, "vsw-1", 4, 4);
    lbc_vswitches_hold(set, "a/web", NULL, 0);
    assert_string_equal(HELD("vsw-1"), "4: of 4");
    lbc_vswitches_hold(set, "b/web", NULL, 0);
    assert_null(HELD("vsw-1"));
    vswitches_record_usage(set, "vsw-1", 0, 0); /* a vSwitch without any */
    assert_null(HELD("vsw-1"));
    lbc_vswitches_free(set);
    fake_host_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_read_per_interval),
        cmocka_unit_test(test_what_is_told),
        cmocka_unit_test(test_the_last_one_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
