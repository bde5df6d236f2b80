/* What health checks say: when it is read, and what is told, call by call. */
#include "world.h"

#include "lbc/health.h"
#include "lbc/instance.h"
#include "tests/fuzz/oom.h"

#include <string.h>

#define READ      "DescribeHealthStatus"
#define UNHEALTHY "UnhealthyBackends: No backend of port 80/tcp, 443/tcp is healthy"
#define FIRST_MS  30000

static void run(struct world *world)
{
    mini_reset_log();
    assert_int_equal(world_run(world), 0);
}

/* How often it was read in passes every second, or every minute, for so long. */
static size_t count_reads(struct world *world, int64_t ms)
{
    const int64_t step = ms > 300000 ? 60000 : 1000;
    size_t count = 0;

    for (int64_t at = 0; at < ms; at += step) {
        fake_host_advance(world->fake, step);
        run(world);
        if (mini_log()[0] != '\0') {
            assert_string_equal(mini_log(), READ);
            count++;
        }
    }
    return count;
}

static const char *world_unserved_text(struct world *world)
{
    const char *text = fake_host_unserved(world->fake, "default/web");

    return text == NULL ? "" : text;
}

/* A load balancer was made, and its Service is as the caches show it then. */
static void world_begin_health(struct world *world)
{
    world_begin(world);
    fake_host_option(world->fake, NULL, "backend_health", "true");
    world_steady(world);
}

static void test_once_after_a_creation(void **state)
{
    struct world world;

    (void)state;
    world_begin_health(&world);
    assert_int_equal(
        fake_host_enqueued(world.fake, fake_host_enqueue_count(world.fake) - 1)->delay_ms,
        FIRST_MS);
    fake_host_advance(world.fake, FIRST_MS - 1);
    run(&world);
    assert_string_equal(mini_log(), "");
    fake_host_advance(world.fake, 1);
    run(&world);
    assert_string_equal(mini_log(), READ);
    assert_null(world_event(&world));
    assert_int_equal(count_reads(&world, 7200000), 0);
    world_end(&world);
}

static const char *find_event(struct world *world, const char *begin)
{
    const char *event = world_event(world);

    while (event != NULL && strstr(event, begin) != event) {
        event = world_event(world);
    }
    return event;
}

/* In steps that double, until it is healthy. */
static void test_unhealthy(void **state)
{
    struct world world;

    (void)state;
    world_begin_health(&world);
    mini_set_health("abnormal");
    assert_int_equal(count_reads(&world, FIRST_MS), 1);
    const char *event = world_event(&world);

    assert_non_null(event);
    assert_ptr_equal(strstr(event, UNHEALTHY), event);
    assert_non_null(strstr(event, "let 100.64.0.0/10 in"));
    assert_non_null(strstr(world_unserved_text(&world), "443/tcp is healthy"));
    assert_int_equal(count_reads(&world, 59000), 0);
    assert_int_equal(count_reads(&world, 1000), 1);
    assert_int_equal(count_reads(&world, 119000), 0);
    assert_int_equal(count_reads(&world, 1000), 1);
    assert_int_equal(count_reads(&world, 3600000), 4); /* 4, 8, 16, 32 minutes */
    assert_null(world_event(&world));
    mini_set_health("abnormal,normal");
    assert_int_equal(count_reads(&world, 3600000), 1);
    assert_string_equal(world_unserved_text(&world), "");
    assert_int_equal(count_reads(&world, 7200000), 0);
    world_end(&world);
}

/* Who is not checked, or not yet, is not unhealthy. */
static void test_nothing_is_known(void **state)
{
    static const char *const words[] = { "unavailable", "abnormal,unavailable", "",
                                         "normal,abnormal", "strange" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(words); i++) {
        struct world world;

        world_begin_health(&world);
        mini_set_health(words[i]);
        assert_int_equal(count_reads(&world, 3600000), 1);
        assert_null(world_event(&world));
        assert_string_equal(world_unserved_text(&world), "");
        world_end(&world);
    }
}

/* What gets no traffic is not checked, and does not count. */
static void test_without_weight(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    fake_host_option(world.fake, NULL, "backend_health", "true");
    obj_annotate(&world.service->meta, P "ignore-weight-update", "on");
    world_steady(&world);
    mini_set_weight("i-1", 0);
    world_restart(&world);
    world.lbc.audit.interval_ms = 1000;
    run(&world);
    mini_set_health("unavailable,abnormal");
    fake_host_advance(world.fake, 2000);
    run(&world);
    assert_non_null(strstr(mini_dump(), "i-1:30080=0"));
    assert_non_null(strstr(mini_log(), READ));
    assert_non_null(find_event(&world, UNHEALTHY));
    world_end(&world);
}

static void test_second_look(void **state)
{
    struct world world;
    size_t count = 0;

    (void)state;
    world_begin_health(&world);
    assert_int_equal(count_reads(&world, FIRST_MS), 1);
    world.lbc.audit.interval_ms = 100000;
    run(&world);
    for (int i = 0; i < 10; i++) {
        fake_host_advance(world.fake, 121000);
        run(&world);
        count += strstr(mini_log(), READ) != NULL ? 1 : 0;
        assert_non_null(strstr(mini_log(), "DescribeVServerGroups"));
        assert_ptr_equal(strstr(mini_log(), READ),
                         strrchr(mini_log(), ' ') + 1); /* once, at the end */
    }
    assert_int_equal(count, 10);
    world_end(&world);
}

/* One with a private address: its vSwitch with every second look, behind all else; never else. */
static void test_vswitch(void **state)
{
    struct world world;

    (void)state;
    world_begin(&world);
    fake_host_option(world.fake, NULL, "backend_health", "true");
    obj_annotate(&world.service->meta, P "address-type", "intranet");
    world_steady(&world);
    assert_int_equal(count_reads(&world, FIRST_MS), 1); /* of health alone */
    world.lbc.audit.interval_ms = 100000;
    run(&world);
    for (int i = 0; i < 3; i++) {
        fake_host_advance(world.fake, 121000);
        run(&world);
        assert_string_equal(strstr(mini_log(), READ), READ " DescribeVSwitches");
        run(&world);
        assert_string_equal(mini_log(), "");
    }
    assert_null(world_event(&world));
    world_end(&world);
}

static void test_its_turn_comes_later(void **state)
{
    const struct mini_fault fault = { .action = READ, .put_off_ms = 5000 };
    struct world world;

    (void)state;
    world_begin_health(&world);
    fake_host_advance(world.fake, FIRST_MS);
    mini_fail(&fault);
    run(&world);
    assert_int_equal(
        fake_host_enqueued(world.fake, fake_host_enqueue_count(world.fake) - 1)->delay_ms, 5000);
    assert_int_equal(count_reads(&world, 4000), 0);
    assert_int_equal(count_reads(&world, 1000), 1);
    assert_int_equal(count_reads(&world, 3600000), 0);
    world_end(&world);
}

/* One that fails says nothing, and is not tried before the next second look. */
static void test_no_right_to_read(void **state)
{
    const struct mini_fault fault = { .action = READ,
                                      .code = "Forbidden.RAM",
                                      .kind = CCM_ERROR_AUTH };
    struct world world;

    (void)state;
    world_begin_health(&world);
    fake_host_advance(world.fake, FIRST_MS);
    mini_fail(&fault);
    run(&world);
    assert_null(world_event(&world));
    assert_non_null(strstr(fake_host_log_text(world.fake), "the health of backends is not known"));
    assert_int_equal(count_reads(&world, 3600000), 0);
    world_end(&world);
}

static size_t fails_at;

/* No port is healthy, and memory is short when that is put into words. */
static int read_without_memory(struct lbc_pass *pass, struct lbc_health *ret, struct ccm_error *err)
{
    (void)err; /* cannot fail */
    for (size_t i = 0; i < pass->model->want->listener_count; i++) {
        ret[i] = (struct lbc_health){ .unhealthy = 1 };
    }
    oom_begin(fails_at, false);
    return 0;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    for (fails_at = 1; fails_at <= 2; fails_at++) { /* the names of the ports, the text */
        struct world world;

        world_begin_health(&world);
        mini_set_health("abnormal");
        assert_int_equal(count_reads(&world, FIRST_MS), 1);

        struct lbc_read_ops read = *world.lbc.ops->read;
        struct lbc_ops ops = *world.lbc.ops;

        read.health = read_without_memory;
        ops.read = &read;
        world.lbc.ops = &ops;
        fake_host_advance(world.fake, 60000);
        run(&world);
        assert_true(oom_end());
        assert_non_null(strstr(world_unserved_text(&world), "443/tcp is healthy"));
        assert_non_null(
            strstr(fake_host_log_text(world.fake), "the health of backends is not known"));
        world_end(&world);
    }
}

static void test_switched_off(void **state)
{
    struct world world;

    (void)state;
    world_begin_health(&world);
    mini_set_health("abnormal");
    assert_int_equal(count_reads(&world, FIRST_MS), 1);
    fake_host_option(world.fake, NULL, "backend_health", "false");
    assert_int_equal(count_reads(&world, 3600000), 0);
    assert_string_equal(world_unserved_text(&world), "");
    world_end(&world);
}

/* A Service that fails because of something else: what was told of its health ends when it does. */
static void test_beside_a_failure(void **state)
{
    struct world world;
    size_t reads = 0;

    (void)state;
    world_begin_health(&world);
    mini_set_health("abnormal");
    assert_int_equal(count_reads(&world, FIRST_MS), 1);
    assert_non_null(find_event(&world, UNHEALTHY));
    obj_annotate(&world.service->meta, P "scheduler", "best");
    world_put(&world);

    const size_t enqueued = fake_host_enqueue_count(world.fake);

    for (int minute = 0; minute < 240; minute++) {
        if (minute == 120) {
            assert_string_not_equal(world_unserved_text(&world), "");
            mini_set_health("normal");
        }
        fake_host_advance(world.fake, 60000);
        mini_reset_log();
        assert_true(world_run(&world) < 0);
        reads += strstr(mini_log(), READ) != NULL ? 1 : 0;
    }
    assert_string_equal(world_unserved_text(&world), "");
    assert_in_range(reads, 2, 9);
    assert_int_equal(fake_host_enqueue_count(world.fake), enqueued); /* its own tries have to do */
    world_end(&world);
}

/* What is told of one that is gone is wrong. */
static void test_one_that_is_gone(void **state)
{
    struct world world;

    (void)state;
    world_begin_health(&world);
    mini_set_health("abnormal");
    assert_int_equal(count_reads(&world, FIRST_MS), 1);
    mini_delete_lb();
    world.lbc.audit.interval_ms = 1000;
    run(&world);
    fake_host_advance(world.fake, 2000);
    assert_true(world_run(&world) < 0);
    assert_string_equal(world_unserved_text(&world), "");
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_after_a_creation),
        cmocka_unit_test(test_unhealthy),
        cmocka_unit_test(test_nothing_is_known),
        cmocka_unit_test(test_without_weight),
        cmocka_unit_test(test_vswitch),
        cmocka_unit_test(test_second_look),
        cmocka_unit_test(test_its_turn_comes_later),
        cmocka_unit_test(test_no_right_to_read),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_switched_off),
        cmocka_unit_test(test_beside_a_failure),
        cmocka_unit_test(test_one_that_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
