/* Namespaces that ask for one action: what each has had lately, and whose turn it is. */
#include "alicloud/party.h"

#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include "check.h"

#define SPAN 40000

/* All of the last span, and what is up to a quarter older. */
static void test_lately(void **state)
{
    static const struct {
        int64_t now_ms;
        bool add;
        int64_t count;   /* afterwards */
        int64_t wait_ms; /* until fewer than three */
    } rows[] = {
        { 0, true, 1, 0 },         { 9999, true, 2, 0 },       { 10000, true, 3, 40000 },
        { 35000, true, 4, 15000 }, { 40000, false, 4, 10000 }, { 49999, false, 4, 1 },
        { 50000, false, 2, 0 },    { 50000, true, 3, 10000 },  { 60000, false, 2, 0 },
        { 80000, false, 1, 0 },    { 1000000, false, 0, 0 },   { 1000000, true, 1, 0 },
    };
    struct ali_lately lately = { 0 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (rows[i].add) {
            ali_lately_add(&lately, rows[i].now_ms, SPAN);
        }
        print_message("row %zu\n", i);
        assert_int_equal(ali_lately_count(&lately, rows[i].now_ms, SPAN), rows[i].count);
        assert_int_equal(ali_lately_wait_ms(&lately, 3, rows[i].now_ms, SPAN), rows[i].wait_ms);
    }
}

/* Another span, as when options change: nothing is counted that cannot be. */
static void test_another_span(void **state)
{
    struct ali_lately lately = { 0 };

    (void)state;
    ali_lately_add(&lately, 1000000, SPAN);
    assert_int_equal(ali_lately_count(&lately, 1000000, SPAN / 10), 0);
    assert_int_equal(ali_lately_count(&lately, 1000000, 10 * SPAN), 0);
    ali_lately_add(&lately, 1000000, 10 * SPAN);
    assert_int_equal(ali_lately_count(&lately, 1000000, 10 * SPAN), 1);
    ali_lately_add(&lately, 1000000, 1);
    assert_int_equal(ali_lately_count(&lately, 1000000, 1), 1);
}

static struct ali_party *party_of(struct ali_parties *parties, const char *object)
{
    struct ali_party *party = ali_parties_get(parties, object, 0, SPAN);

    assert_non_null(party);
    return party;
}

static void test_namespaces(void **state)
{
    struct ali_parties parties;

    (void)state;
    assert_int_equal(ali_parties_init(&parties), 0);

    struct ali_party *party = party_of(&parties, "shop/web");

    assert_ptr_equal(party_of(&parties, "shop/api"), party);
    assert_ptr_not_equal(party_of(&parties, "shops/web"), party);
    assert_ptr_not_equal(party_of(&parties, "web"), party);
    assert_ptr_equal(party_of(&parties, NULL), party_of(&parties, "inventory"));
    assert_ptr_not_equal(ali_party_had(party, ALI_PRIO_NEW), ali_party_had(party, ALI_PRIO_SPEC));
    assert_ptr_equal(ali_party_had(party, ALI_PRIO_REMOVE), ali_party_had(party, ALI_PRIO_SPEC));
    ali_parties_fini(&parties);
}

/* However many there were: those that want nothing any more are forgotten, and nobody else. */
static void test_memory_is_bounded(void **state)
{
    struct ali_parties parties;

    (void)state;
    assert_int_equal(ali_parties_init(&parties), 0);

    struct ali_party *waits = party_of(&parties, "waits/a");
    struct ali_party *had = party_of(&parties, "had/a");

    (void)ali_parties_enter(&parties, waits, ALI_PRIO_SPEC);
    for (int i = 0; i < 5000; i++) {
        char object[32];

        ali_lately_add(ali_party_had(had, ALI_PRIO_SPEC), i * 1000, SPAN);
        ccm_text_printf(object, sizeof(object), "n-%d/a", i);
        assert_non_null(ali_parties_get(&parties, object, i * 1000, SPAN));
        assert_true(ccm_strmap_len(parties.all) <= 64);
    }
    assert_ptr_equal(ali_parties_get(&parties, "waits/b", 0, SPAN), waits);
    assert_ptr_equal(ali_parties_get(&parties, "had/b", 0, SPAN), had);
    ali_parties_fini(&parties);
}

/* e: enters, s: is served, l: leaves. */
static void test_turns(void **state)
{
    static const struct {
        char act;
        const char *object;
        int64_t turn; /* that it gets, or had */
    } rows[] = {
        { 'e', "a/1", 1 }, { 'e', "a/2", 2 }, { 'e', "a/3", 3 }, { 'e', "b/1", 1 },
        { 's', "a/1", 1 }, { 'e', "b/2", 2 }, { 'e', "c/1", 2 }, { 'l', "a/3", 3 },
        { 'e', "a/4", 3 }, { 's', "b/1", 1 }, { 's', "a/2", 2 }, { 's', "b/2", 2 },
        { 's', "c/1", 2 }, { 'e', "b/3", 3 }, /* it has waited for nothing */
        { 's', "a/4", 3 }, { 's', "b/3", 3 }, { 'e', "c/2", 4 },
    };
    struct ali_parties parties;

    (void)state;
    assert_int_equal(ali_parties_init(&parties), 0);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct ali_party *party = party_of(&parties, rows[i].object);

        if (rows[i].act == 'e') {
            print_message("row %zu\n", i);
            assert_int_equal(ali_parties_enter(&parties, party, ALI_PRIO_BULK), rows[i].turn);
        } else {
            ali_parties_leave(&parties, party, ALI_PRIO_BULK, rows[i].turn, rows[i].act == 's');
        }
    }
    assert_int_equal(ali_parties_enter(&parties, party_of(&parties, "c/3"), ALI_PRIO_SPEC), 1);
    ali_parties_fini(&parties);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lately),     cmocka_unit_test(test_another_span),
        cmocka_unit_test(test_namespaces), cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
