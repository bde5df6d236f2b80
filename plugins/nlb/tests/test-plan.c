/* Whole plans: a first creation, the end of a Service, and what is remembered. */
#include "notation.h"

#include "lbc/tests/objects.h"
#include "util/cleanup.h"

#include <string.h>

#define G80   "k8s.80.TCP.web.default.c1"
#define G443  "k8s.443.TCPSSL.web.default.c1"
#define OWNER "a5e4dbfc9c2ae4642b0335607860aef6"
#define MARKS "tag kubernetes.do.not.delete=" OWNER "\ntag ack.aliyun.com=c1\n"

static const struct plan_question questions[] = {
    { "first creation",
      "lb - type=internet name=a5\nzone a vsw-1\nzone b vsw-2\n"
      "group - 80/TCP +Scheduler=rr\nserver i-1:30080=100\nserver i-2:30080=100\n"
      "group - 443/TCPSSL\nserver i-1:30443=100\n"
      "listener - TCP 80 80/TCP\nlistener - TCPSSL 443 443/TCPSSL +CertificateIds=c-1\n",
      "lb -\n",
      "create load balancer internet a:vsw-1 b:vsw-2\n"
      "create server group 80/TCP " G80 "\n"
      "create server group 443/TCPSSL " G443 "\n"
      "add servers 80/TCP " G80 " [i-1:30080=100 i-2:30080=100]\n"
      "add servers 443/TCPSSL " G443 " [i-1:30443=100]\n"
      "create listener 80/TCP -> " G80 "\n"
      "create listener 443/TCPSSL -> " G443 "\n",
      NULL, 0 },
    { "groups of a lost load balancer are used again (W37)",
      "lb - type=internet\ngroup - 80/TCP\nserver i-1:80=9\nlistener - TCP 80 80/TCP\n",
      "lb -\ngroup g-1 80/TCP\nserver i-1:80=9\ngroup g-2 81/TCP\n",
      "create load balancer internet\n"
      "create listener 80/TCP -> " G80 "\n"
      "delete server group k8s.81.TCP.web.default.c1 (g-2)\n",
      NULL, 0 },
    { "nothing to do", "", "lb nlb-1\n", "", NULL, 0 },
};

static void test_ensure(void **state)
{
    (void)state;
    check_plans(questions, sizeof(questions) / sizeof(questions[0]));
}

enum end { END_DELETE, END_PRESERVE, END_LEAVE };

static const struct {
    const char *name;
    enum end end;
    const char *model;
    const char *have;
    const char *plan;
} ends[] = {
    { "delete", END_DELETE, "",
      "lb nlb-1 protection=true\ngroup g-1 80/TCP\nserver i-1:80=9\n"
      "group g-2 81/TCP\nserver i-1:80=9\nserver i-2:80=9 !hand\n"
      "listener l-1 TCP 80 g-1\nguard sg-1\n",
      "set protection: deletion protection true -> false\n"
      "delete load balancer\n"
      "delete server group " G80 " (g-1)\n"
      "remove servers k8s.81.TCP.web.default.c1 (g-2) [i-1:80=9]\n"
      "delete security group (sg-1)\n" },
    { "delete what is left", END_DELETE, "", "lb -\ngroup g-1 80/TCP\nguard\n",
      "delete server group " G80 " (g-1)\n" },
    { "delete, unprotected", END_DELETE, "", "lb nlb-1 protection=false\nguard\n",
      "delete load balancer\n" },
    { "nothing is there", END_DELETE, "", "lb -\nguard\n", "" },
    { "preserve: what serves stays (W19)", END_PRESERVE, "",
      "lb nlb-1 protection=true modification=ConsoleProtection\n" MARKS "tag k=v\n"
      "group g-1 80/TCP owner=" OWNER " cluster=c1\n"
      "group g-2 81/TCP owner=another cluster=c1\nlistener l-1 TCP 80 g-1\nguard sg-1\n",
      "set protection: deletion protection true -> false, "
      "modification protection ConsoleProtection -> NonProtection\n"
      "untag server group " G80 " (g-1) ack.aliyun.com=c1 kubernetes.do.not.delete=" OWNER "\n"
      "untag server group k8s.81.TCP.web.default.c1 (g-2) ack.aliyun.com=c1\n"
      "untag security group (sg-1)\n"
      "untag load balancer ack.aliyun.com=c1 kubernetes.do.not.delete=" OWNER "\n" },
    { "preserve, the second time", END_PRESERVE, "",
      "lb nlb-1 protection=false modification=NonProtection\ngroup g-1 80/TCP\n", "" },
    { "leave: ours only", END_LEAVE, "model reused override\n",
      "lb nlb-1\ngroup g-1 80/TCP\nserver i-1:80=9\n"
      "group g-7 9/TCP name=mine\nserver i-1:80=9 !" G80 "\nserver i-2:80=9\n"
      "listener l-1 TCP 80 g-1\nlistener l-2 TCP 81 g-7 desc=hand\n",
      "delete listener 80/TCP (l-1)\n"
      "delete server group " G80 " (g-1)\n"
      "remove servers mine (g-7) [i-1:80=9]\n" },
    { "leave without override: ours are deleted all the same", END_LEAVE, "model reused\n",
      "lb nlb-1\ngroup g-1 80/TCP\nlistener l-1 TCP 80 g-1\n"
      "listener l-2 TCP 81 g-1 desc=hand\n",
      "delete listener 80/TCP (l-1)\n"
      "delete server group " G80 " (g-1)\n" },
};

static void test_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
        CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
        CCM_CLEANUP(model_end) struct nlb_model model = { .lbc.explicit = 0 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
        const struct lbc_plan_input in = {
            .model = &model.lbc, .have = &have.lbc, .service = obj_service(), .cluster_id = "c1"
        };

        read_model(&model, ends[i].model);
        read_state(&have, ends[i].have);
        model.lbc.reused = ends[i].end == END_LEAVE;
        model.lbc.preserve = ends[i].end == END_PRESERVE;
        assert_int_equal(lbc_plan_release(&plan, &nlb_plan_ops, &in), 0);
        lbc_plan_print(&plan, NULL, &text);
        if (strcmp(ccm_buf_str(&text), ends[i].plan) != 0) {
            fail_msg("%s:\n%s", ends[i].name, ccm_buf_str(&text));
        }
        check_stages(&plan);
        for (size_t k = 1; k < plan.len; k++) {
            assert_true(plan.steps[k]->last || plan.steps[k]->type == LBC_STEP_DELETE_LISTENER);
        }
    }
}

/* Without a model: that is how a deletion is planned. */
static void test_delete_without_model(void **state)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
    const struct nlb_model model = { .lbc.ops = &nlb_model_ops };
    const struct lbc_plan_input in = {
        .model = &model.lbc, .have = &have.lbc, .service = obj_service(), .cluster_id = "c1"
    };

    (void)state;
    read_state(&have, "lb nlb-1 protection=true\ngroup g-1 80/TCP\nguard sg-1\n");
    assert_int_equal(lbc_plan_release(&plan, &nlb_plan_ops, &in), 0);
    assert_int_equal(plan.len, 4);
    assert_string_equal(nlb_step_at(&plan, 0)->lb.lbc.texts[NLB_LB_PROTECT], "false");
    assert_null(nlb_step_at(&plan, 0)->lb.lbc.texts[NLB_LB_MODIFICATION]);
}

static bool is_told(const struct lbc_attrs *attrs, const struct lbc_anno *field)
{
    const struct lbc_attr *attr = lbc_attrs_find(attrs, field);

    return attr != NULL && attr->explicit;
}

/* What a person asks for is remembered until it has gone back. */
static void test_note(void **state)
{
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(model_end) struct nlb_model model = { .lbc.explicit = 0 };
    CCM_CLEANUP(model_end) struct nlb_model less = { .lbc.explicit = 0 };
    const struct lbc_anno *scheduler = nlb_group_field("Scheduler");
    const struct lbc_anno *cps = nlb_listener_field("Cps");

    (void)state;
    read_state(&have, "lb nlb-1 cross=false protection=true\n"
                      "group g-1 80/TCP Scheduler=rr HealthyThreshold=4\n"
                      "listener l-1 TCP 80 g-1 Cps=5 IdleTimeout=60\n");
    read_model(&model, "lb - +cross=false +protection=true\n"
                       "group - 80/TCP +Scheduler=rr HealthyThreshold=4\n"
                       "listener - TCP 80 80/TCP +Cps=5\n");
    read_model(&less, "lb -\ngroup - 80/TCP\nlistener - TCP 80 80/TCP\n");
    nlb_plan_record_explicit(&have, &model);
    assert_true(is_told(&nlb_group_at(&have, 0)->lbc.attrs, scheduler));
    assert_false(is_told(&nlb_group_at(&have, 0)->lbc.attrs, nlb_group_field("HealthyThreshold")));
    assert_true(is_told(&nlb_listener_at(&have, 0)->lbc.attrs, cps));
    assert_false(is_told(&nlb_listener_at(&have, 0)->lbc.attrs, nlb_listener_field("IdleTimeout")));
    assert_int_equal(have.lb.lbc.explicit, 1U << NLB_LB_CROSS_ZONE | 1U << NLB_LB_PROTECT);

    nlb_plan_record_explicit(&have, &less); /* the way back failed: it is still to be done */
    assert_true(is_told(&nlb_group_at(&have, 0)->lbc.attrs, scheduler));
    assert_true(is_told(&nlb_listener_at(&have, 0)->lbc.attrs, cps));
    assert_int_equal(have.lb.lbc.explicit, 1U << NLB_LB_CROSS_ZONE);

    assert_int_equal(lbc_attrs_set(&nlb_group_at(&have, 0)->lbc.attrs, scheduler, "Wrr", true), 0);
    assert_int_equal(lbc_attrs_set(&nlb_listener_at(&have, 0)->lbc.attrs, cps, "0", true), 0);
    nlb_plan_record_explicit(&have,
                             &less); /* it has gone back: somebody's next change is his own */
    assert_false(is_told(&nlb_group_at(&have, 0)->lbc.attrs, scheduler));
    assert_false(is_told(&nlb_listener_at(&have, 0)->lbc.attrs, cps));
}

/* Every kind of step has a name. */
static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i <= NLB_STEP_UNTAG_GROUP; i++) {
        assert_non_null(lbc_step_name(&nlb_steps, (unsigned)i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ensure, obj_end),
        cmocka_unit_test_teardown(test_ends, obj_end),
        cmocka_unit_test_teardown(test_delete_without_model, obj_end),
        cmocka_unit_test_teardown(test_note, obj_end),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
