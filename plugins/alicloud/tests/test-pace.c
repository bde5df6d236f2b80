/* Resources that take one change at a time: how long they are busy is learned from refusals. */
#include "alicloud/quota/pace.h"

#include "util/attr.h"

#include "check.h"
#include "util/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A resource that is busy for so long after each change, and what became of the changes. */
struct resource {
    const char *id;
    int64_t busy_ms;
    int64_t until_ms;
    int64_t now_ms;
    unsigned stalls;  /* so many tries are refused, whenever they come */
    unsigned refused; /* of all changes */
    unsigned most;    /* of one change */
};

/* One change, with its tries. An exchange takes 5 ms; it is carried out after 2. */
static void change(struct ali_paces *paces, struct resource *resource)
{
    unsigned tries = 0;

    for (;;) {
        int64_t sent;

        resource->now_ms += ali_pace_wait_ms(paces, resource->id, resource->now_ms);
        sent = resource->now_ms;
        resource->now_ms += 5;
        tries++;
        if (resource->stalls > 0) {
            resource->stalls--;
        } else if (sent + 2 >= resource->until_ms) {
            resource->until_ms = sent + 2 + resource->busy_ms;
            ali_pace_done(paces, resource->id, sent, resource->now_ms);
            break;
        }
        resource->refused++;
        resource->now_ms += ali_pace_refused(paces, resource->id, sent, resource->now_ms, tries);
        assert_in_range(tries, 1, 9);
    }
    resource->most = tries - 1 > resource->most ? tries - 1 : resource->most;
}

/* The time that so many changes take. */
static int64_t run(struct ali_paces *paces, struct resource *resource, int count)
{
    const int64_t began = resource->now_ms;

    for (int i = 0; i < count; i++) {
        change(paces, resource);
    }
    return resource->now_ms - began;
}

static void test_not_busy(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .now_ms = 1000 };

    (void)state;
    assert_non_null(paces);
    assert_int_equal(run(paces, &resource, 60), 60 * 5);
    assert_int_equal(resource.refused, 0);
    ali_paces_free(paces);
}

/* At most one refusal per change, few of them at all, and little more time than it must take. */
static void test_learns(void **state)
{
    static const int64_t busy[] = { 30, 100, 300, 500, 800, 950 };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(busy); i++) {
        struct ali_paces *paces = ali_paces_new();
        struct resource resource = { .id = "lb-1", .busy_ms = busy[i], .now_ms = 1000 };
        const int64_t took = run(paces, &resource, 60);

        assert_int_equal(resource.most, 1);
        assert_in_range(resource.refused, 1, 10);
        assert_in_range(took, 59 * busy[i], 59 * (busy[i] * 9 / 8 + 25) + 3000);
        resource.refused = 0;
        (void)run(paces, &resource, 60);
        assert_in_range(resource.refused, 0, 2);
        ali_paces_free(paces);
    }
}

/* Longer than the first pause: pauses double until it is known. */
static void test_long(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .busy_ms = 5000, .now_ms = 1000 };

    (void)state;
    (void)run(paces, &resource, 20);
    assert_in_range(resource.most, 2, 4);
    assert_in_range(resource.refused, 1, 10);
    ali_paces_free(paces);
}

/* Somebody else keeps it busy for a while, twice: that says nothing about our own changes. */
static void test_stall(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .now_ms = 1000 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        resource.stalls = 3;
        assert_in_range(run(paces, &resource, 1), 6000, 7100); /* 1 s, 2 s, 4 s */
        assert_in_range(run(paces, &resource, 40), 40 * 5, 40 * 5 + 3000);
        assert_in_range(run(paces, &resource, 40), 40 * 5, 40 * 5 + 20 * 40);
        resource.now_ms += i * 20000;
    }
    /* In the midst of what it was thought to take. */
    resource.stalls = 3;
    (void)run(paces, &resource, 1);
    resource.stalls = 3;
    assert_in_range(run(paces, &resource, 1), 7000, 9000);
    assert_in_range(run(paces, &resource, 40), 40 * 5, 40 * 5 + 3000);
    ali_paces_free(paces);
}

/* It has become faster, and that is found out while it is still remembered. */
static void test_faster(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .busy_ms = 900, .now_ms = 1000 };

    (void)state;
    (void)run(paces, &resource, 30);
    resource.busy_ms = 0;
    (void)run(paces, &resource, 80);
    assert_in_range(run(paces, &resource, 20), 20 * 5, 20 * 5 + 20 * 20);
    ali_paces_free(paces);
}

static void test_changes(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .busy_ms = 300, .now_ms = 1000 };

    (void)state;
    (void)run(paces, &resource, 20);
    /* It takes longer: learned again. */
    resource.busy_ms = 700;
    resource.refused = 0;
    resource.most = 0;
    (void)run(paces, &resource, 20);
    assert_in_range(resource.refused, 1, 6);
    assert_int_equal(resource.most, 1);
    /* After a pause there is nothing to wait for. */
    resource.now_ms += 10000;
    assert_int_equal(ali_pace_wait_ms(paces, "lb-1", resource.now_ms), 0);
    /* It is not busy any more: forgotten after a while. */
    resource.busy_ms = 0;
    resource.now_ms += 300000;
    assert_int_equal(run(paces, &resource, 20), 20 * 5);
    ali_paces_free(paces);
}

/* A pause between a refusal and the next change is no time that the resource was busy. */
static void test_pause(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .now_ms = 1000 };

    (void)state;
    assert_int_equal(ali_pace_refused(paces, "lb-1", 1000, 1005, 1), 1000); /* and given up */
    resource.now_ms += 200000;
    assert_in_range(run(paces, &resource, 20), 0, 5000);
    assert_int_equal(resource.refused, 0);
    ali_paces_free(paces);
}

/* One change that takes very long does not make those after it wait as long, nor do two. */
static void test_long_once(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    struct resource resource = { .id = "lb-1", .busy_ms = 40000, .now_ms = 1000 };

    (void)state;
    change(paces, &resource);
    resource.busy_ms = 0;
    change(paces, &resource);
    assert_in_range(run(paces, &resource, 20), 0, 5000);
    for (int i = 0; i < 2; i++) {
        resource.busy_ms = 40000;
        change(paces, &resource);
        resource.busy_ms = 0;
        change(paces, &resource);
    }
    assert_in_range(run(paces, &resource, 20), 0, 20000);
    ali_paces_free(paces);
}

/* One knows nothing of the other, and of very many those that are forgotten go. */
static void test_many(void **state)
{
    struct ali_paces *paces = ali_paces_new();
    char id[24];

    (void)state;
    for (int i = 0; i < 2000; i++) {
        ccm_text_printf(id, sizeof(id), "lb-%d", i);
        assert_int_equal(ali_pace_wait_ms(paces, id, i * 1000), 0);
        assert_int_equal(ali_pace_refused(paces, id, i * 1000, i * 1000 + 5, 1), 1000);
        ali_pace_done(paces, id, i * 1000 + 1005, i * 1000 + 1010);
        assert_true(ali_pace_wait_ms(paces, id, i * 1000 + 1010) > 0);
    }
    assert_true(ali_pace_wait_ms(paces, "lb-1999", 1999 * 1000 + 1010) > 0);
    assert_int_equal(ali_pace_wait_ms(paces, "lb-0", 1999 * 1000), 0);
    ali_paces_free(paces);
    ali_paces_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_busy), cmocka_unit_test(test_learns),
        cmocka_unit_test(test_long),     cmocka_unit_test(test_changes),
        cmocka_unit_test(test_pause),    cmocka_unit_test(test_long_once),
        cmocka_unit_test(test_stall),    cmocka_unit_test(test_faster),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
