/* What is remembered of creations, and when another one may be sent. */
#include "check.h"

#include "lbc/creation.h"
#include "util/attr.h"

enum event {
    END,
    JUDGE,   /* none was found: `verdict`, and `wait_ms` with LATER */
    MADE,    /* a creation was answered */
    DOUBT,   /* its answer was lost */
    FOUND,   /* a list shows the load balancer */
    FORGIVE, /* it serves, or a person has changed something */
};

struct row {
    enum event event;
    int64_t at_ms;
    enum lbc_creation_verdict verdict;
    uint64_t wait_ms;
};

#define NOW(at)                                                                                    \
    {                                                                                              \
        JUDGE, (at), LBC_CREATION_NOW, 0                                                           \
    }
#define LATER(at, wait)                                                                            \
    {                                                                                              \
        JUDGE, (at), LBC_CREATION_LATER, (wait)                                                    \
    }
#define NO_MORE(at)                                                                                \
    {                                                                                              \
        JUDGE, (at), LBC_CREATION_NO_MORE, 0                                                       \
    }

static const struct {
    const char *what;
    bool once;    /* a repetition creates no second */
    bool earlier; /* an earlier process may have sent one */
    struct row rows[14];
} cases[] = {
    { "the first one is sent at once", false, false, { NOW(1000) } },
    { "an answered one is looked for, less and less often",
      false,
      false,
      { { .event = MADE, .at_ms = 1000 },
        LATER(1200, 1000),
        LATER(3000, 2000),
        LATER(5000, 4000),
        LATER(31000, 30000),
        LATER(60500, 500),
        NOW(61000) } },
    { "so is one whose answer was lost",
      false,
      false,
      { { .event = DOUBT, .at_ms = 1000 }, LATER(1001, 1000), LATER(60999, 1), NOW(61000) } },
    { "one that a list has shown is gone when no list shows it",
      false,
      false,
      { { .event = MADE, .at_ms = 1000 }, { .event = FOUND, .at_ms = 2000 }, NOW(3000) } },
    { "an earlier process may have sent one, which is looked for once",
      false,
      true,
      { LATER(5000, 1000), LATER(64999, 1), NOW(65000), NOW(900000) } },
    { "with a token nothing is waited for", true, true, { NOW(5000) } },
    { "with a token one in doubt is just repeated",
      true,
      false,
      { { .event = DOUBT, .at_ms = 1000 },
        NOW(1001),
        { .event = DOUBT, .at_ms = 2000 },
        NOW(2001),
        { .event = DOUBT, .at_ms = 3000 },
        NOW(3001),
        { .event = DOUBT, .at_ms = 4000 },
        NOW(4001) } },
    { "three without one that serves are enough for a while",
      true,
      false,
      { { .event = MADE, .at_ms = 1000 },
        NOW(1001),
        { .event = MADE, .at_ms = 2000 },
        NOW(2001),
        { .event = MADE, .at_ms = 3000 },
        NO_MORE(3001),
        NO_MORE(602999),
        NOW(603000),
        { .event = MADE, .at_ms = 603000 },
        NO_MORE(603001) } },
    { "one in doubt counts where it may be another one",
      false,
      false,
      { { .event = DOUBT, .at_ms = 1000 },
        { .event = DOUBT, .at_ms = 61000 },
        { .event = DOUBT, .at_ms = 121000 },
        LATER(121001, 1000),
        NO_MORE(181000) } },
    { "a change begins anew, but what was sent is still looked for",
      false,
      false,
      { { .event = MADE, .at_ms = 1000 },
        { .event = MADE, .at_ms = 61000 },
        { .event = MADE, .at_ms = 121000 },
        NO_MORE(181000),
        { .event = FORGIVE },
        NOW(181001),
        { .event = MADE, .at_ms = 181001 },
        { .event = FORGIVE },
        LATER(182001, 1000) } },
    { "one that serves begins anew",
      true,
      false,
      { { .event = MADE, .at_ms = 1000 },
        { .event = MADE, .at_ms = 2000 },
        { .event = FORGIVE },
        { .event = MADE, .at_ms = 3000 },
        NOW(4000) } },
};

static void play_row(struct lbc_creation *creation, size_t number, const struct row *row)
{
    const bool once = cases[number].once;
    uint64_t wait_ms = 0;

    switch (row->event) {
    case MADE:
    case DOUBT:
        lbc_creation_record(creation, row->event == MADE, once, row->at_ms);
        assert_int_equal(creation->sent, row->event == DOUBT);
        return;
    case FOUND:
        lbc_creation_found(creation);
        return;
    case FORGIVE:
        lbc_creation_forgive(creation);
        return;
    default:
        assert_int_equal(
            lbc_creation_judge(creation, once, cases[number].earlier, row->at_ms, &wait_ms),
            row->verdict);
        assert_int_equal(wait_ms, row->wait_ms);
    }
}

static void test_histories(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct lbc_creation creation = { .bound_here = !cases[i].earlier };

        print_message("%s\n", cases[i].what);
        for (const struct row *row = cases[i].rows; row->event != END; row++) {
            play_row(&creation, i, row);
        }
    }
}

static void test_new_for_a_minute(void **state)
{
    struct lbc_creation creation = { .bound_here = true };

    (void)state;
    assert_false(lbc_creation_is_new(&creation, 1000));
    lbc_creation_record(&creation, true, true, 1000);
    assert_true(lbc_creation_is_new(&creation, 1000));
    assert_true(lbc_creation_is_new(&creation, 60999));
    assert_false(lbc_creation_is_new(&creation, 61000));
    lbc_creation_found(&creation);
    assert_false(lbc_creation_is_new(&creation, 1000));
}

/* When the cloud knows the token from another request. */
static void test_used_tokens(void **state)
{
    static const struct {
        bool bound_here;
        bool sent;
        int64_t first_ms; /* when it said so first; 0 = now */
        bool used_up;
    } rows[] = {
        { true, false, 0, true },   /* nothing of the Service can have been created with it */
        { true, true, 0, false },   /* our own, perhaps */
        { false, false, 0, false }, /* that of an earlier process, perhaps */
        { true, true, 1000, true }, /* it was looked for long enough */
        { false, false, 1000, true }, { false, false, 2000, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct lbc_creation creation = {
            .bound_here = rows[i].bound_here,
            .sent = rows[i].sent,
            .named = true,
            .taken_ms = rows[i].first_ms,
        };

        lbc_creation_end_token(&creation, 61000);
        assert_int_equal(creation.attempt, rows[i].used_up ? 1 : 0);
        assert_int_equal(creation.sent, rows[i].sent && !rows[i].used_up);
        assert_false(creation.named);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),
        cmocka_unit_test(test_new_for_a_minute),
        cmocka_unit_test(test_used_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
