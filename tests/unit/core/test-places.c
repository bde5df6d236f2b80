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

    assert_int_equal(inet_pton(AF_INET, address, &from.sin_addr), 1);
    return admin_places_open(places, -1, (const struct sockaddr *)(const void *)&from);
}

static size_t leaving(const struct admin_places *places)
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
    assert_int_equal(leaving(&places), 0);
    assert_non_null(open_from(&places, "10.0.0.1"));
    assert_true(oldest->leaving);
    for (unsigned i = ADMIN_PLACES + 1; i < ADMIN_PLACES_ALL; i++) {
        assert_non_null(open_from(&places, "10.0.0.1"));
    }
    assert_false(kept->leaving);
    assert_int_equal(leaving(&places), ADMIN_PLACES_ALL - ADMIN_PLACES);
    assert_null(open_from(&places, "10.0.0.1")); /* none of them has gone yet */
    admin_place_close(oldest);
    assert_non_null(open_from(&places, "10.0.0.1"));
    admin_place_close(NULL);
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
    assert_true(admin_place_add(kept, third));
    assert_true(held[0]->leaving);
    assert_false(idle->leaving || held[1]->leaving || held[2]->leaving || kept->leaving);
    assert_false(admin_place_add(held[0], 1)); /* it was shut down, and does not count */
    assert_int_equal(places.bodies, 3 * third);
    admin_place_close(held[0]);
    assert_int_equal(places.bodies, 3 * third);
    admin_place_end_request(held[1], false);
    assert_int_equal(places.bodies, 2 * third);
    assert_false(admin_place_add(held[2], ADMIN_PLACES_BODIES)); /* alone too much */
    assert_true(held[2]->leaving);
    assert_int_equal(places.bodies, third);
    admin_place_end_request(kept, true);
    assert_int_equal(places.bodies, 0);
    admin_places_fini(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answered_ones_stay),
        cmocka_unit_test(test_the_address_with_most_goes_first),
        cmocka_unit_test(test_bodies_have_a_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
