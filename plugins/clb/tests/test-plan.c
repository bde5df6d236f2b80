/* Plans as text: what is wanted against what is there. */
#include "lbc/tests/check.h"

#include "clb/plan.h"
#include "lbc/tests/objects.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define GROUP(port) "k8s/" port "/web/default/c1"

/* Short notation for one side: groups "port:id,id" and listeners "proto port group [stopped]". */
struct side {
    const char *lb; /* id; NULL = none */
    struct {
        const char *port;
        const char *servers; /* "i-1=100 i-2=50"; a leading '!' = foreign, '~' = old description */
        bool add_only;
        bool frozen_by;
    } groups[4];
    struct {
        enum lbc_protocol protocol;
        uint16_t port;
        const char *group;       /* port of the group */
        const char *description; /* NULL = ours */
        bool stopped;
        bool broken;
    } listeners[4];
};

static void add_servers(struct lbc_group *group, const char *text)
{
    char copy[256];
    char *next = copy;

    ccm_text_printf(copy, sizeof(copy), "%s", text);
    while (*next != '\0') {
        char *word = next;
        const size_t len = strcspn(word, " ");
        const char *description = NULL;

        next += word[len] == '\0' ? len : len + 1;
        word[len] = '\0';
        if (*word == '!' || *word == '~') {
            description = *word++ == '!' ? "by hand" : GROUP("old");
        }
        char *equals = strchr(word, '=');

        *equals = '\0';
        const struct lbc_backend one = {
            .server_id = word,
            .description = (char *)(uintptr_t)description,
            .port = 1,
            .weight = (uint8_t)(equals[1] - '0'),
        };

        assert_int_equal(lbc_backends_put(&group->backends, &one), 0);
    }
}

static void fill_group(struct clb_state *state, const struct side *side, size_t i)
{
    struct lbc_group *group = clb_state_new_group(state);
    char text[64];

    ccm_text_printf(text, sizeof(text), "k8s/%s/web/default/c1", side->groups[i].port);
    assert_int_equal(lbc_text_set(&group->name, text), 0);
    ccm_text_printf(text, sizeof(text), "g%s", side->groups[i].port);
    assert_int_equal(lbc_text_set(&group->id, side->lb == NULL ? NULL : text), 0);
    group->port = 80;
    group->add_only = side->groups[i].add_only;
    group->frozen_by = side->groups[i].frozen_by;
    add_servers(group, side->groups[i].servers);
}

static void fill_listener(struct clb_state *state, const struct side *side, size_t i)
{
    struct clb_listener *one = clb_state_new_listener(state);
    char text[64];

    one->lbc.port = side->listeners[i].port;
    one->lbc.last_port = one->lbc.port;
    one->lbc.protocol = side->listeners[i].protocol;
    one->lbc.running = !side->listeners[i].stopped;
    one->lbc.broken = side->listeners[i].broken;
    ccm_text_printf(text, sizeof(text), "k8s/%s/web/default/c1", side->listeners[i].group);
    one->lbc.group = lbc_state_group_for(&state->lbc, &(struct lbc_group){ .name = text });
    ccm_text_printf(text, sizeof(text), "g%s", side->listeners[i].group);
    assert_int_equal(lbc_text_set(&one->lbc.group_id, text), 0);
    ccm_text_printf(text, sizeof(text), "k8s/%u/web/default/c1", one->lbc.port);
    assert_int_equal(lbc_text_set(&one->lbc.description, side->listeners[i].description == NULL
                                                             ? text
                                                             : side->listeners[i].description),
                     0);
}

static void fill(struct clb_state *state, const struct side *side)
{
    assert_int_equal(lbc_text_set(&state->lb.lbc.id, side->lb), 0);
    for (size_t i = 0; i < 4 && side->groups[i].port != NULL; i++) {
        fill_group(state, side, i);
    }
    for (size_t i = 0; i < 4 && side->listeners[i].port != 0; i++) {
        fill_listener(state, side, i);
    }
}

struct plan_case {
    const char *name;
    struct side want;
    struct side have;
    const char *plan;
    const char *problem; /* NULL = none */
    bool incomplete;
    size_t batch; /* 0 = 40 */
};

static const struct plan_case cases[] = {
    { "creation",
      { NULL, { { "1", "i-1=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { NULL, { { 0 } }, { { 0 } } },
      "create load balancer\n"
      "create server group 80/tcp " GROUP("1") " [i-1:1=9]\n"
                                               "create listener 80/tcp " GROUP(
                                                   "1") "\n"
                                                        "start listener 80/tcp\n",
      NULL,
      false,
      0 },
    { "no-op",
      { NULL, { { "1", "i-1=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "i-1=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "",
      NULL,
      false,
      0 },
    { "one group, two listeners",
      { NULL,
        { { "1", "", 0, 0 } },
        { { LBC_TCP, 80, "1", NULL, 0, 0 }, { LBC_UDP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { 0 } }, { { 0 } } },
      "create server group 80/tcp " GROUP("1") "\n"
                                               "create listener 80/tcp " GROUP(
                                                   "1") "\n"
                                                        "start listener 80/tcp\n"
                                                        "create listener 80/udp " GROUP(
                                                            "1") "\n"
                                                                 "start listener 80/udp\n",
      NULL,
      false,
      0 },
    { "add, then remove, then weigh",
      { NULL, { { "1", "i-1=9 i-2=5 i-4=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "i-2=9 i-3=9 ~i-4=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "add backends 80/tcp " GROUP("1") " (g1) [i-1:1=9]\n"
                                        "remove backends 80/tcp " GROUP(
                                            "1") " (g1) [i-3:1=9]\n"
                                                 "set weights 80/tcp " GROUP(
                                                     "1") " (g1) [i-2:1=5 i-4:1=9]\n",
      NULL,
      false,
      0 },
    { "foreign backends are not seen",
      { NULL, { { "1", "i-1=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "!i-1=3 !i-2=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "",
      NULL,
      false,
      0 },
    { "invalid backends: add only",
      { NULL, { { "1", "i-1=9 i-2=1", true, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "i-2=9 i-3=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "add backends 80/tcp " GROUP("1") " (g1) [i-1:1=9]\n",
      NULL,
      false,
      0 },
    { "hold: nothing leaves",
      { NULL, { { "1", "", 0, true } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "i-2=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "",
      NULL,
      false,
      0 },
    { "batches",
      { NULL, { { "1", "i-1=9 i-2=9 i-3=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "i-4=9 i-5=9 i-6=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "add backends 80/tcp " GROUP("1") " (g1) [i-1:1=9 i-2:1=9]\n"
                                        "add backends 80/tcp " GROUP(
                                            "1") " (g1) [i-3:1=9]\n"
                                                 "remove backends 80/tcp " GROUP(
                                                     "1") " (g1) [i-4:1=9 i-5:1=9]\n"
                                                          "remove backends 80/tcp " GROUP(
                                                              "1") " (g1) [i-6:1=9]\n",
      NULL,
      false,
      2 },
    { "stopped listener of a crash",
      { NULL, { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, true, 0 } } },
      "start listener 80/tcp\n",
      NULL,
      false,
      0 },
    { "group without listener of a crash",
      { NULL, { { "1", "i-1=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "i-1=9", 0, 0 } }, { { 0 } } },
      "create listener 80/tcp " GROUP("1") "\n"
                                           "start listener 80/tcp\n",
      NULL,
      false,
      0 },
    { "two groups of one name: the used one stays",
      { NULL, { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "2", "", 0, 0 }, { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "delete server group " GROUP("2") " (g2)\n",
      NULL,
      false,
      0 },
    { "port removed",
      { NULL, { { 0 } }, { { 0 } } },
      { "lb", { { "1", "i-1=9", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "delete listener 80/tcp\n"
      "delete server group " GROUP("1") " (g1)\n",
      NULL,
      false,
      0 },
    { "tcp to udp",
      { NULL, { { "1", "", 0, 0 } }, { { LBC_UDP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      "delete listener 80/tcp\n"
      "create listener 80/udp " GROUP("1") "\n"
                                           "start listener 80/udp\n",
      NULL,
      false,
      0 },
    { "other group, other description",
      { NULL, { { "2", "", 0, 0 } }, { { LBC_TCP, 80, "2", NULL, 0, 0 } } },
      { "lb", { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", "by hand", 0, 0 } } },
      "create server group 80/tcp " GROUP("2") "\n"
                                               "update listener 80/tcp " GROUP(
                                                   "2") "\n"
                                                        "delete server group " GROUP("1") " (g1)\n",
      NULL,
      false,
      0 },
    { "another Service's listener",
      { NULL, { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "1", NULL, 0, 0 } } },
      { "lb", { { "1", "", 0, 0 } }, { { LBC_TCP, 80, "7", "k8s/80/other/default/c1", 0, 0 } } },
      "",
      "port 80/tcp: the listener belongs to another Service",
      false,
      0 },
    { "listeners of others stay",
      { NULL, { { 0 } }, { { 0 } } },
      { "lb",
        { { 0 } },
        { { LBC_TCP, 80, "7", "by hand", 0, 0 },
          { LBC_TCP, 81, "7", "k8s/81/web/other/c1", 0, 0 },
          { LBC_TCP, 82, "7", "k8s/82/web/default/c2", 0, 0 } } },
      "",
      NULL,
      false,
      0 },
    { "a broken port keeps listener and group",
      { NULL, { { 0 } }, { { LBC_TCP, 80, "1", NULL, 0, true } } },
      { "lb", { { "1", "i-1=9", 0, 0 } }, { { LBC_UDP, 80, "1", NULL, 0, 0 } } },
      "",
      NULL,
      true,
      0 },
    { "a group with foreign backends only loses ours",
      { NULL, { { 0 } }, { { 0 } } },
      { "lb", { { "1", "i-1=9 !i-2=9", 0, 0 } }, { { 0 } } },
      "remove backends " GROUP("1") " (g1) [i-1:1=9]\n",
      NULL,
      false,
      0 },
};

static void test_ensure(void **state)
{
    const struct ccm_service *service = obj_service();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
        CCM_CLEANUP(clb_state_fini) struct clb_state have = { 0 };
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
        struct clb_model model;

        memset(&model, 0, sizeof(model));
        model.lbc.want = &model.want.lbc;
        model.lbc.ops = &clb_model_ops;
        fill(&model.want, &cases[i].want);
        fill(&have, &cases[i].have);
        model.lbc.incomplete = cases[i].incomplete;

        const struct lbc_plan_input in = { .model = &model.lbc,
                                           .have = &have.lbc,
                                           .service = service,
                                           .cluster_id = "c1",
                                           .batch = cases[i].batch == 0 ? 40 : cases[i].batch };

        assert_int_equal(lbc_plan_ensure(&plan, &clb_plan_ops, &in, &problems), 0);
        lbc_plan_print(&plan, NULL, &text);
        if (strcmp(ccm_buf_str(&text), cases[i].plan) != 0) {
            fail_msg("%s:\n%s", cases[i].name, ccm_buf_str(&text));
        }
        if ((problems.count == 0) != (cases[i].problem == NULL) ||
            (cases[i].problem != NULL &&
             strstr(ccm_buf_str(&problems.text), cases[i].problem) == NULL)) {
            fail_msg("%s: %s", cases[i].name, ccm_buf_str(&problems.text));
        }
        clb_state_fini(&model.want);
    }
}

static void test_delete(void **state)
{
    struct clb_state have = { .lb = { .partial = false } };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
    struct lbc_plan plan = { 0 };
    const struct clb_model model = { .lbc.ops = &clb_model_ops };
    const struct lbc_plan_input in = { .model = &model.lbc, .have = &have.lbc };

    (void)state;
    assert_int_equal(lbc_plan_release(&plan, &clb_plan_ops, &in), 0);
    assert_int_equal(plan.len, 0);
    have.lb.lbc.id = (char *)(uintptr_t) "lb";
    assert_int_equal(lbc_plan_release(&plan, &clb_plan_ops, &in), 0);
    lbc_plan_print(&plan, NULL, &text);
    assert_string_equal(ccm_buf_str(&text),
                        "switch deletion protection off\ndelete load balancer\n");
    lbc_plan_fini(&plan);
    have.lb.lbc.texts[CLB_LB_PROTECT] = (char *)(uintptr_t) "off";
    assert_int_equal(lbc_plan_release(&plan, &clb_plan_ops, &in), 0);
    assert_int_equal(plan.len, 1);
    lbc_plan_fini(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ensure, obj_end),
        cmocka_unit_test(test_delete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
