/* Namespaces that ask for one action: whose turn it is, and which of them are forgotten. */
#include "alicloud/quota/turn.h"

#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include "check.h"

static const struct ali_request no_tenant = { 0 };

static int turns_begin(void **state)
{
    struct ali_turns *turns = ali_turns_new(ALI_SLB, "AddTags");

    if (turns != NULL) {
        turns->rate = (struct ali_rate){ .count = 1000, .window_ms = 60000 };
        ali_quota_share_init(&turns->share, turns->rate.count, 0, turns->rate.window_ms);
    }
    *state = turns;
    return turns == NULL ? -1 : 0;
}

static int turns_end(void **state)
{
    ali_turns_free(*state);
    return 0;
}

static void turns_enter_call(struct ali_turns *turns, const char *object,
                             enum ali_priority priority, int64_t now_ms, struct ali_ticket *ret)
{
    const struct ali_call call = { .object = object, .priority = priority };

    assert_int_equal(ali_turns_enter(turns, &call, &no_tenant, now_ms, ret), 0);
}

static void test_namespaces(void **state)
{
    static const char *const objects[] = { "shop/web", "shop/api", "shops/web", "web", NULL };
    struct ali_turns *turns = *state;
    struct ali_ticket tickets[CCM_ARRAY_LEN(objects)];

    for (size_t i = 0; i < CCM_ARRAY_LEN(objects); i++) {
        turns_enter_call(turns, objects[i], ALI_PRIO_SPEC, 0, &tickets[i]);
    }
    assert_ptr_equal(tickets[0].tenant, tickets[1].tenant);
    assert_ptr_not_equal(tickets[0].tenant, tickets[2].tenant);
    assert_ptr_not_equal(tickets[0].tenant, tickets[3].tenant);
    assert_ptr_equal(tickets[3].tenant, tickets[4].tenant);
    for (size_t i = 0; i < CCM_ARRAY_LEN(objects); i++) {
        ali_ticket_leave(&tickets[i]);
    }
}

/* However many there were: those that want nothing any more are forgotten, and no others. */
static void test_memory_is_bounded(void **state)
{
    struct ali_turns *turns = *state;
    struct ali_ticket waits;
    struct ali_ticket ticket;

    turns_enter_call(turns, "waits/a", ALI_PRIO_SPEC, 0, &waits);
    for (int i = 0; i < 5000; i++) {
        char object[32];

        turns_enter_call(turns, "had/a", ALI_PRIO_SPEC, i * 1000, &ticket);
        assert_int_equal(ali_turns_poll(turns, &ticket, false, i * 1000), 0);
        ali_turns_end(turns, i * 1000, i * 1000);
        ccm_text_printf(object, sizeof(object), "n-%d/a", i);
        turns_enter_call(turns, object, ALI_PRIO_SPEC, i * 1000, &ticket);
        ali_ticket_leave(&ticket);
        assert_true(ccm_strmap_len(turns->tenants) <= 64);
    }
    assert_true(ccm_strmap_has(turns->tenants, "waits"));
    assert_true(ccm_strmap_has(turns->tenants, "had"));
    ali_ticket_leave(&waits);
}

/* e: enters, s: is served, l: leaves. */
static void test_turns(void **state)
{
    static const struct {
        char act;
        size_t ticket;
        const char *object;
        int64_t turn; /* that it gets */
    } rows[] = {
        { 'e', 0, "a/1", 1 }, { 'e', 1, "a/2", 2 }, { 'e', 2, "a/3", 3 }, { 'e', 3, "b/1", 1 },
        { 's', 0, "a/1", 0 }, { 'e', 4, "b/2", 2 }, { 'e', 5, "c/1", 2 }, { 'l', 2, "a/3", 0 },
        { 'e', 6, "a/4", 3 }, { 's', 3, "b/1", 0 }, { 's', 1, "a/2", 0 }, { 's', 4, "b/2", 0 },
        { 's', 5, "c/1", 0 }, { 'e', 7, "b/3", 3 }, /* it has waited for nothing */
        { 's', 6, "a/4", 0 }, { 's', 7, "b/3", 0 }, { 'e', 8, "c/2", 4 },
    };
    struct ali_turns *turns = *state;
    struct ali_ticket tickets[10];

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ali_ticket *ticket = &tickets[rows[i].ticket];

        print_message("row %zu\n", i);
        switch (rows[i].act) {
        case 'e':
            turns_enter_call(turns, rows[i].object, ALI_PRIO_BULK, 0, ticket);
            assert_int_equal(ticket->turn, rows[i].turn);
            break;
        case 's':
            assert_int_equal(ali_turns_poll(turns, ticket, false, 0), 0);
            break;
        default:
            ali_ticket_leave(ticket);
        }
    }
    turns_enter_call(turns, "c/3", ALI_PRIO_SPEC, 0, &tickets[9]);
    assert_int_equal(tickets[9].turn, 1);
    ali_ticket_leave(&tickets[8]);
    ali_ticket_leave(&tickets[9]);
}

/* What failed again and again is served in its order, also when those that come first have not
 * asked again yet. */
static void test_aged_retries_in_any_order(void **state)
{
    struct ali_turns *turns = *state;
    struct ali_ticket tickets[30];
    struct ali_ticket ticket;
    const int64_t full_ms = 130000; /* two windows later */
    const int64_t free_ms = 200000;
    size_t served = 0;

    ali_quota_share_init(&turns->share, 90, 0, turns->rate.window_ms);
    for (size_t i = 0; i < CCM_ARRAY_LEN(tickets); i++) {
        turns_enter_call(turns, "a/1", ALI_PRIO_RETRY, 0, &tickets[i]);
    }
    do {
        turns_enter_call(turns, "a/2", ALI_PRIO_REMOVE, full_ms, &ticket);
    } while (ali_turns_poll(turns, &ticket, false, full_ms) == 0);
    ali_ticket_leave(&ticket);
    for (size_t i = 0; i < CCM_ARRAY_LEN(tickets); i++) {
        assert_true(ali_turns_poll(turns, &tickets[i], false, full_ms) > 0);
    }
    while (turns->running > 0) {
        ali_turns_end(turns, full_ms, full_ms);
    }
    for (size_t i = CCM_ARRAY_LEN(tickets); i > 0; i--) {
        if (ali_turns_poll(turns, &tickets[i - 1], false, free_ms) == 0) {
            assert_true(i <= 9);
            served++;
        }
    }
    assert_int_equal(served, 9);
    for (size_t i = 0; i < CCM_ARRAY_LEN(tickets); i++) {
        ali_ticket_leave(&tickets[i]);
    }
}

#define TURN_TEST(fn) cmocka_unit_test_setup_teardown(fn, turns_begin, turns_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TURN_TEST(test_namespaces),
        TURN_TEST(test_memory_is_bounded),
        TURN_TEST(test_turns),
        TURN_TEST(test_aged_retries_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
