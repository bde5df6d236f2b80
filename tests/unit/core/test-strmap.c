#include "util/strmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int freed;

static void count_free(void *value)
{
    freed++;
    free(value);
}

static void test_set_get_replace_delete(void **state)
{
    struct ccm_strmap *map = ccm_strmap_new(count_free);

    (void)state;
    freed = 0;
    assert_int_equal(ccm_strmap_set(map, "a", strdup("1")), 0);
    assert_int_equal(ccm_strmap_set(map, "a", strdup("2")), 0);
    assert_int_equal(freed, 1);
    assert_int_equal(ccm_strmap_set(map, "", NULL), 0);
    assert_int_equal(ccm_strmap_len(map), 2);
    assert_string_equal(ccm_strmap_get(map, "a"), "2");
    assert_true(ccm_strmap_has(map, ""));
    assert_null(ccm_strmap_get(map, ""));
    assert_null(ccm_strmap_get(map, "absent"));
    ccm_strmap_del(map, "absent");

    char *taken = ccm_strmap_take(map, "a");

    assert_string_equal(taken, "2");
    assert_int_equal(freed, 1);
    free(taken);
    assert_false(ccm_strmap_has(map, "a"));
    ccm_strmap_free(map);
    ccm_strmap_free(NULL);
}

static void test_walk_keeps_order_and_allows_delete(void **state)
{
    struct ccm_strmap *map = ccm_strmap_new(NULL);
    void *cursor = NULL;
    const char *key;
    char expected[16];
    int n = 0;

    (void)state;
    assert_false(ccm_strmap_next(map, &cursor, &key, NULL));
    for (int i = 0; i < 100; i++) {
        (void)snprintf(expected, sizeof(expected), "k%d", i);
        assert_int_equal(ccm_strmap_set(map, expected, NULL), 0);
    }
    cursor = NULL;
    while (ccm_strmap_next(map, &cursor, &key, NULL)) {
        (void)snprintf(expected, sizeof(expected), "k%d", n++);
        assert_string_equal(key, expected);
        if (n % 2 == 0) {
            ccm_strmap_del(map, expected);
        }
    }
    assert_int_equal(n, 100);
    assert_int_equal(ccm_strmap_len(map), 50);
    ccm_strmap_free(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_get_replace_delete),
        cmocka_unit_test(test_walk_keeps_order_and_allows_delete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
