/* What counts: the snapshot, or what we have just written. */
#include "check.h"
#include "lbc/service/written.h"

#define WANT  "wanted"
#define OTHER "other"

struct row {
    const char *wrote; /* NULL = nothing */
    int r;             /* of that write */
    int64_t age_ms;    /* of the write when the snapshot was taken; negative: it came after */
    bool shown;
    enum lbc_written_verdict expect;
};

static const struct row rows[] = {
    { NULL, 0, 0, true, LBC_WRITTEN_WELL },
    { NULL, 0, 0, false, LBC_WRITTEN_WRITE },
    { WANT, 0, 0, true, LBC_WRITTEN_WELL },
    { WANT, 0, 0, false, LBC_WRITTEN_COMING },
    { WANT, 0, -3000, false, LBC_WRITTEN_COMING },
    { WANT, 0, LBC_WRITTEN_LAG_MS - 1, false, LBC_WRITTEN_COMING },
    /* Somebody has undone it. */
    { WANT, 0, LBC_WRITTEN_LAG_MS, false, LBC_WRITTEN_WRITE },
    { WANT, 0, 200000, false, LBC_WRITTEN_WRITE },
    /* The snapshot is from before we wrote something else. */
    { OTHER, 0, 0, false, LBC_WRITTEN_ANEW },
    { OTHER, 0, 0, true, LBC_WRITTEN_ANEW },
    { OTHER, 0, -3000, true, LBC_WRITTEN_ANEW },
    { OTHER, 0, 100000, true, LBC_WRITTEN_ANEW },
    { OTHER, 0, 200000, true, LBC_WRITTEN_WELL },
    { OTHER, 0, 200000, false, LBC_WRITTEN_WRITE },
    /* A write whose answer was lost may have been made, or not. */
    { WANT, -1, 0, false, LBC_WRITTEN_ANEW },
    { WANT, -1, 0, true, LBC_WRITTEN_ANEW },
    { WANT, -1, 200000, true, LBC_WRITTEN_WELL },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lbc_written slot = { 0 };
        const int64_t now = 1000000;

        if (rows[i].wrote != NULL) {
            lbc_written_record(&slot, now, rows[i].r, lbc_written_what(rows[i].wrote));
        }
        if (lbc_written_decide(&slot, now + rows[i].age_ms, rows[i].shown,
                               lbc_written_what(WANT)) != rows[i].expect) {
            fail_msg("row %zu", i);
        }
    }
}

/* A process that has just begun: the clock starts at zero. */
static void test_early(void **state)
{
    const struct lbc_written slot = { 0 };

    (void)state;
    assert_int_equal(lbc_written_decide(&slot, 0, true, lbc_written_what("")), LBC_WRITTEN_WELL);
    assert_int_equal(lbc_written_decide(&slot, 0, false, lbc_written_what("")), LBC_WRITTEN_WRITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
