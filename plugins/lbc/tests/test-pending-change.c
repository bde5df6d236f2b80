/* What was ordered and counts later is not ordered again. */
#include "check.h"

#include "lbc/apply/pending_change.h"

#define OLD    1
#define WANTED 2
#define OTHER  3
#define NOW    INT64_C(1000)

struct row {
    const char *what;
    uint64_t before;
    uint64_t wanted;
    int64_t age_ms;
    bool expect;
};

static const struct row rows[] = {
    { "just now", OLD, WANTED, 0, true },
    { "nearly over", OLD, WANTED, LBC_PENDING_CHANGE_MS - 1, true },
    { "not carried out for too long", OLD, WANTED, LBC_PENDING_CHANGE_MS, false },
    { "somebody changed it since", OTHER, WANTED, 0, false },
    { "something else is wanted by now", OLD, OTHER, 0, false },
    { "the other way round", WANTED, OLD, 0, false },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lbc_pending_change change = { 0 };

        assert_false(lbc_pending_change_stands(&change, rows[i].before, rows[i].wanted, NOW));
        lbc_pending_change_record(&change, OLD, WANTED, NOW);
        if (lbc_pending_change_stands(&change, rows[i].before, rows[i].wanted,
                                      NOW + rows[i].age_ms) != rows[i].expect) {
            fail_msg("%s", rows[i].what);
        }
    }
}

static void test_arrived(void **state)
{
    struct lbc_pending_change change = { 0 };

    (void)state;
    lbc_pending_change_record(&change, OLD, WANTED, NOW);
    lbc_pending_change_see(&change, OLD);
    assert_true(lbc_pending_change_stands(&change, OLD, WANTED, NOW));
    lbc_pending_change_see(&change, WANTED);
    assert_false(
        lbc_pending_change_stands(&change, OLD, WANTED, NOW)); /* somebody has set it back */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_arrived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
