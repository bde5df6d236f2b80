/* What is remembered about nodes and slices that went, and how they went. */
#include "check.h"
#include "lbc/model/absence.h"
#include "lbc/model/class.h"
#include "objects.h"
#include "support/fake_host.h"

#include <string.h>

#define KEY "default/web"

struct world {
    struct fake_host *fake;
    struct lbc_absence *absence;
};

static void world_begin(struct world *world)
{
    world->fake = fake_host_new();
    world->absence = lbc_absence_new(fake_host_table(world->fake));
    assert_non_null(world->absence);
    fake_host_put(world->fake, &obj_service()->meta);
}

static void world_end(struct world *world)
{
    assert_int_equal(fake_host_borrowed(world->fake), 0);
    lbc_absence_free(world->absence);
    fake_host_free(world->fake);
}

static struct ccm_change change_of(const struct ccm_object *before, const struct ccm_object *after,
                                   bool missed)
{
    return (struct ccm_change){
        .struct_size = sizeof(struct ccm_change),
        .before = before,
        .after = after,
        .flags = missed ? CCM_CHANGE_MISSING : 0,
    };
}

static void note_node(const struct world *world, const struct ccm_node *before,
                      const struct ccm_node *after, bool missed)
{
    const struct ccm_change change =
        change_of((const struct ccm_object *)before, (const struct ccm_object *)after, missed);

    lbc_absence_record_node(world->absence, &change);
}

static bool slice_is_default(const void *arg, const struct ccm_service *service)
{
    (void)arg;
    return lbc_class_is_default(service);
}

static void note_slice(const struct world *world, const struct ccm_endpoint_slice *before,
                       const struct ccm_endpoint_slice *after, bool missed)
{
    const struct ccm_change change =
        change_of((const struct ccm_object *)before, (const struct ccm_object *)after, missed);

    lbc_absence_record_slice(world->absence, &change, slice_is_default, NULL);
}

static struct lbc_absent find_instance(const struct world *world, const char *id)
{
    struct lbc_absent absent;

    lbc_absence_find_node(world->absence, LBC_ABSENCE_BY_INSTANCE, id, &absent);
    return absent;
}

static struct ccm_endpoint_slice *slice_with(const char *name, const char *address,
                                             const char *node)
{
    struct ccm_endpoint_slice *slice = obj_slice(name);

    if (address != NULL) {
        obj_endpoint(slice, address, node, CCM_ENDPOINT_READY);
    }
    return slice;
}

static void test_nodes(void **state)
{
    const struct ccm_node *one = obj_node("n1", "r.i-1");
    const struct ccm_node *other = obj_node("n1", "r.i-2");
    struct lbc_absent absent;
    struct world world;
    int64_t began = 0;

    (void)state;
    world_begin(&world);
    began = fake_host_now(world.fake);
    note_node(&world, one, NULL, false);
    fake_host_advance(world.fake, 5000);
    absent = find_instance(&world, "i-1");
    assert_true(absent.seen);
    assert_int_equal(absent.since_ms, began);
    assert_string_equal(absent.name, "n1");
    lbc_absence_find_node(world.absence, LBC_ABSENCE_BY_NAME, "n1", &absent);
    assert_true(absent.seen);
    assert_string_equal(absent.instance, "i-1");
    /* It comes back, and is only missed the next time. */
    note_node(&world, NULL, one, false);
    note_node(&world, one, NULL, true);
    fake_host_advance(world.fake, 5000);
    absent = find_instance(&world, "i-1");
    assert_false(absent.seen);
    assert_int_equal(absent.since_ms, began + 5000);
    /* Another instance goes by its name: that the first is gone is certain. */
    note_node(&world, NULL, one, false);
    note_node(&world, one, other, false);
    assert_true(find_instance(&world, "i-1").seen);
    world_end(&world);
}

static struct lbc_absent find_address(const struct world *world, const char *address)
{
    struct lbc_absent absent;

    lbc_absence_find_node(world->absence, LBC_ABSENCE_BY_ADDRESS, address, &absent);
    return absent;
}

/* An address whose place another one took is gone for certain; of one that a node only lost it is
 * not known. */
static void test_addresses(void **state)
{
    struct ccm_node *before = obj_node("n1", "r.i-1");
    struct ccm_node *moved = obj_node("n1", "r.i-1");
    struct ccm_node *bare = obj_node("n1", "r.i-1");
    struct lbc_absent absent;
    struct world world;
    int64_t began = 0;

    (void)state;
    obj_address(before, "10.0.0.1");
    obj_address(before, "fd00::1");
    obj_address(moved, "10.0.0.2");
    world_begin(&world);
    began = fake_host_now(world.fake);
    note_node(&world, before, moved, false);
    fake_host_advance(world.fake, 5000);
    absent = find_address(&world, "10.0.0.1");
    assert_true(absent.seen);
    assert_int_equal(absent.since_ms, began);
    assert_string_equal(absent.name, "n1");
    assert_string_equal(absent.instance, "i-1");
    absent = find_address(&world, "fd00::1");
    assert_false(absent.seen);
    assert_int_equal(absent.since_ms, began);
    assert_false(find_instance(&world, "i-1").seen);
    note_node(&world, moved, bare, false);
    assert_false(find_address(&world, "10.0.0.2").seen);
    /* What has it again has not lost it. */
    note_node(&world, bare, before, false);
    fake_host_advance(world.fake, 5000);
    assert_int_equal(find_address(&world, "10.0.0.1").since_ms, began + 10000);
    world_end(&world);
}

/* A node that nobody ever saw is missing since somebody asked; until its deletion is seen. */
static void test_unknown_node(void **state)
{
    struct world world;
    int64_t began = 0;

    (void)state;
    world_begin(&world);
    began = fake_host_now(world.fake);
    assert_false(find_instance(&world, "i-9").seen);
    fake_host_advance(world.fake, 5000);
    assert_int_equal(find_instance(&world, "i-9").since_ms, began);
    assert_string_equal(find_instance(&world, "i-9").name, "");
    assert_string_equal(find_instance(&world, "i-9").instance, "i-9");
    note_node(&world, obj_node("n9", "r.i-9"), NULL, false);
    assert_true(find_instance(&world, "i-9").seen);
    world_end(&world);
}

/* What nobody asks about for a day is forgotten. */
static void test_forgotten(void **state)
{
    struct lbc_absent absent;
    struct world world;

    (void)state;
    world_begin(&world);
    note_node(&world, obj_node("n1", "r.i-1"), NULL, false);
    note_slice(&world, slice_with("a", "10.0.0.1", "n1"), NULL, true);
    fake_host_advance(world.fake, INT64_C(25) * 3600 * 1000);
    note_node(&world, obj_node("n2", "r.i-2"), NULL, false);
    assert_false(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.1", &absent));
    assert_true(find_instance(&world, "i-2").seen);
    assert_false(find_instance(&world, "i-1").seen);
    world_end(&world);
}

static void test_missed_slices(void **state)
{
    const struct ccm_endpoint_slice *a = slice_with("a", "10.0.0.1", "n1");
    const struct ccm_endpoint_slice *b = slice_with("b", "10.0.0.2", "n2");
    struct lbc_absent absent;
    struct world world;
    int64_t began = 0;

    (void)state;
    world_begin(&world);
    began = fake_host_now(world.fake);
    note_slice(&world, a, NULL, true);
    note_slice(&world, b, NULL, true);
    fake_host_advance(world.fake, 5000);
    assert_true(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.1", &absent));
    assert_int_equal(absent.since_ms, began);
    assert_true(lbc_absence_find_endpoint_on(world.absence, KEY, "n2", &absent));
    assert_false(lbc_absence_find_endpoint_on(world.absence, KEY, "n3", &absent));
    assert_false(lbc_absence_find_endpoint(world.absence, "default/other", "10.0.0.1", &absent));
    assert_true(lbc_absence_lost_slices(world.absence, KEY, false, &absent));
    assert_int_equal(absent.since_ms, began);
    /* Another slice tells the first address: from now on it decides. */
    note_slice(&world, NULL, slice_with("c", "10.0.0.1", "n1"), false);
    assert_false(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.1", &absent));
    assert_true(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.2", &absent));
    world_end(&world);
}

static void test_deleted_slices(void **state)
{
    const struct ccm_endpoint_slice *a = slice_with("a", "10.0.0.1", "n1");
    struct lbc_absent absent;
    struct world world;

    (void)state;
    world_begin(&world);
    note_slice(&world, a, NULL, false);
    assert_false(lbc_absence_lost_slices(world.absence, KEY, true, &absent));
    assert_false(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.1", &absent));
    /* One that came and was missed then. */
    note_slice(&world, NULL, a, false);
    note_slice(&world, a, NULL, true);
    assert_true(lbc_absence_lost_slices(world.absence, KEY, false, &absent));
    world_end(&world);
}

/* A Service that never had a slice lacks none, unless an earlier process may have seen them. */
static void test_no_slices(void **state)
{
    struct lbc_absent absent;
    struct world world;
    int64_t began = 0;

    (void)state;
    world_begin(&world);
    began = fake_host_now(world.fake);
    assert_false(lbc_absence_lost_slices(world.absence, KEY, false, &absent));
    assert_true(lbc_absence_lost_slices(world.absence, KEY, true, &absent));
    fake_host_advance(world.fake, 5000);
    assert_true(lbc_absence_lost_slices(world.absence, KEY, false, &absent));
    assert_int_equal(absent.since_ms, began);
    world_end(&world);
}

/* A slice that goes from the cache with its Service was not deleted by anybody. */
static void test_slice_of_unknown_service(void **state)
{
    const struct ccm_endpoint_slice *a = slice_with("a", "10.0.0.1", "n1");
    struct lbc_absent absent;
    struct world world;

    (void)state;
    world_begin(&world);
    fake_host_remove(world.fake, CCM_KIND_SERVICE, KEY);
    note_slice(&world, a, NULL, false);
    assert_true(lbc_absence_lost_slices(world.absence, KEY, true, &absent));
    world_end(&world);
}

/* The Service itself: deleted, there is nothing to be remembered; missed, it may come back. */
static void test_service(void **state)
{
    struct ccm_service *service = obj_service();
    const struct ccm_change missed = change_of(&service->meta, NULL, true);
    const struct ccm_change deleted = change_of(&service->meta, NULL, false);
    struct lbc_absent absent;
    struct world world;

    (void)state;
    world_begin(&world);
    note_slice(&world, slice_with("a", "10.0.0.1", "n1"), NULL, true);
    lbc_absence_record_service(world.absence, &missed);
    assert_true(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.1", &absent));
    lbc_absence_record_service(world.absence, &deleted);
    assert_false(lbc_absence_find_endpoint(world.absence, KEY, "10.0.0.1", &absent));
    world_end(&world);
}

static void count_key(void *arg, const char *key)
{
    int *count = arg;

    assert_string_equal(key, KEY);
    (*count)++;
}

static void test_held(void **state)
{
    struct world world;
    int count = 0;

    (void)state;
    world_begin(&world);
    assert_false(lbc_absence_set_frozen(world.absence, KEY, true));
    assert_true(lbc_absence_set_frozen(world.absence, KEY, true));
    lbc_absence_list_frozen(world.absence, count_key, &count);
    assert_int_equal(count, 1);
    assert_true(lbc_absence_set_frozen(world.absence, KEY, false));
    lbc_absence_list_frozen(world.absence, count_key, &count);
    assert_int_equal(count, 1);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_nodes, obj_end),
        cmocka_unit_test_teardown(test_addresses, obj_end),
        cmocka_unit_test_teardown(test_unknown_node, obj_end),
        cmocka_unit_test_teardown(test_forgotten, obj_end),
        cmocka_unit_test_teardown(test_missed_slices, obj_end),
        cmocka_unit_test_teardown(test_deleted_slices, obj_end),
        cmocka_unit_test_teardown(test_no_slices, obj_end),
        cmocka_unit_test_teardown(test_slice_of_unknown_service, obj_end),
        cmocka_unit_test_teardown(test_service, obj_end),
        cmocka_unit_test_teardown(test_held, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
