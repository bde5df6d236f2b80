/* The journal of objects: the latest first, reads beside changes, bounded. */
#include "daemon/journal.h"

#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    size_t count;
    char texts[64][DAEMON_JOURNAL_TEXT_MAX + 1];
    enum daemon_journal_kind kinds[64];
};

static void seen_add(void *arg, int64_t wall_ms, enum daemon_journal_kind kind, const char *text)
{
    struct seen *seen = arg;

    assert_true(wall_ms > 0 && seen->count < 64);
    seen->kinds[seen->count] = kind;
    ccm_text_copy(seen->texts[seen->count++], sizeof(seen->texts[0]), text);
}

static int journal_set_up(void **state)
{
    *state = daemon_journal_new();
    return *state == NULL ? -1 : 0;
}

static int journal_tear_down(void **state)
{
    daemon_journal_free(*state);
    return 0;
}

static void test_latest_first(void **state)
{
    struct seen seen = { 0 };

    daemon_journal_record(*state, "default/web", DAEMON_JOURNAL_READ, "read");
    daemon_journal_record(*state, "default/api", DAEMON_JOURNAL_CHANGE, "not this");
    daemon_journal_record(*state, "default/web", DAEMON_JOURNAL_CHANGE, "change");
    daemon_journal_record(*state, "default/web", DAEMON_JOURNAL_WARNING, "event");
    daemon_journal_record(*state, "default/web", DAEMON_JOURNAL_READ, "last");
    daemon_journal_record(*state, "default/web", DAEMON_JOURNAL_READ, "");
    daemon_journal_record(*state, NULL, DAEMON_JOURNAL_READ, "of nobody");
    daemon_journal_record(NULL, "default/web", DAEMON_JOURNAL_READ, "nowhere");
    daemon_journal_list(*state, "default/web", 20, seen_add, &seen);
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.texts[0], "last");
    assert_string_equal(seen.texts[1], "event");
    assert_int_equal(seen.kinds[1], DAEMON_JOURNAL_WARNING);
    assert_string_equal(seen.texts[2], "change");
    assert_string_equal(seen.texts[3], "read");
}

static void test_what_lasts_is_kept_once(void **state)
{
    struct seen seen = { 0 };

    daemon_journal_record(*state, "a", DAEMON_JOURNAL_WARNING, "fails");
    daemon_journal_record(*state, "b", DAEMON_JOURNAL_WARNING, "other");
    daemon_journal_record(*state, "a", DAEMON_JOURNAL_WARNING, "fails");
    daemon_journal_record(*state, "a", DAEMON_JOURNAL_EVENT, "is well");
    daemon_journal_record(*state, "a", DAEMON_JOURNAL_WARNING, "fails for another reason");
    daemon_journal_record(*state, "a", DAEMON_JOURNAL_WARNING, "fails");
    daemon_journal_list(*state, "a", 20, seen_add, &seen);
    assert_int_equal(seen.count, 4);
}

static void test_bounded(void **state)
{
    struct seen seen = { 0 };
    struct seen web = { 0 };
    char text[600];

    daemon_journal_record(*state, "default/web", DAEMON_JOURNAL_CHANGE, "made");
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 20000; i++) {
        ccm_text_printf(text, sizeof(text), "read %d %.*s", i, i % 300,
                        "........................................................................"
                        "........................................................................"
                        "........................................................................"
                        "........................................................................"
                        "................");
        daemon_journal_record(*state, "default/busy", DAEMON_JOURNAL_READ, text);
    }
    daemon_journal_list(*state, "default/busy", 20, seen_add, &seen);
    assert_int_equal(seen.count, 20);
    for (int i = 0; i < 20; i++) {
        ccm_text_printf(text, sizeof(text), "read %d ", 19999 - i);
        assert_memory_equal(seen.texts[i], text, strlen(text));
    }
    daemon_journal_list(*state, "default/web", 20, seen_add, &web); /* reads push nothing out */
    assert_int_equal(web.count, 1);
    memset(text, 'y', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (size_t i = 0; i <= DAEMON_JOURNAL_BYTES / DAEMON_JOURNAL_TEXT_MAX; i++) {
        daemon_journal_record(*state, "default/busy", DAEMON_JOURNAL_CHANGE, text);
    }
    web.count = 0;
    daemon_journal_list(*state, "default/web", 20, seen_add, &web);
    assert_int_equal(web.count, 0);
    seen.count = 0;
    daemon_journal_list(*state, "default/busy", 1, seen_add, &seen);
    assert_int_equal(seen.count, 1);
    assert_int_equal(strlen(seen.texts[0]), DAEMON_JOURNAL_TEXT_MAX); /* cut */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_latest_first, journal_set_up, journal_tear_down),
        cmocka_unit_test_setup_teardown(test_what_lasts_is_kept_once, journal_set_up,
                                        journal_tear_down),
        cmocka_unit_test_setup_teardown(test_bounded, journal_set_up, journal_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
