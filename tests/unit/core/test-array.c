/* Growing and trimming of arrays. */
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_grow(void **state)
{
    int *items = NULL;
    size_t cap = 0;

    (void)state;
    for (size_t len = 1; len <= 1000; len++) {
        assert_int_equal(ccm_array_grow(&items, &cap, len, sizeof(*items)), 0);
        assert_true(cap >= len);
        items[len - 1] = (int)len;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(items[i], i + 1);
    }
    free(items);
}

/* One large item takes the room of one. */
static void test_first(void **state)
{
    static const struct {
        size_t size;
        size_t cap;
    } cases[] = { { 1, 64 }, { 8, 8 }, { 24, 2 }, { 32, 2 }, { 64, 1 }, { 96, 1 }, { 500, 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        void *items = NULL;
        size_t cap = 0;

        assert_int_equal(ccm_array_grow(&items, &cap, 1, cases[i].size), 0);
        assert_int_equal(cap, cases[i].cap);
        free(items);
    }
}

static void test_too_many(void **state)
{
    int *items = NULL;
    size_t cap = 0;

    (void)state;
    assert_int_equal(ccm_array_grow(&items, &cap, SIZE_MAX / 2 + 2, sizeof(*items)), -EOVERFLOW);
    assert_int_equal(ccm_array_grow(&items, &cap, SIZE_MAX / 4, sizeof(*items)), -EOVERFLOW);
    assert_null(items);
    assert_int_equal(cap, 0);
}

static void test_trim(void **state)
{
    int *items = NULL;
    size_t cap = 0;

    (void)state;
    ccm_array_trim(&items, &cap, 0, sizeof(*items));
    assert_null(items);
    assert_int_equal(ccm_array_grow(&items, &cap, 100, sizeof(*items)), 0);
    items[0] = 7;
    items[1] = 8;
    ccm_array_trim(&items, &cap, 2, sizeof(*items));
    assert_int_equal(cap, 2);
    assert_int_equal(items[0], 7);
    assert_int_equal(items[1], 8);
    assert_int_equal(ccm_array_grow(&items, &cap, 3, sizeof(*items)), 0);
    assert_int_equal(items[1], 8);
    ccm_array_trim(&items, &cap, 0, sizeof(*items));
    assert_null(items);
    assert_int_equal(cap, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_trim),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
