/* Ports that annotations do not decide: which present group serves them. */
#include "check.h"

#include "lbc/apply/plain.h"
#include "objects.h"
#include "util/text.h"

#include <stdio.h>

#define OURS  "k8s/30080/web/default/c1"
#define OURS2 "k8s/30081/web/default/c1"
#define ALIEN "k8s/30080/api/default/c1"

/* A present group; holds: how its only backend is described, NULL = it has none. */
struct present {
    const char *id;
    const char *name;
    const char *holds;
};

struct serves {
    uint16_t first;
    uint16_t last;
    enum lbc_protocol protocol;
    const char *group;
};

/* A desired group with its listener, and the id that it is bound to in the end: NULL = none. */
struct desired {
    const char *name;
    const char *id;
    uint16_t port;
    enum lbc_protocol protocol;
    char state; /* b = broken, p = present only, else as annotations say */
    const char *bound;
};

static const struct {
    const char *title;
    struct present groups[3];
    struct serves listeners[3];
    struct desired want[2];
} cases[] = {
    { "a group that is missing: the one that its listener sends to",
      { { "g1", OURS, NULL } },
      { { 80, 80, LBC_TCP, "g1" } },
      { { "none@g9", "g9", 80, LBC_TCP, 'b', "g1" } } },
    { "a person's with a backend of the Service",
      { { "g1", "mine", OURS } },
      { { 80, 80, LBC_TCP, "g1" } },
      { { "none@g9", "g9", 80, LBC_TCP, 'b', "g1" } } },
    { "never one without anything of the Service",
      { { "g1", "mine", ALIEN }, { "g2", "theirs", NULL }, { "g3", ALIEN, NULL } },
      { { 80, 80, LBC_TCP, "g1" }, { 80, 80, LBC_UDP, "g2" }, { 81, 81, LBC_TCP, "g3" } },
      { { "none@g9", "g9", 80, LBC_TCP, 'b', "g9" }, { OURS2, NULL, 81, LBC_TCP, 'p', NULL } } },
    { "by its backends, where a person's listener is on another port",
      { { "g1", "mine", OURS } },
      { { 8080, 8080, LBC_TCP, "g1" } },
      { { OURS, "g9", 80, LBC_TCP, 'b', "g1" } } },
    { "the group that serves counts before the one with the name",
      { { "g1", OURS, NULL }, { "g2", OURS2, NULL } },
      { { 80, 80, LBC_HTTPS, "g2" } },
      { { OURS, NULL, 80, LBC_OTHER, 'p', "g2" } } },
    { "TCP and UDP on one port",
      { { "g1", OURS, NULL }, { "g2", OURS2, NULL } },
      { { 53, 53, LBC_TCP, "g1" }, { 53, 53, LBC_UDP, "g2" } },
      { { "x", NULL, 53, LBC_TCPSSL, 'p', "g1" }, { "y", NULL, 53, LBC_UDP, 'p', "g2" } } },
    { "a range",
      { { "g1", OURS, NULL } },
      { { 1000, 2000, LBC_TCP, "g1" } },
      { { "x", NULL, 1500, LBC_TCP, 'p', "g1" } } },
    { "one that another port desires already is shared with it",
      { { "g1", OURS, NULL } },
      { { 80, 80, LBC_TCP, "g1" }, { 81, 81, LBC_TCP, "g1" } },
      { { OURS, NULL, 81, LBC_TCP, '-', "g1" }, { "none@g9", "g9", 80, LBC_TCP, 'b', "g1" } } },
    { "as annotations say",
      { { "g1", OURS, NULL }, { "g2", OURS2, NULL } },
      { { 80, 80, LBC_TCP, "g2" } },
      { { OURS, NULL, 80, LBC_TCP, '-', NULL } } },
};

static void put_present(struct lbc_state *have, const struct present *one)
{
    struct lbc_group *group = lbc_state_new_group(have, &lbc_plain_type);
    const struct lbc_backend backend = {
        .server_id = (char *)(uintptr_t) "i-1",
        .server_ip = (char *)(uintptr_t) "",
        .description = (char *)(uintptr_t)one->holds,
        .port = 30080,
        .type = LBC_BACKEND_INSTANCE,
    };

    assert_non_null(group);
    assert_int_equal(lbc_text_set(&group->id, one->id), 0);
    assert_int_equal(lbc_text_set(&group->name, one->name), 0);
    assert_int_equal(one->holds == NULL ? 0 : lbc_backends_put(&group->backends, &backend), 0);
}

static struct lbc_listener *put_listener(struct lbc_state *to, uint16_t first, uint16_t last,
                                         enum lbc_protocol protocol)
{
    struct lbc_listener *listener = lbc_state_new_listener(to, &lbc_plain_type);

    assert_non_null(listener);
    listener->port = first;
    listener->last_port = last;
    listener->protocol = protocol;
    return listener;
}

static void put_desired(struct lbc_state *want, const struct desired *one)
{
    struct lbc_group *group = lbc_state_new_group(want, &lbc_plain_type);

    assert_non_null(group);
    assert_int_equal(lbc_text_set(&group->name, one->name), 0);
    assert_int_equal(lbc_text_set(&group->id, one->id), 0);
    group->broken = one->state == 'b';
    group->present_only = one->state == 'p';
    put_listener(want, one->port, one->port, one->protocol)->group = group;
}

static void test_follow(void **state)
{
    static const struct lbc_lint_rules lint_rules = { .annotations = NULL };
    static const struct lbc_model_ops model_ops = { .rules = &lint_rules };
    static const struct lbc_plan_ops rules = { LBC_PLAIN_RULES(10) };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct lbc_plain_state have = { .lbc = { 0 } };
        struct lbc_plain_state want = { .lbc = { 0 } };
        struct lbc_model model = { .ops = &model_ops, .want = &want.lbc, .type = &lbc_plain_type };
        const struct lbc_plan_input in = {
            .model = &model, .have = &have.lbc, .service = obj_service(), .cluster_id = "c1"
        };

        for (size_t g = 0; g < 3 && cases[i].groups[g].id != NULL; g++) {
            put_present(&have.lbc, &cases[i].groups[g]);
        }
        for (size_t l = 0; l < 3 && cases[i].listeners[l].group != NULL; l++) {
            const struct serves *one = &cases[i].listeners[l];

            assert_int_equal(
                lbc_text_set(
                    &put_listener(&have.lbc, one->first, one->last, one->protocol)->group_id,
                    one->group),
                0);
        }
        for (size_t w = 0; w < 2 && cases[i].want[w].name != NULL; w++) {
            put_desired(&want.lbc, &cases[i].want[w]);
        }
        assert_int_equal(lbc_plan_follow(&rules, &in), 0);
        for (size_t w = 0; w < want.lbc.group_count; w++) {
            const struct lbc_group *group = want.lbc.groups[w];
            const char *bound = cases[i].want[w].bound;

            if (!ccm_text_equal(group->id, bound) && (group->id != NULL || bound != NULL)) {
                fail_msg("%s: %zu is bound to %s", cases[i].title, w, group->id);
            }
            assert_int_equal(group->broken, ccm_text_equal(bound, "g9"));
        }
        lbc_state_fini(&want.lbc, &lbc_plain_type);
        lbc_state_fini(&have.lbc, &lbc_plain_type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_follow, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
