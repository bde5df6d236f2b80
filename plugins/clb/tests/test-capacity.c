/* A load balancer that takes no further backends: what comes waits for what goes. */
#include "util/text.h"
#include "world.h"

#include <stdio.h>
#include <string.h>

#define G80    "k8s/30080/web/default/" MINI_CLUSTER
#define ADD    "AddVServerGroupBackendServers"
#define REMOVE "RemoveVServerGroupBackendServers"

static void test_quota(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->port_count = 1;
    world_steady(&world);
    mini_limits(0, 2);
    world_allow_removals(&world);
    world_delete_node(&world, "n1");
    world_delete_node(&world, "n2");
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    world_add_node(&world, "n4", "cn-hangzhou.i-4");
    assert_int_equal(world_run(&world), 0);
    /* One makes room for one: the group is never without. */
    assert_string_equal(mini_log(), ADD " " REMOVE " " ADD " " REMOVE " " ADD);
    assert_non_null(strstr(mini_dump(), "group " G80 " i-3:30080=100 i-4:30080=100\n"));
    assert_string_equal(world_event(&world),
                        "EnsuredLoadBalancer: Ensured load balancer [" LB_ID "]");
    world_end(&world);
}

/* Another group takes the place of one that fills the quota. */
static void test_quota_of_new_group(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->port_count = 1;
    world_steady(&world);
    mini_limits(0, 2);
    ((struct ccm_service_port *)(uintptr_t)world.service->ports[0])->node_port = 30081;
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_string_equal(mini_writes(),
                        "CreateVServerGroup CreateVServerGroup " ADD
                        " SetLoadBalancerTCPListenerAttribute DeleteVServerGroup " ADD);
    assert_non_null(strstr(mini_dump(), "30081/web/default/c1 i-1:30081=100 i-2:30081=100\n"));
    assert_null(strstr(mini_dump(), "30080"));
    /* No room even then: told, and the next pass adds what fits. */
    world_settle(&world);
    mini_limits(0, 1);
    world_add_node(&world, "n3", "cn-hangzhou.i-3");
    assert_true(world_run(&world) < 0);
    assert_non_null(strstr(world.err.message, "port 80/tcp: add backends: 2 of 3 backends fit: "));
    world_end(&world);
}

static void add_nodes(struct world *world, int first, int last)
{
    for (int i = first; i <= last; i++) {
        char name[16];
        char id[32];

        ccm_text_printf(name, sizeof(name), "n%d", i);
        (void)snprintf(id, sizeof(id), "cn-hangzhou.i-%d", i);
        world_add_node(world, name, id);
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

/* Of more than fit as many as fit come in, and everybody reads how many that are. */
static void test_quota_for_some(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world.service->port_count = 1;
    world_steady(&world);
    mini_limits(0, 13);
    add_nodes(&world, 3, 20);
    assert_true(world_run(&world) < 0);
    assert_int_equal(count_of(mini_dump(), ":30080=100"), 13);
    assert_non_null(strstr(world_event(&world), "add backends: 13 of 20 backends fit: "));
    assert_null(world_event(&world));
    mini_limits(0, 0);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(count_of(mini_dump(), ":30080=100"), 20);
    world_end(&world);
}

/* More groups than anybody counted on: each of them has its turn, and one refusal tells for all. */
static void test_quota_of_many_groups(void **state)
{
    enum { PORTS = 100 };
    struct world world;

    (void)state;
    world_begin(&world);
    for (int64_t i = 0; i < PORTS - 2; i++) {
        char name[16];

        ccm_text_printf(name, sizeof(name), "p%d", (int)i);
        obj_port(world.service, name, "TCP", 1000 + i, "9000", 31000 + i);
    }
    world_put(&world);
    world_steady(&world);
    mini_limits(0, 2 * (size_t)PORTS);
    world_allow_removals(&world);
    world_delete_node(&world, "n1");
    world_delete_node(&world, "n2");
    add_nodes(&world, 3, 4);
    assert_int_equal(world_run(&world), 0);
    assert_null(strstr(mini_dump(), "i-1:"));
    assert_null(strstr(mini_dump(), "i-2:"));
    assert_int_equal(count_of(mini_dump(), "i-3:"), PORTS);
    assert_int_equal(count_of(mini_dump(), "i-4:"), PORTS);
    /* Two out, two in for each, and the one refusal. */
    assert_int_equal(mini_calls(), 4 * PORTS + 1);
    world_end(&world);
}

/* Groups that are made while there is no room for them, more than anybody counted on. */
static void test_quota_of_many_new_groups(void **state)
{
    enum { PORTS = 100 };
    struct world world;

    (void)state;
    world_begin(&world);
    for (int64_t i = 0; i < PORTS - 2; i++) {
        char name[16];

        ccm_text_printf(name, sizeof(name), "p%d", (int)i);
        obj_port(world.service, name, "TCP", 1000 + i, "9000", 31000 + i);
    }
    world_put(&world);
    world_steady(&world);
    mini_limits(0, 2 * (size_t)PORTS);
    for (size_t i = 0; i < PORTS; i++) {
        ((struct ccm_service_port *)(uintptr_t)world.service->ports[i])->node_port += 1000;
    }
    world_put(&world);
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(count_of(mini_dump(), "i-1:"), PORTS);
    assert_int_equal(count_of(mini_dump(), "i-2:"), PORTS);
    assert_int_equal(count_of(mini_dump(), "group "), PORTS);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quota),
        cmocka_unit_test(test_quota_of_new_group),
        cmocka_unit_test(test_quota_for_some),
        cmocka_unit_test(test_quota_of_many_groups),
        cmocka_unit_test(test_quota_of_many_new_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
