/* Failing keys: noted, forgotten, in the order in which they began to fail. */
#include "admin/trouble.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void trouble_freep(struct admin_trouble **trouble)
{
    admin_trouble_free(*trouble);
}

struct seen {
    char text[256];
    size_t count;
    struct admin_trouble_item last;
};

static void look(void *arg, const struct admin_trouble_item *item)
{
    struct seen *seen = arg;
    const size_t used = strlen(seen->text);

    (void)snprintf(seen->text + used, sizeof(seen->text) - used, "%s=%s ", item->key,
                   item->message); /* the test keeps it short */
    seen->count++;
    seen->last = *item;
}

static void note(struct admin_trouble *trouble, const char *key, const char *message,
                 int64_t delay_ms)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, -1, CCM_ERROR_THROTTLED, "%s", message); /* only to fill it */
    admin_trouble_record(trouble, key, &err, delay_ms);
}

static void test_life_of_a_failure(void **state)
{
    CCM_CLEANUP(trouble_freep) struct admin_trouble *trouble = admin_trouble_new();
    struct seen seen = { 0 };

    (void)state;
    const int64_t before = ccm_clock_now_ms();

    note(trouble, "a", "one", 10);
    note(trouble, "b", "two", 10);
    note(trouble, "a", "three", 5000);
    assert_int_equal(admin_trouble_count(trouble), 2);
    admin_trouble_list(trouble, 10, look, &seen);
    assert_string_equal(seen.text, "a=three b=two ");

    seen = (struct seen){ 0 };
    admin_trouble_list(trouble, 1, look, &seen);
    assert_string_equal(seen.text, "a=three ");
    assert_int_equal(seen.last.failures, 2);
    assert_int_equal(seen.last.kind, CCM_ERROR_THROTTLED);
    assert_true(seen.last.since_ms >= before);
    assert_true(seen.last.next_ms >= before + 5000);

    admin_trouble_record(trouble, "a", NULL, 0);
    admin_trouble_record(trouble, "never failed", NULL, 0);
    assert_int_equal(admin_trouble_count(trouble), 1);
    note(trouble, "a", "again", 10); /* it begins anew, behind b */
    seen = (struct seen){ 0 };
    admin_trouble_list(trouble, 10, look, &seen);
    assert_string_equal(seen.text, "b=two a=again ");
    assert_int_equal(seen.last.failures, 1);
}

static void test_limit(void **state)
{
    CCM_CLEANUP(trouble_freep) struct admin_trouble *trouble = admin_trouble_new();
    char key[32];

    (void)state;
    for (size_t i = 0; i < ADMIN_TROUBLE_MAX + 10; i++) {
        ccm_text_printf(key, sizeof(key), "%zu", i);
        note(trouble, key, "x", 1);
    }
    assert_int_equal(admin_trouble_count(trouble), ADMIN_TROUBLE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life_of_a_failure),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
