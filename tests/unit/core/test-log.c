/* One line per message, whatever is in it. */
#include "util/cleanup.h"
#include "util/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What `write_it` leaves on standard error. */
static void capture(void (*write_it)(void), char *text, size_t size)
{
    int ends[2];
    const int kept = dup(STDERR_FILENO);

    assert_true(kept >= 0);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    write_it();
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(ends[1]);

    const ssize_t len = read(ends[0], text, size - 1);

    assert_true(len > 0);
    text[len] = '\0';
    close(ends[0]);
    close(kept);
}

static void write_hostile(void)
{
    const struct ccm_log log = { .part = "part", .object = "default/a\n2026 error forged" };

    ccm_log_error(&log, "one\ntwo\x1b[31m\x7f");
}

static void text_stays_on_one_line(void **state)
{
    char text[1024];

    (void)state;
    ccm_log_setup(CCM_LOG_INFO, false);
    capture(write_hostile, text, sizeof(text));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_non_null(strstr(text, "error part default/a 2026 error forged: one two [31m "));
    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\x7f'));
}

static void json_stays_on_one_line(void **state)
{
    char text[1024];

    (void)state;
    ccm_log_setup(CCM_LOG_INFO, true);
    capture(write_hostile, text, sizeof(text));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_non_null(strstr(text, "\"object\":\"default/a\\n2026 error forged\""));
}

/* A pass that fails again and again, each time with another pause and id. */
static void write_failures(void)
{
    const struct ccm_log log = { .part = "clb", .object = "default/web" };

    for (int i = 0; i < 30; i++) {
        ccm_log_error(&log, "transient: try %d, RequestId 8A3B-%d; retry in %d ms", i, i, 1000 * i);
        ccm_log_info(&log, "step %d", i);
    }
    ccm_log_error(&log, "transient: another text");
}

static void failures_are_limited(void **state)
{
    char text[8192];
    size_t failures = 0;
    size_t steps = 0;

    (void)state;
    ccm_log_setup(CCM_LOG_INFO, false);
    capture(write_failures, text, sizeof(text));
    for (const char *p = text; (p = strchr(p, ':')) != NULL; p++) {
        failures += strncmp(p, ": transient: try", 16) == 0 ? 1 : 0;
        steps += strncmp(p, ": step", 6) == 0 ? 1 : 0;
    }
    assert_int_equal(failures, 10);
    assert_int_equal(steps, 30);
    assert_non_null(strstr(text, "another text"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays_on_one_line),
        cmocka_unit_test(json_stays_on_one_line),
        cmocka_unit_test(failures_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
