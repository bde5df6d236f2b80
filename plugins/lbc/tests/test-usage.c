/* What is counted for quotas: per load balancer, per server, in all. */
#include "check.h"

#include "lbc/usage.h"
#include "util/cleanup.h"

#include <stdlib.h>

struct state {
    struct lbc_state lbc;
    struct lbc_lb lb;
};

static const struct lbc_state_type type = {
    .size = sizeof(struct state),
    .lb_size = sizeof(struct lbc_lb),
    .group_size = sizeof(struct lbc_group),
    .listener_size = sizeof(struct lbc_listener),
};

/* A group with the servers "a", "b" and so on, as many as `count`. */
static void add_group(struct state *state, char first, size_t count, enum lbc_backend_type kind)
{
    struct lbc_group *group = lbc_state_new_group(&state->lbc, &type);

    assert_non_null(group);
    for (size_t i = 0; i < count; i++) {
        char id[2] = { (char)(first + (char)i), '\0' };
        const struct lbc_backend one = { .server_id = id, .server_ip = id, .type = (uint8_t)kind };

        assert_int_equal(lbc_backends_put(&group->backends, &one), 0);
    }
}

static size_t top_of(struct lbc_usage *usage, enum lbc_quota quota)
{
    bool whole = false;
    const size_t top = lbc_usage_top(usage, quota, &whole);

    assert_true(whole);
    return top;
}

static void test_one_state(void **state)
{
    struct state one = { 0 };
    char id[] = "lb-1";

    (void)state;
    add_group(&one, 'a', 3, LBC_BACKEND_INSTANCE);
    add_group(&one, 'a', 2, LBC_BACKEND_INTERFACE);
    assert_non_null(lbc_state_new_listener(&one.lbc, &type));
    one.lb.id = id;

    const struct lbc_counts own = lbc_usage_count(&one.lbc, false);
    const struct lbc_counts reused = lbc_usage_count(&one.lbc, true);

    assert_int_equal(own.of[LBC_QUOTA_BACKENDS], 5);
    assert_int_equal(own.of[LBC_QUOTA_LISTENERS], 1);
    assert_int_equal(own.of[LBC_QUOTA_GROUPS], 2);
    assert_int_equal(own.of[LBC_QUOTA_LBS], 1);
    assert_int_equal(reused.of[LBC_QUOTA_LBS], 0);
    one.lb.id = NULL;
    lbc_state_fini(&one.lbc, &type);
}

static void test_the_most_and_the_sum(void **state)
{
    CCM_CLEANUP(ccm_freep) char *server = NULL;
    struct lbc_usage *usage = lbc_usage_new();
    struct lbc_counts a = { { 0 } };
    struct lbc_counts b = { { 0 } };
    const struct lbc_counts large = { .of = { [LBC_QUOTA_BACKENDS] = 170, [LBC_QUOTA_LBS] = 1 } };
    const struct lbc_counts small = { .of = { [LBC_QUOTA_BACKENDS] = 3, [LBC_QUOTA_LBS] = 1 } };
    const struct lbc_counts none = { { 0 } };

    (void)state;
    assert_non_null(usage);
    assert_int_equal(top_of(usage, LBC_QUOTA_BACKENDS), 0);
    assert_false(lbc_usage_find_server(usage, &server));
    lbc_usage_replace(usage, &a, &large);
    lbc_usage_replace(usage, &b, &small);
    assert_int_equal(top_of(usage, LBC_QUOTA_BACKENDS), 170);
    assert_int_equal(top_of(usage, LBC_QUOTA_LBS), 2);
    lbc_usage_replace(usage, &a, &small);
    assert_int_equal(top_of(usage, LBC_QUOTA_BACKENDS), 3);
    lbc_usage_replace(usage, &a, &none);
    lbc_usage_replace(usage, &b, &none);
    assert_int_equal(top_of(usage, LBC_QUOTA_BACKENDS), 0);
    assert_int_equal(top_of(usage, LBC_QUOTA_LBS), 0);
    lbc_usage_free(usage);
}

static void test_servers(void **state)
{
    CCM_CLEANUP(ccm_freep) char *server = NULL;
    struct lbc_usage *usage = lbc_usage_new();
    struct state one = { 0 };
    struct state two = { 0 };
    bool whole = true;

    (void)state;
    assert_non_null(usage);
    add_group(&one, 'a', 2, LBC_BACKEND_INSTANCE); /* a b */
    add_group(&one, 'b', 1, LBC_BACKEND_INSTANCE); /* b */
    add_group(&two, 'b', 2, LBC_BACKEND_INSTANCE); /* b c */
    add_group(&two, 'b', 1, LBC_BACKEND_INTERFACE);
    lbc_usage_add_servers(usage, &one.lbc);
    lbc_usage_add_servers(usage, &two.lbc);
    assert_int_equal(top_of(usage, LBC_QUOTA_SERVERS), 3);
    assert_true(lbc_usage_find_server(usage, &server));
    assert_string_equal(server, "b");
    lbc_usage_claim(usage, true);
    lbc_usage_remove_servers(usage, &one.lbc);
    assert_int_equal(lbc_usage_top(usage, LBC_QUOTA_SERVERS, &whole), 1);
    assert_false(whole);
    lbc_usage_claim(usage, false);
    lbc_usage_remove_servers(usage, &two.lbc);
    assert_int_equal(top_of(usage, LBC_QUOTA_SERVERS), 0);
    lbc_usage_remove_servers(usage, &two.lbc); /* never below nothing */
    assert_int_equal(top_of(usage, LBC_QUOTA_SERVERS), 0);
    lbc_state_fini(&one.lbc, &type);
    lbc_state_fini(&two.lbc, &type);
    lbc_usage_free(usage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_state),
        cmocka_unit_test(test_the_most_and_the_sum),
        cmocka_unit_test(test_servers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
