#include "admin/places.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* No socket is behind them: shutdown() of -1 fails, which is fine. */
static struct admin_place *open_from(struct admin_places *places, const char *address)
{
    struct sockaddr_in from = { .sin_family = AF_INET };
    struct sockaddr_in6 from6 = { .sin6_family = AF_INET6 };
    const void *any = &from;

    if (inet_pton(AF_INET, address, &from.sin_addr) != 1) {
        assert_int_equal(inet_pton(AF_INET6, address, &from6.sin6_addr), 1);
        any = &from6;
    }
    return admin_places_open(places, -1, any);
}

static size_t count_leaving(const struct admin_places *places)
{
    size_t count = 0;

    for (size_t i = 0; i < ADMIN_PLACES_ALL; i++) {
        count += places->items[i].taken && places->items[i].leaving ? 1 : 0;
    }
    return count;
}

/* One that had an answer stays, however many come that had none. */
static void test_answered_ones_stay(void **state)
{
    struct admin_places places;

    (void)state;
    assert_int_equal(admin_places_init(&places), 0);

    struct admin_place *kept = open_from(&places, "10.0.0.1");
    struct admin_place *oldest = open_from(&places, "10.0.0.1");

    admin_place_end_request(kept, true);
    for (unsigned i = 2; i < ADMIN_PLACES; i++) {
        assert_non_null(open_from(&places, "10.0.0.1"));
    }
    assert_int_equal(count_leaving(&places), 0);
    assert_non_null(open_from(&places, "10.0.0.1"));
    assert_true(oldest->leaving);
    for (unsigned i = ADMIN_PLACES + 1; i < ADMIN_PLACES_ALL; i++) {
        assert_non_null(open_from(&places, "10.0.0.1"));
    }
    assert_false(kept->leaving);
    assert_int_equal(count_leaving(&places), ADMIN_PLACES_ALL - ADMIN_PLACES);
    assert_null(open_from(&places, "10.0.0.1")); /* none of them has gone yet */
    admin_place_close(oldest);
    assert_non_null(open_from(&places, "10.0.0.1"));
    admin_place_close(NULL);
    admin_places_fini(&places);
}

/* Connections of one address, answered or not, never close the few of another one. */
static void test_one_address_keeps_no_other_out(void **state)
{
    static const bool answered[] = { true, false };

    (void)state;
    for (size_t mode = 0; mode < 2; mode++) {
        struct admin_places places;
        struct admin_place *few[4];

        assert_int_equal(admin_places_init(&places), 0);
        for (unsigned i = 0; i < ADMIN_PLACES; i++) {
            admin_place_end_request(open_from(&places, "10.0.0.2"), answered[mode]);
        }
        for (size_t i = 0; i < 4; i++) {
            few[i] = open_from(&places, "10.0.0.1");
        }
        for (unsigned i = 0; i < 20; i++) {
            admin_place_end_request(open_from(&places, "10.0.0.2"), answered[mode]);
        }
        for (size_t i = 0; i < 4; i++) {
            assert_false(few[i]->leaving);
        }
        admin_places_fini(&places);
    }
}

/* Each IPv6 address is one of its own: pods of a cluster share a network. */
static void test_ipv6(void **state)
{
    struct admin_places places;
    struct admin_place *kept;

    (void)state;
    assert_int_equal(admin_places_init(&places), 0);
    kept = open_from(&places, "2001:db8::1");
    for (unsigned i = 0; i < ADMIN_PLACES; i++) {
        admin_place_end_request(open_from(&places, "2001:db8::2"), true);
    }
    assert_false(kept->leaving);
    admin_places_fini(&places);
}

/* Of those that had one, the address with most connections gives one up. */
static void test_the_address_with_most_goes_first(void **state)
{
    struct admin_places places;
    struct admin_place *kept = NULL;
    struct admin_place *first = NULL;

    (void)state;
    assert_int_equal(admin_places_init(&places), 0);
    kept = open_from(&places, "10.0.0.1");
    admin_place_end_request(kept, true);
    for (unsigned i = 1; i < ADMIN_PLACES; i++) {
        struct admin_place *place = open_from(&places, i % 2 == 0 ? "10.0.0.2" : "10.0.0.3");

        first = i == 1 ? place : first;
        admin_place_end_request(place, true);
    }
    assert_non_null(open_from(&places, "10.0.0.4"));
    assert_true(first->leaving); /* 10.0.0.3 has one more than 10.0.0.2 */
    assert_false(kept->leaving);
    admin_places_fini(&places);
}

static void test_bodies_have_a_budget(void **state)
{
    const size_t third = ADMIN_PLACES_BODIES / 3;
    struct admin_places places;

    (void)state;
    assert_int_equal(admin_places_init(&places), 0);

    struct admin_place *kept = open_from(&places, "10.0.0.1");
    struct admin_place *idle = open_from(&places, "10.0.0.2");
    struct admin_place *held[3];

    admin_place_end_request(kept, true);
    for (size_t i = 0; i < 3; i++) {
        held[i] = open_from(&places, "10.0.0.2");
        assert_true(admin_place_add(held[i], third));
    }
    assert_true(admin_place_add(kept, third / 2));
    assert_true(held[0]->leaving);
    assert_false(idle->leaving || held[1]->leaving || held[2]->leaving || kept->leaving);
    assert_false(admin_place_add(held[0], 1)); /* it was shut down, and does not count */
    assert_int_equal(places.bodies, 2 * third + third / 2);
    admin_place_close(held[0]);
    assert_int_equal(places.bodies, 2 * third + third / 2);
    admin_place_end_request(held[1], false);
    assert_int_equal(places.bodies, third + third / 2);
    assert_false(admin_place_add(held[2], ADMIN_PLACES_BODIES)); /* alone too much */
    assert_true(held[2]->leaving);
    assert_int_equal(places.bodies, third / 2);
    admin_place_end_request(kept, true);
    assert_int_equal(places.bodies, 0);
    admin_places_fini(&places);
}

/* An answer of before is no right to hold everything: the address that holds most gives way. */
static void test_most_bytes_go_first(void **state)
{
    struct admin_places places;

    (void)state;
    assert_int_equal(admin_places_init(&places), 0);

    struct admin_place *kept = open_from(&places, "10.0.0.1");
    struct admin_place *small = open_from(&places, "10.0.0.2");
    struct admin_place *large = open_from(&places, "10.0.0.2");

    admin_place_end_request(small, true);
    admin_place_end_request(large, true);
    assert_true(admin_place_add(small, ADMIN_PLACES_BODIES / 4));
    assert_true(admin_place_add(large, ADMIN_PLACES_BODIES / 2));
    assert_true(admin_place_add(kept, ADMIN_PLACES_BODIES / 3));
    assert_true(large->leaving);
    assert_false(kept->leaving || small->leaving);
    admin_places_fini(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answered_ones_stay),
        cmocka_unit_test(test_the_address_with_most_goes_first),
        cmocka_unit_test(test_bodies_have_a_budget),
        cmocka_unit_test(test_one_address_keeps_no_other_out),
        cmocka_unit_test(test_ipv6),
        cmocka_unit_test(test_most_bytes_go_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
