/* The rule about backends whose nodes or slices are not there: tables of groups over time. */
#include "check.h"
#include "lbc/model/freeze.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define WINDOW 300000
#define NEVER  CCM_REMOVAL_NEVER

static const struct ccm_removal_rule rule = {
    .window_ms = WINDOW,
    .share_percent = 50,
    .missing_wait_ms = 200000,
};

/* One letter per backend: R its node is not ready, D missing with a deletion seen, M missing since
 * 0, L missing since now; S its slice is missing since 0, T since now; O a rule of ccmd's own. */
static struct lbc_freeze_case case_of(char letter, int64_t now)
{
    struct lbc_freeze_case one = { .cause = LBC_FREEZE_NODE };

    one.cause = letter == 'R' ? LBC_FREEZE_NOT_READY : one.cause;
    one.cause = letter == 'S' || letter == 'T' ? LBC_FREEZE_SLICE : one.cause;
    one.cause = letter == 'O' ? LBC_FREEZE_RULE : one.cause;
    one.seen = letter == 'D';
    one.since_ms = letter == 'L' || letter == 'T' ? now : 0;
    return one;
}

/* What becomes of them: - goes, ? stays unless the cloud says it is gone, + stays. */
static void judge(const struct lbc_freeze_input *in, const char *letters, char *ret,
                  int64_t *ret_again)
{
    struct lbc_freeze_case cases[64] = { { 0 } };
    struct ccm_leaving decided[64];
    const size_t count = strlen(letters);

    for (size_t i = 0; i < count; i++) {
        cases[i] = case_of(letters[i], in->now_ms);
    }
    *ret_again = lbc_freeze_decide(in, cases, decided, count);
    for (size_t i = 0; i < count; i++) {
        ret[i] = decided[i].goes ? '-' : decided[i].asks ? '?' : '+';
    }
    ret[count] = '\0';
}

struct row {
    const char *what;
    size_t size;
    size_t staying;
    int64_t server_since_ms;
    int64_t now_ms;
    const char *letters;
    const char *verdict;
    int64_t again_ms;
};

static const struct row rows[] = {
    { "one of many is not ready", 10, 9, 1, 1000, "R", "-", NEVER },
    { "half", 10, 5, 1, 1000, "RRRRR", "-----", NEVER },
    { "more than half", 10, 4, 1, 1000, "RRRRRR", "-----+", 1000 + WINDOW },
    { "nobody would be left", 10, 0, 1, 1000, "RRRRRRRRRR", "++++++++++", NEVER },
    { "one of one", 1, 0, 1, 1000, "R", "+", NEVER },
    { "one of one, another is about to come", 1, 1, 1, 1000, "R", "-", NEVER },
    { "small groups: one", 3, 1, 1, 1000, "RR", "-+", 1000 + WINDOW },
    { "of two", 2, 1, 1, 1000, "R", "-", NEVER },
    { "a deletion that was seen", 10, 9, 1, 1000, "D", "-", NEVER },
    { "of the last one", 1, 0, 1, 1000, "D", "-", NEVER },
    { "all of them: the cloud knows", 4, 0, 1, 1000, "DDDD", "--??", 1000 + WINDOW },
    { "missed a moment ago", 10, 9, 1, 1000, "L", "+", 201000 },
    { "missed long ago", 10, 9, 1, 500000, "M", "-", NEVER },
    { "missed long ago, but the server is new", 10, 9, 400000, 500000, "M", "+", 600000 },
    { "nobody knows who answers", 10, 9, 0, 500000, "M", "+", 700000 },
    { "deleted nevertheless", 10, 9, 0, 500000, "D", "-", NEVER },
    { "all missed long ago", 4, 0, 1, 500000, "MMMM", "--??", 500000 + WINDOW },
    { "what is surely gone goes first", 4, 1, 1, 500000, "RSMD", "++--", 500000 + WINDOW },
    { "slices: at once never", 4, 0, 1, 500000, "TTTT", "++++", 700000 },
    { "slices: the floor, and nobody to ask", 4, 0, 1, 500000, "SSSS", "--++", 500000 + WINDOW },
    { "the sooner of two", 10, 8, 1, 1000, "LR", "+-", 201000 },
    { "own rules: never, whatever stays", 10, 9, 1, 500000, "O", "+", NEVER },
    { "nor all of them", 2, 0, 1, 500000, "OO", "++", NEVER },
    { "they take nothing from the others", 10, 5, 1, 1000, "ORRRR", "+----", NEVER },
    { "nor a time", 10, 8, 1, 1000, "OL", "++", 201000 },
};

static void test_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct lbc_freeze_past none = { 0 };
        const struct lbc_freeze_input in = {
            .rule = &rule,
            .past = &none,
            .size = rows[i].size,
            .staying = rows[i].staying,
            .server_since_ms = rows[i].server_since_ms,
            .now_ms = rows[i].now_ms,
        };
        char verdict[65];
        int64_t again = 0;

        judge(&in, rows[i].letters, verdict, &again);
        if (strcmp(verdict, rows[i].verdict) != 0 || again != rows[i].again_ms) {
            fail_msg("%s: %s, again %lld", rows[i].what, verdict, (long long)again);
        }
    }
}

/* A person releases everything: what is missing, what is not ready, what only a rule is against,
 * and the last one. */
static void test_released(void **state)
{
    const struct lbc_freeze_past none = { 0 };
    struct ccm_removal_rule lifted = rule;
    struct lbc_freeze_input in = {
        .rule = &lifted, .past = &none, .size = 5, .server_since_ms = 0, .now_ms = 1000
    };
    char verdict[65];
    int64_t again = 0;

    (void)state;
    ccm_removal_release(&lifted, 1000);
    judge(&in, "RLTDDO", verdict, &again);
    assert_string_equal(verdict, "------");
    in.now_ms = 1000 + WINDOW;
    judge(&in, "RLTRRO", verdict, &again);
    assert_string_equal(verdict, "++++++");
}

static struct lbc_backend instance(const char *id)
{
    return (struct lbc_backend){ .server_id = (char *)(uintptr_t)id,
                                 .server_ip = (char *)(uintptr_t) "",
                                 .port = 30080 };
}

/* Three nodes turn NotReady one after the other, a second apart, and come back: the first goes, the
 * second a window later, the last never; who came back has not gone. */
static void test_one_after_the_other(void **state)
{
    CCM_CLEANUP(lbc_freeze_past_fini) struct lbc_freeze_past past = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends have = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends want = { 0 };
    const struct lbc_backend one = instance("i-1");
    const struct lbc_backend two = instance("i-2");
    struct lbc_freeze_input in = { .rule = &rule, .past = &past, .server_since_ms = 1 };
    char verdict[65];
    int64_t again = 0;

    (void)state;
    assert_int_equal(lbc_backends_put(&have, &two), 0);
    lbc_freeze_past_record(&past, &one, 3, 1000);
    in.size = 2;
    in.staying = 1;
    in.now_ms = 2000;
    judge(&in, "R", verdict, &again);
    assert_string_equal(verdict, "+");
    assert_int_equal(again, 1000 + WINDOW);
    in.staying = 0;
    in.now_ms = 3000;
    judge(&in, "RR", verdict, &again);
    assert_string_equal(verdict, "++");
    assert_true(again == NEVER);
    /* The first is Ready again, and about to come back: the second may take its place. */
    assert_int_equal(lbc_backends_put(&want, &one), 0);
    lbc_freeze_past_prune(&past, &rule, &have, &want, 4000);
    assert_int_equal(past.len, 0);
    in.staying = 2;
    in.now_ms = 4000;
    judge(&in, "R", verdict, &again);
    assert_string_equal(verdict, "-");
}

/* What went counts for one window, also when a failed removal left it there: then it does not. */
static void test_past(void **state)
{
    CCM_CLEANUP(lbc_freeze_past_fini) struct lbc_freeze_past past = { 0 };
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends have = { 0 };
    const struct lbc_backends none = { 0 };
    const struct lbc_backend one = instance("i-1");
    const struct lbc_backend two = instance("i-2");

    (void)state;
    lbc_freeze_past_record(&past, &one, 8, 1000);
    lbc_freeze_past_record(&past, &two, 8, 2000);
    assert_int_equal(lbc_backends_put(&have, &one), 0);
    lbc_freeze_past_prune(&past, &rule, &have, &none, 3000);
    assert_int_equal(past.len, 1);
    assert_string_equal(past.items[0].server, "i-2");
    lbc_freeze_past_prune(&past, &rule, &have, &none, 2000 + WINDOW);
    assert_int_equal(past.len, 0);
}

/* A group of ten from which a node goes every ten seconds, over an hour: never more than half of
 * what was there within any window, and the one that is ready stays. */
static void test_never_more_than_half(void **state)
{
    CCM_CLEANUP(lbc_freeze_past_fini) struct lbc_freeze_past past = { 0 };
    const struct lbc_backends none = { 0 };
    int64_t sizes[400] = { 0 };
    size_t size = 40;
    size_t sick = 0;

    (void)state;
    for (int64_t step = 0; step < 400; step++) {
        const int64_t now = 1000 + step * 10000;
        struct lbc_freeze_input in = {
            .rule = &rule, .past = &past, .server_since_ms = 1, .now_ms = now, .size = size
        };
        char letters[65] = "";
        char verdict[65];
        int64_t again = 0;

        sick += sick + 1 < size ? 1 : 0;
        in.staying = size - sick;
        memset(letters, 'R', sick);
        lbc_freeze_past_prune(&past, &rule, &none, &none, now);
        judge(&in, letters, verdict, &again);
        for (size_t i = 0; verdict[i] != '\0'; i++) {
            char id[16];

            ccm_text_printf(id, sizeof(id), "i-%lld-%zu", (long long)step, i);
            const struct lbc_backend one = instance(id);

            if (verdict[i] == '-') {
                lbc_freeze_past_record(&past, &one, in.size, now);
                size--;
                sick--;
            }
        }
        sizes[step] = (int64_t)size;
        /* The window is 30 steps. */
        const int64_t before = step < 30 ? 40 : sizes[step - 30];

        if ((int64_t)size < (before <= 3 ? before - 1 : before - before / 2 - 1)) {
            fail_msg("step %lld: %lld became %zu within a window", (long long)step,
                     (long long)before, size);
        }
    }
    assert_true(size >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_released),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_past),
        cmocka_unit_test(test_never_more_than_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
