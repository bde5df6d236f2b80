#include "util/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_appends(void **state)
{
    struct ccm_buf buf = { .max = 100 };
    char *text = NULL;

    (void)state;
    assert_string_equal(ccm_buf_str(&buf), "");
    ccm_buf_adds(&buf, "ab");
    ccm_buf_addc(&buf, 'c');
    ccm_buf_addf(&buf, "%d-%s", 12, "x");
    ccm_buf_add(&buf, "\0z", 2);
    assert_int_equal(ccm_buf_error(&buf), 0);
    assert_int_equal(buf.len, 9);
    assert_memory_equal(buf.data, "abc12-x\0z", 10);
    ccm_buf_consume(&buf, 3);
    assert_memory_equal(buf.data, "12-x\0z", 7);
    assert_int_equal(ccm_buf_take(&buf, &text), 0);
    assert_string_equal(text, "12-x");
    assert_null(buf.data);
    free(text);
}

static void test_limit_is_sticky(void **state)
{
    struct ccm_buf buf = { .max = 4 };
    char *text = NULL;

    (void)state;
    ccm_buf_adds(&buf, "1234");
    assert_int_equal(ccm_buf_error(&buf), 0);
    ccm_buf_addc(&buf, '5');
    assert_int_equal(ccm_buf_error(&buf), -EMSGSIZE);
    ccm_buf_addf(&buf, "%s", "");
    assert_int_equal(ccm_buf_take(&buf, &text), -EMSGSIZE);
    assert_null(text);
    ccm_buf_reset(&buf);
    ccm_buf_addf(&buf, "%d", 77);
    assert_string_equal(ccm_buf_str(&buf), "77");
    ccm_buf_fini(&buf);
    ccm_buf_fini(&buf);
}

static void test_take_of_nothing(void **state)
{
    struct ccm_buf buf = { .max = 4 };
    char *text = NULL;

    (void)state;
    assert_int_equal(ccm_buf_take(&buf, &text), 0);
    assert_string_equal(text, "");
    free(text);
}

/* Of many names the first ones. */
static void test_names(void **state)
{
    struct ccm_buf names = { .max = 64 };
    size_t count = 0;

    (void)state;
    ccm_buf_add_name(&names, &count, "%s", "a");
    assert_string_equal(ccm_buf_str(&names), "a");
    for (char letter = 'b'; letter <= 'h'; letter++) {
        ccm_buf_add_name(&names, &count, "%c", letter);
    }
    assert_string_equal(ccm_buf_str(&names), "a, b, c, d, e and others");
    assert_int_equal(count, 8);
    ccm_buf_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appends),
        cmocka_unit_test(test_limit_is_sticky),
        cmocka_unit_test(test_take_of_nothing),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
