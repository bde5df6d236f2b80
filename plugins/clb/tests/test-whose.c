/* Whole passes over a load balancer that has changed hands since we looked at it. */
#include "world.h"

#include "util/attr.h"

#include <string.h>

#define BY_ID "DescribeLoadBalancers DescribeLoadBalancers DescribeLoadBalancerAttribute"

static bool has_no_finalizer(struct world *world)
{
    const size_t count = fake_host_patch_count(world->fake);
    const struct fake_patch *last = fake_host_patch(world->fake, count - 1);

    return strstr(last->body, "$deleteFromPrimitiveList/finalizers") != NULL;
}

static void test_other_cluster(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_set_cluster("c2");
    world_restart(&world);
    assert_true(world_run(&world) < 0);
    assert_int_equal(world.err.kind, CCM_ERROR_TERMINAL);
    assert_non_null(strstr(world.err.message, "belongs to cluster c2"));
    (void)world_event(&world);
    world.service->meta.deleted_ms = 1;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_log(), BY_ID);
    assert_non_null(strstr(mini_dump(), "lb "));

    const char *event = world_event(&world);

    assert_non_null(event);
    assert_non_null(
        strstr(event, "LoadBalancerLeftAlone: Nothing was deleted: load balancer " LB_ID));
    assert_non_null(strstr(event, "belongs to cluster c2"));
    assert_null(world_event(&world));
    assert_true(has_no_finalizer(&world));
    world_end(&world);
}

/* Whoever took the load balancer over since we looked keeps it, and all that is in it. */
static void test_other_owner(void **state)
{
    static const struct {
        const char *cluster; /* as the tags say now */
        const char *owner;
        const char *reads; /* by tag, then by name, then by id */
        const char *text;
    } cases[] = {
        { "c2", "a0123456789abcdef0123456789abcdef", BY_ID,
          "tag kubernetes.do.not.delete=a0123456789abcdef0123456789abcdef of another owner in "
          "cluster c2" },
        { MINI_CLUSTER, "api", BY_ID,
          "tag kubernetes.do.not.delete=api of another owner in cluster c1" },
        { NULL, "api", BY_ID, "tag kubernetes.do.not.delete=api of another owner, it" },
        { "c2", LB_NAME, "DescribeLoadBalancers DescribeLoadBalancerAttribute",
          "belongs to cluster c2" },
        { "c2", NULL, BY_ID, "belongs to cluster c2" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct world world;

        world_begin(&world);
        world_steady(&world);
        mini_tag("ack.aliyun.com", cases[i].cluster);
        mini_tag("kubernetes.do.not.delete", cases[i].owner);
        world.service->meta.deleted_ms = 1;
        world_put(&world);
        assert_int_equal(world_run(&world), 0);
        assert_string_equal(mini_log(), cases[i].reads);
        assert_non_null(strstr(mini_dump(), "tcp 80 running"));

        const char *event = world_event(&world);

        assert_non_null(event);
        assert_non_null(strstr(event, "LoadBalancerLeftAlone: Nothing was deleted: "));
        assert_non_null(strstr(event, cases[i].text));
        assert_true(has_no_finalizer(&world));
        assert_null(world_event(&world));
        world_end(&world);
    }
}

/* Without tag the default name tells; with a name of its own nobody can, and a person is told. */
static void test_lost_owner(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool named = (i & 1) != 0;
        const bool restart = (i & 2) != 0;
        struct world world;

        world_begin(&world);
        if (named) {
            obj_annotate(&world.service->meta, P "name", "front");
        }
        world_steady(&world);
        mini_untag();
        mini_tag("ack.aliyun.com", NULL);
        if (restart) {
            world_restart(&world);
        }
        world.service->meta.deleted_ms = 1;
        world_put(&world);
        assert_int_equal(world_run(&world), 0);
        assert_int_equal(strstr(mini_log(), "DeleteLoadBalancer") == NULL, named);
        assert_int_equal(mini_dump()[0] == '\0', !named);
        assert_true(has_no_finalizer(&world));

        const char *event = world_event(&world);

        assert_non_null(event);
        assert_non_null(strstr(event, named ? "load balancer " LB_ID " [front] has lost its tag "
                                              "kubernetes.do.not.delete=" LB_NAME
                                            : "CleanLoadBalancer: Clean load balancer"));
        assert_null(world_event(&world));
        world_end(&world);
    }
}

/* Names are free for everybody. */
static void test_name_of_another(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    mini_tag("kubernetes.do.not.delete", "a0123456789abcdef0123456789abcdef");
    world_restart(&world);
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_log(), BY_ID);
    assert_non_null(strstr(world.err.message, "of another owner"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_cluster),
        cmocka_unit_test(test_other_owner),
        cmocka_unit_test(test_lost_owner),
        cmocka_unit_test(test_name_of_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
