/* A load balancer that takes no further listener: one refusal stands for all that would follow. */
#include "world.h"

#include "util/attr.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define CREATE "CreateLoadBalancerTCPListener"

static const char *const codes[] = { "ListenerNumberOverLimit", "VipTooManyListeners" };

/* From the nth creation of a TCP listener on there is no room. */
static void no_room(const char *code, size_t nth)
{
    mini_fail(&(struct mini_fault){
        .action = CREATE, .nth = nth, .times = 100, .code = code, .kind = CCM_ERROR_AUTH });
}

static void add_ports(struct world *world, int64_t first, int64_t last)
{
    for (int64_t port = first; port <= last; port++) {
        char name[16];

        ccm_text_printf(name, sizeof(name), "p%d", (int)port);
        obj_port(world->service, name, "TCP", port, "9000", 31000 + port);
    }
    world_put(world);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

/* One vain call; what can be made is made, and everybody reads which ports wait. */
static void test_rest_is_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
        struct world world;
        const char *event = NULL;

        world_begin(&world);
        add_ports(&world, 1001, 1004);
        no_room(codes[i], 3);
        assert_true(world_run(&world) < 0);
        assert_int_equal(world.err.kind, CCM_ERROR_AUTH);
        assert_int_equal(count(mini_log(), CREATE), 3);
        assert_int_equal(count(mini_log(), "StartLoadBalancerListener"), 2);
        assert_int_equal(count(mini_log(), "CreateVServerGroup"), 6);
        event = world_event(&world);
        assert_non_null(strstr(event, "port 1001/tcp: create listener: "));
        assert_non_null(strstr(event, "create listener: left out for the same lack of room: "
                                      "1002/tcp, 1003/tcp, 1004/tcp"));
        assert_null(world_event(&world));
        world_end(&world);
    }
}

/* Another try tells nothing new, and is one vain call again; then there is room. */
static void test_next_pass(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    add_ports(&world, 1001, 1004);
    no_room(codes[0], 3);
    assert_true(world_run(&world) < 0);
    (void)world_event(&world); /* told above */
    mini_reset_log();
    no_room(codes[0], 1);
    assert_true(world_run(&world) < 0);
    assert_int_equal(count(mini_log(), CREATE), 1);
    assert_null(world_event(&world));
    mini_fail(&(struct mini_fault){ .action = "none" });
    mini_reset_log();
    assert_int_equal(world_run(&world), 0);
    assert_int_equal(count(mini_log(), CREATE), 4);
    assert_int_equal(count(mini_dump(), " running "), 6);
    world_end(&world);
}

/* What goes, goes first; changes go on. */
static void test_other_steps_go_on(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    ((struct ccm_service_port *)(uintptr_t)world.service->ports[0])->port = 1000; /* 80 goes */
    mini_stop_listener(443);
    world_restart(&world);
    add_ports(&world, 1001, 1002);
    no_room(codes[0], 1);
    assert_true(world_run(&world) < 0);
    assert_int_equal(count(mini_log(), CREATE), 1);
    assert_int_equal(count(mini_log(), "DeleteLoadBalancerListener"), 1);
    assert_true(strstr(mini_log(), "DeleteLoadBalancerListener") < strstr(mini_log(), CREATE));
    assert_non_null(strstr(mini_dump(), "tcp 443 running"));
    assert_null(strstr(mini_dump(), "tcp 80 "));
    world_end(&world);
}

/* Any other refusal is about one port only. */
static void test_other_refusals(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    no_room("AclListenerOverLimit", 1);
    assert_true(world_run(&world) < 0);
    assert_int_equal(count(mini_log(), CREATE), 2);
    assert_null(strstr(world_event(&world), "left out"));
    world_end(&world);
}

/* What is missing for another reason is told with that one. */
static void test_other_reasons(void **state)
{
    struct world world;
    const char *event = NULL;

    (void)state;
    world_begin(&world);
    world_steady(&world);
    add_ports(&world, 1001, 1003);
    mini_fail(&(struct mini_fault){ /* listener of 1001, group of 1002, after five reads */
                                    .nth = 7,
                                    .times = 2,
                                    .code = codes[0],
                                    .kind = CCM_ERROR_AUTH });
    assert_true(world_run(&world) < 0);
    assert_string_equal(mini_writes(),
                        "CreateVServerGroup " CREATE " CreateVServerGroup CreateVServerGroup");
    event = world_event(&world);
    assert_non_null(strstr(event, "port 1002/tcp: create server group: "));
    assert_non_null(strstr(event, "room: 1003/tcp"));
    world_end(&world);
}

/* Of more ports than a message can hold the number is told. */
static void test_many(void **state)
{
    struct world world;
    const char *event = NULL;

    (void)state;
    world_begin(&world);
    fake_host_option(world.fake, NULL, "account_quotas", "backends=0, listeners=0");
    add_ports(&world, 1001, 1100);
    no_room(codes[0], 3);
    assert_true(world_run(&world) < 0);
    assert_int_equal(count(mini_log(), CREATE), 3);
    event = world_event(&world);
    assert_non_null(strstr(event, "room: 1002/tcp, 1003/tcp, "));
    assert_int_equal(count(world.err.message, "1002/tcp"), 1);
    assert_non_null(strstr(event, " more"));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_is_left_out),  cmocka_unit_test(test_next_pass),
        cmocka_unit_test(test_other_steps_go_on), cmocka_unit_test(test_other_refusals),
        cmocka_unit_test(test_other_reasons),     cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
