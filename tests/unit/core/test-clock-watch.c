#include "util/clock_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/attr.h"

#define BEGIN_MS INT64_C(5000)
#define WALL_MS  INT64_C(1767323045000)

/* Looks one after the other: seconds since the start, how far off the clock is then, what is told.
 */
static void test_steps(void **state)
{
    static const struct {
        int64_t at_s;
        int64_t off_s;
        int64_t told_s;
    } rows[] = {
        { 0, 0, 0 },          { 1, 0, 0 },
        { 2, 3600, 3600 },    { 3, 3600, 0 },   /* once */
        { 12, 3600, 0 },      { 13, 0, -3600 }, /* and back */
        { 14, -3600, 0 },     { 22, -3600, 0 }, /* too soon after it: */
        { 23, -3600, -3600 }, { 40, -3600, 0 }, /* told later */
        { 41, 0, 3600 },      { 42, 60, 0 },
        { 43, 0, 0 },         { 60, 0, 0 }, /* to and fro between two looks: nothing */
        { 61, 9, 0 },         { 62, 18, 0 },
        { 63, 27, 0 },        { 64, 37, 10 },   /* drifting is no step */
        { 90, 27, -10 },      { 90000, 27, 0 }, /* time alone is none */
    };
    struct ccm_clock_watch watch;

    (void)state;
    ccm_clock_watch_init(&watch, WALL_MS, BEGIN_MS);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const int64_t at_ms = rows[i].at_s * 1000;
        const int64_t told =
            ccm_clock_watch_check(&watch, WALL_MS + at_ms + rows[i].off_s * 1000, BEGIN_MS + at_ms);

        if (told != rows[i].told_s * 1000) {
            fail_msg("at %d s: told %d ms", (int)rows[i].at_s, (int)told);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_steps) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
