/* ClientTokens: when they are the same and when not. */
#include "check.h"

#include "lbc/apply/token.h"
#include "lbc/service/lifecycle.h"
#include "objects.h"

#include <string.h>

static void write(const struct ccm_service *service, const char *a, const char *b, uint32_t attempt,
                  char ret[static LBC_TOKEN_SIZE])
{
    struct lbc_token token = LBC_TOKEN_INIT;

    lbc_token_add(&token, a);
    lbc_token_add(&token, b);
    lbc_token_write(&token, service, attempt, ret);
}

static void test_token(void **state)
{
    struct ccm_service *service = obj_service();
    char first[LBC_TOKEN_SIZE];
    char other[LBC_TOKEN_SIZE];

    (void)state;
    write(service, "n", NULL, 0, first);
    write(service, "n", "", 0, other);
    assert_string_equal(first, other);
    assert_true(strlen(first) <= 64);
    write(service, "n", "x", 0, other);
    assert_string_not_equal(first, other);
    write(service, "", "n", 0, other);
    assert_string_not_equal(first, other);
    write(service, "n", "", 1, other);
    assert_string_not_equal(first, other);
    obj_label(&service->meta, LBC_LIFE_LB_LABEL, "lb-old");
    write(service, "n", "", 0, other);
    assert_string_not_equal(first, other);
}

static void test_number(void **state)
{
    (void)state;
    assert_true(lbc_token_number("a") == lbc_token_number("a"));
    assert_false(lbc_token_number("a") == lbc_token_number("b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_token, obj_end),
        cmocka_unit_test(test_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
