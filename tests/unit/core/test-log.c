/* One line per message, whatever is in it. */
#define _DEFAULT_SOURCE /* syscall() */
#include "util/cleanup.h"
#include "util/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static time_t offset_s; /* how far ahead the clocks of this process are */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    const int r = (int)syscall(SYS_clock_gettime, clock, ret);

    ret->tv_sec += offset_s;
    return r;
}

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

/* Texts that differ each time, about one object, and about as many as there are of a namespace. */
static void write_flood(void)
{
    char name[64];
    const struct ccm_log one = { .part = "clb", .object = "loud/web" };
    const struct ccm_log many = { .part = "clb", .object = name };
    const struct ccm_log other = { .part = "clb", .object = "calm/web" };
    const struct ccm_log node = { .part = "node", .object = name };

    for (int i = 0; i < 100; i++) {
        ccm_log_info(&one, "one %d", i);
    }
    for (int i = 0; i < 400; i++) {
        (void)snprintf(name, sizeof(name), "loud/api-%d", i);
        ccm_log_info(&many, "many %d", i);
        (void)snprintf(name, sizeof(name), "node-%d", i);
        ccm_log_info(&node, "node");
    }
    ccm_log_info(&other, "calm");
}

static size_t count_text(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *p = text; (p = strstr(p, part)) != NULL; p++) {
        count++;
    }
    return count;
}

static void a_flood_is_limited(void **state)
{
    static char text[64 * 1024];

    (void)state;
    ccm_log_setup(CCM_LOG_INFO, false);
    capture(write_flood, text, sizeof(text));
    assert_int_equal(count_text(text, ": one "), 60);
    assert_in_range(count_text(text, ": many "), 240, 250); /* five more with each second */
    assert_int_equal(count_text(text, ": node\n"), 400);    /* these have no namespace */
    assert_non_null(strstr(text, "calm/web: calm\n"));
}

/* How many were left out is said once. */
static void write_after_flood(void)
{
    const struct ccm_log one = { .part = "clb", .object = "loud/web" };

    ccm_log_info(&one, "later");
}

static void what_was_held_back_is_said(void **state)
{
    char text[1024];

    (void)state;
    offset_s = 3;
    capture(write_after_flood, text, sizeof(text));
    assert_non_null(strstr(text, "loud/web: later ("));
    assert_non_null(strstr(text, " more about this object or namespace were held back)\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays_on_one_line),     cmocka_unit_test(json_stays_on_one_line),
        cmocka_unit_test(failures_are_limited),       cmocka_unit_test(a_flood_is_limited),
        cmocka_unit_test(what_was_held_back_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
