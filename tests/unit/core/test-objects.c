/* What is known and said of objects: passes, failures, notes. */
#include "daemon/objects.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    char text[256];
    size_t count;
    struct daemon_object last;
    struct daemon_note note; /* of the last one of the kind that is listed */
};

static void see_note(void *arg, const char *key, const struct daemon_note *note)
{
    struct seen *seen = arg;
    const size_t used = strlen(seen->text);

    (void)snprintf(seen->text + used, sizeof(seen->text) - used, "%s=%s ", key,
                   daemon_note_text(note)); /* the test keeps it short */
    seen->count++;
    seen->note = *note;
}

static void see_object(void *arg, const struct daemon_object *object)
{
    struct seen *seen = arg;

    seen->count++;
    seen->last = *object;
}

static struct seen look_at(struct daemon_objects *objects, enum daemon_note_kind kind)
{
    struct seen seen = { 0 };

    daemon_objects_list_noted(objects, kind, see_note, &seen);
    return seen;
}

static struct seen look_at_all(struct daemon_objects *objects)
{
    struct seen seen = { 0 };

    daemon_objects_list(objects, see_object, &seen);
    return seen;
}

static void fail_pass(struct daemon_objects *objects, const char *key, const char *message,
                      int64_t delay_ms)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, -1, CCM_ERROR_THROTTLED, "%s", message); /* only to fill it */
    daemon_objects_settle(objects, key, &err, delay_ms);
}

static int make_objects(void **state)
{
    *state = daemon_objects_new();
    return *state == NULL ? -1 : 0;
}

static int free_objects(void **state)
{
    daemon_objects_free(*state);
    return 0;
}

static void wait_for_next_ms(void)
{
    const int64_t now = ccm_clock_now_ms();

    while (ccm_clock_now_ms() == now) {
    }
}

static void test_failures_are_counted_until_a_success(void **state)
{
    struct daemon_objects *objects = *state;
    const int64_t before = ccm_clock_now_ms();
    struct seen seen;

    fail_pass(objects, "b", "one", 10);
    wait_for_next_ms();
    fail_pass(objects, "a", "two", 10);
    fail_pass(objects, "b", "three", 5000);
    seen = look_at(objects, DAEMON_NOTE_FAILING);
    assert_string_equal(seen.text, "b=three a=two "); /* the oldest first */
    assert_int_equal(seen.note.count, 1);
    assert_int_equal(seen.note.detail, CCM_ERROR_THROTTLED);
    assert_int_equal(daemon_objects_sum(objects, DAEMON_NOTE_FAILING).objects, 2);
    assert_int_equal(daemon_objects_sum(objects, DAEMON_NOTE_FAILING).count, 3);
    assert_true(daemon_objects_sum(objects, DAEMON_NOTE_FAILING).since_ms >= before);
    assert_true(seen.note.since_ms > daemon_objects_sum(objects, DAEMON_NOTE_FAILING).since_ms);

    daemon_objects_settle(objects, "b", NULL, 0);
    daemon_objects_settle(objects, "never failed", NULL, 0);
    wait_for_next_ms();
    fail_pass(objects, "b", "again", 5000);
    seen = look_at(objects, DAEMON_NOTE_FAILING);
    assert_string_equal(seen.text, "a=two b=again ");
    assert_int_equal(seen.note.count, 1);
}

static void test_passes_are_forgotten_with_their_object(void **state)
{
    struct daemon_objects *objects = *state;
    const int64_t before = ccm_clock_now_ms();
    struct seen seen;

    daemon_objects_settle(objects, "a", NULL, 5000);
    daemon_objects_end(objects, "a");
    daemon_objects_end(objects, "a");
    seen = look_at_all(objects);
    assert_int_equal(seen.last.passes, 2);
    assert_true(seen.last.last_ms >= before);
    assert_true(seen.last.next_ms >= before + 5000);
    daemon_objects_settle(objects, "a", NULL, 0);
    assert_int_equal(look_at_all(objects).last.next_ms, 0);

    assert_false(daemon_objects_note(objects, "a", DAEMON_NOTE_HELD, 2, 0, "why"));
    daemon_objects_forget(objects, "a");
    daemon_objects_forget(objects, "unknown");
    seen = look_at_all(objects);
    assert_int_equal(seen.count, 1); /* for its note */
    assert_int_equal(seen.last.passes, 0);
    assert_true(daemon_objects_note(objects, "a", DAEMON_NOTE_HELD, 0, 0, NULL));
    assert_int_equal(look_at_all(objects).count, 0);
}

static void test_a_note_holds_until_it_is_taken_back(void **state)
{
    struct daemon_objects *objects = *state;
    struct seen seen;

    assert_false(daemon_objects_note(objects, "a", DAEMON_NOTE_HELD, 0, 0, NULL));
    assert_false(daemon_objects_note(objects, "a", DAEMON_NOTE_HELD, 2, 0, "nodes"));
    seen = look_at(objects, DAEMON_NOTE_HELD);
    wait_for_next_ms();
    assert_true(daemon_objects_note(objects, "a", DAEMON_NOTE_HELD, 5, 0, "more nodes"));
    assert_int_equal(look_at(objects, DAEMON_NOTE_HELD).note.since_ms, seen.note.since_ms);
    assert_string_equal(look_at(objects, DAEMON_NOTE_HELD).text, "a=more nodes ");
    assert_false(daemon_objects_note(objects, "a", DAEMON_NOTE_QUOTA, 8, 10, NULL));
    assert_string_equal(look_at(objects, DAEMON_NOTE_QUOTA).text, "a= ");
    assert_int_equal(daemon_objects_sum(objects, DAEMON_NOTE_HELD).count, 5);
    assert_true(daemon_objects_note(objects, "a", DAEMON_NOTE_HELD, 0, 0, NULL));
    assert_int_equal(look_at(objects, DAEMON_NOTE_HELD).count, 0);
    assert_int_equal(daemon_objects_sum(objects, DAEMON_NOTE_HELD).since_ms, INT64_MAX);
    assert_int_equal(look_at(objects, DAEMON_NOTE_QUOTA).note.detail, 10);
}

static void test_objects_are_bounded(void **state)
{
    struct daemon_objects *objects = *state;
    char key[32];

    for (size_t i = 0; i < DAEMON_OBJECTS_MAX + 10; i++) {
        ccm_text_printf(key, sizeof(key), "%zu", i);
        fail_pass(objects, key, "x", 1);
    }
    assert_int_equal(daemon_objects_sum(objects, DAEMON_NOTE_FAILING).objects, DAEMON_OBJECTS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_failures_are_counted_until_a_success, make_objects,
                                        free_objects),
        cmocka_unit_test_setup_teardown(test_passes_are_forgotten_with_their_object, make_objects,
                                        free_objects),
        cmocka_unit_test_setup_teardown(test_a_note_holds_until_it_is_taken_back, make_objects,
                                        free_objects),
        cmocka_unit_test_setup_teardown(test_objects_are_bounded, make_objects, free_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
