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
    ccm_text_copy(err.request_id, sizeof(err.request_id), request_id);
    lbc_problems_add(problems, &err, remedy);
}

static void test_sum(void **state)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
    struct ccm_error sum = CCM_ERROR_INIT;

    (void)state;
    add(&problems, CCM_ERROR_TERMINAL, "r-1", "port 80: bad (r-1)", "fix it");
    add(&problems, CCM_ERROR_TERMINAL, "r-2", "port 80: bad (r-2)", "fix it");
    add(&problems, CCM_ERROR_CONFLICT, "", "port 81: busy", NULL);
    add(&problems, CCM_ERROR_AUTH, "", "port 82: not allowed", NULL);
    lbc_problems_sum(&problems, &sum);
    assert_int_equal(problems.count, 4);
    assert_int_equal(sum.kind, CCM_ERROR_CONFLICT);
    assert_string_equal(sum.message, "port 80: bad (r-1) (fix it); port 81: busy; "
                                     "port 82: not allowed");
    assert_string_equal(ccm_buf_str(&problems.signature),
                        "port 80: bad (); port 81: busy; port 82: not allowed");
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

/* What is news must not depend on ids of requests, and leaves no empty bracket behind. */
static void test_signature(void **state)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;

    (void)state;
    add(&problems, CCM_ERROR_TERMINAL, "r-1", "port 80: Code: bad (RequestId r-1)", NULL);
    add(&problems, CCM_ERROR_TERMINAL, "r-2", "r-2", NULL);
    assert_string_equal(ccm_buf_str(&problems.text), "port 80: Code: bad (RequestId r-1)");
    assert_string_equal(ccm_buf_str(&problems.signature), "port 80: Code: bad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_signature),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
