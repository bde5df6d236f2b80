/* Failures of one pass, summed up. */
#include "check.h"
#include "lbc/model/problem.h"
#include "util/attr.h"
#include "util/text.h"

#include <string.h>

static void add(struct lbc_problems *problems, uint64_t kind, const char *request_id,
                const char *message, const char *remedy)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, kind, "%s", message); /* the result is the argument */
    if (request_id[0] != '\0') {
        ccm_error_add_request_id(&err, request_id);
    }
    lbc_problems_add(problems, &err, remedy);
}

static void test_sum(void **state)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
    struct ccm_error sum = CCM_ERROR_INIT;

    (void)state;
    add(&problems, CCM_ERROR_TERMINAL, "r-1", "port 80: bad", "fix it");
    add(&problems, CCM_ERROR_TERMINAL, "r-2", "port 80: bad", "fix it");
    add(&problems, CCM_ERROR_CONFLICT, "", "port 81: busy", NULL);
    add(&problems, CCM_ERROR_AUTH, "", "port 82: not allowed", NULL);
    lbc_problems_sum(&problems, &sum);
    assert_int_equal(problems.count, 4);
    assert_int_equal(sum.kind, CCM_ERROR_CONFLICT);
    assert_string_equal(sum.message, "port 80: bad (RequestId r-1) (fix it); port 81: busy; "
                                     "port 82: not allowed");
    assert_int_equal(ccm_error_cause_len(&sum), strlen(sum.message));
    assert_string_equal(ccm_buf_str(&problems.cause),
                        "port 80: bad (fix it); port 81: busy; port 82: not allowed");
}

static void test_kinds(void **state)
{
    /* The later one of each pair decides, in whatever order they come. */
    static const uint64_t order[] = { CCM_ERROR_TERMINAL, CCM_ERROR_AUTH, CCM_ERROR_TRANSIENT,
                                      CCM_ERROR_CANCELLED };

    (void)state;
    for (size_t i = 0; i + 1 < CCM_ARRAY_LEN(order); i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
            struct ccm_error sum = CCM_ERROR_INIT;

            add(&problems, order[i + turn], "", "a", NULL);
            add(&problems, order[i + 1 - turn], "", "b", NULL);
            lbc_problems_sum(&problems, &sum);
            assert_int_equal(sum.kind, order[i + 1]);
        }
    }
}

/* What is news must not depend on ids of requests, also when a context stands before it. */
static void test_cause(void **state)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ccm_error err = CCM_ERROR_INIT;

        (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL, "Code: bad"); /* as given */
        ccm_error_add_request_id(&err, i == 0 ? "r-1" : "r-2");
        (void)ccm_error_wrap(&err, 0, "port 80"); /* as given */
        lbc_problems_add(&problems, &err, NULL);
    }
    assert_string_equal(ccm_buf_str(&problems.text), "port 80: Code: bad (RequestId r-1)");
    assert_string_equal(ccm_buf_str(&problems.cause), "port 80: Code: bad");
}

/* Calls that were put off: they say nothing, but when to come again. */
static void test_waits(void **state)
{
    static const struct {
        uint64_t waits[2]; /* ms; 0 = none */
        uint64_t kind;     /* of a failure between them; CCM_ERROR_NONE = there is none */
        bool only;
        uint64_t sum;
        uint64_t retry_ms;
        const char *message;
    } rows[] = {
        { { 0, 0 }, CCM_ERROR_TERMINAL, false, CCM_ERROR_TERMINAL, 0, "bad" },
        { { 3000, 0 }, CCM_ERROR_NONE, true, CCM_ERROR_THROTTLED, 3000, "held back" },
        { { 3000, 2000 }, CCM_ERROR_NONE, true, CCM_ERROR_THROTTLED, 2000, "held back" },
        { { 3000, 2000 }, CCM_ERROR_TERMINAL, false, CCM_ERROR_TERMINAL, 0, "bad" },
        { { 0, 5000 }, CCM_ERROR_CONFLICT, false, CCM_ERROR_CONFLICT, 0, "bad" },
        { { 1, 1 }, CCM_ERROR_CANCELLED, false, CCM_ERROR_CANCELLED, 0, "bad" },
    };

    (void)state;
    for (size_t i = 0; i < 2 * CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems all = LBC_PROBLEMS_INIT;
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems first = LBC_PROBLEMS_INIT;
        const bool joined = i >= CCM_ARRAY_LEN(rows);
        struct lbc_problems *problems = joined ? &first : &all;
        struct ccm_error sum = CCM_ERROR_INIT;
        size_t row = i % CCM_ARRAY_LEN(rows);

        for (size_t n = 0; n < 2; n++) {
            struct ccm_error err = CCM_ERROR_INIT;

            if (n == 1 && rows[row].kind != CCM_ERROR_NONE) {
                add(problems, rows[row].kind, "", "bad", NULL);
            }
            (void)ccm_error_set(&err, 0, CCM_ERROR_THROTTLED, "held back"); /* as given */
            err.retry_after_ms = rows[row].waits[n];
            if (err.retry_after_ms > 0) {
                lbc_problems_add(problems, &err, NULL);
            }
        }
        lbc_problems_join(&all, &first);
        assert_int_equal(lbc_problems_only_wait(&all), rows[row].only);
        lbc_problems_sum(&all, &sum);
        assert_int_equal(sum.kind, rows[row].sum);
        assert_int_equal(sum.retry_after_ms, rows[row].retry_ms);
        assert_string_equal(sum.message, rows[row].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_cause),
        cmocka_unit_test(test_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
