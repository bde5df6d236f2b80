/* Plans of the load balancer itself, and of who may reach it. */
#include "notation.h"

#include "lbc/tests/objects.h"
#include "util/cleanup.h"

#include <string.h>

#define GUARD "k8s-nlb-a5e4dbfc9c2ae4642b0335607860aef6"
#define RULES "rule - accept 10.0.0.0/8 1\nrule - drop 0.0.0.0/0 100\n"
#define HELD  "rule r-1 accept 10.0.0.0/8 1\nrule r-2 drop 0.0.0.0/0 100\n"

static const struct plan_question questions[] = {
    { "nothing told, nothing changed (take-over)",
      "lb - type=internet name=x cross=true protection=true modification=ConsoleProtection\n",
      "lb nlb-1 type=Intranet name=y cross=false protection=false modification=NonProtection\n"
      "zone a vsw-1\nsg sg-1\ntag k=v\n",
      "", NULL, 0 },
    { "all of it, one change at a time",
      "lb - +type=Internet +ipv6=Internet +name=new +cross=false +package=cbwp-2 "
      "+protection=false +modification=NonProtection\nzone a vsw-1\nzone b vsw-2\n",
      "lb nlb-1 type=Intranet ipv6=Intranet name=old cross=true package=cbwp-1 "
      "protection=true modification=ConsoleProtection\nzone a vsw-1\n",
      "set protection: deletion protection true -> false, "
      "modification protection ConsoleProtection -> NonProtection\n"
      "detach bandwidth package cbwp-1\n"
      "change address type Internet: type Intranet -> Internet\n"
      "change zones a:vsw-1 b:vsw-2: instead of a:vsw-1\n"
      "change IPv6 address type Internet\n"
      "update load balancer: name old -> new, cross-zone true -> false\n"
      "attach bandwidth package cbwp-2\n",
      NULL, 0 },
    { "the same in other words", "lb - +type=internet +version=dualstack +cross=true\n",
      "lb nlb-1 type=Internet version=DualStack cross=true\n", "", NULL, 0 },
    { "the package is taken off", "lb - +package=\n", "lb nlb-1 package=cbwp-1\n",
      "detach bandwidth package cbwp-1\n", NULL, 0 },
    { "a package where none was", "lb - +package=cbwp-1\n", "lb nlb-1\n",
      "attach bandwidth package cbwp-1\n", NULL, 0 },
    { "private IPv6 is how it starts", "lb - +ipv6=Intranet\n", "lb nlb-1\n", "", NULL, 0 },
    { "the family stays", "lb - +version=DualStack\n", "lb nlb-1 version=ipv4\n", "",
      "AddressIpVersion cannot be changed, service: DualStack, nlb: ipv4", 0 },
    { "the resource group stays", "lb - +rg=rg-2\n", "lb nlb-1 rg=rg-1\n", "",
      "ResourceGroupId cannot be changed, service: rg-2, nlb: rg-1", 0 },
    { "a zone goes (W14)", "zone a vsw-1\nzone b vsw-2\n",
      "lb nlb-1\nzone a vsw-1 10.0.0.1 eip-1\nzone b vsw-2\nzone c vsw-3\n",
      "change zones a:vsw-1 b:vsw-2: instead of a:vsw-1 b:vsw-2 c:vsw-3\n", NULL, 0 },
    { "somebody else's keeps its zones", "model reused\nzone a vsw-1\n",
      "lb nlb-1\nzone a vsw-1\nzone b vsw-2\n", "", NULL, 0 },
    { "addresses count where told", "zone a vsw-1 10.0.0.2\nzone b vsw-2 - eip-2\n",
      "lb nlb-1\nzone a vsw-1 10.0.0.1\nzone b vsw-2 10.1.0.1 eip-2\n",
      "change zones a:vsw-1:10.0.0.2 b:vsw-2::eip-2: instead of a:vsw-1 b:vsw-2\n", NULL, 0 },
    { "elastic addresses come with the type",
      "lb - +type=Internet\nzone a vsw-1 - eip-1\nzone b vsw-2\n",
      "lb nlb-1 type=Intranet\nzone a vsw-1\nzone b vsw-2\n",
      "change address type Internet a:vsw-1::eip-1: type Intranet -> Internet\n", NULL, 0 },
    { "tags: reserved ones are not set, others stay",
      "tag k=v\ntag acs:x=1\ntag ack.aliyun.com=c9\n", "lb nlb-1\ntag k=old\ntag other=1\n",
      "tag load balancer k=v\n", NULL, 0 },
    { "our marks come back", "lb - +name=new\n", "lb nlb-1 untagged name=old\n",
      "tag load balancer ack.aliyun.com=c1 "
      "kubernetes.do.not.delete=a5e4dbfc9c2ae4642b0335607860aef6\n"
      "update load balancer: name old -> new\n",
      NULL, 0 },
    { "no marks on somebody else's", "model reused\n", "lb nlb-1 untagged\n", "", NULL, 0 },
    { "an annotation is gone (W38): switches go back, addresses do not", "lb - type=internet\n",
      "lb nlb-1 +type=Intranet +ipv6=Internet +cross=false +protection=false "
      "+modification=NonProtection +name=x\n",
      "set protection: deletion protection false -> true, "
      "modification protection NonProtection -> ConsoleProtection\n"
      "update load balancer: cross-zone false -> true\n",
      NULL, 0 },
    { "but not on somebody else's", "model reused\n", "lb nlb-1 +cross=false +protection=false\n",
      "", NULL, 0 },

    { "security groups: joined before anything is left", "sg a b\n", "lb nlb-1\nsg b c\n",
      "join security groups a\nleave security groups c\n", NULL, 0 },
    { "no room for both", "sg a b c d\n", "lb nlb-1\nsg c d e f\n",
      "leave security groups e f\njoin security groups a b\n", NULL, 0 },
    { "none", "sg\n", "lb nlb-1\nsg a\n", "leave security groups a\n", NULL, 0 },
    { "not told", "", "lb nlb-1\nsg a\n", "", NULL, 0 },

    { "source ranges: complete before it is joined (W2)", "guard\n" RULES,
      "lb nlb-1\nsg a\nguard\n",
      "create security group " GUARD "\n"
      "add security group rules drop 0.0.0.0/0 accept 10.0.0.0/8\n"
      "join security groups (for source ranges)\n",
      NULL, 0 },
    { "source ranges: no-op", "guard\n" RULES, "lb nlb-1\nsg sg-1\nguard sg-1\n" HELD, "", NULL,
      0 },
    { "source ranges: made, but not joined", "guard\n" RULES, "lb nlb-1\nguard sg-1\n" HELD,
      "join security groups (for source ranges)\n", NULL, 0 },
    { "source ranges: others come, some go",
      "guard\nrule - accept 10.1.0.0/16 1\nrule - accept 10.2.0.0/16 1\n"
      "rule - drop 0.0.0.0/0 100\n",
      "lb nlb-1\nsg sg-1\nguard sg-1\n" HELD "rule r-3 accept 10.2.0.0/16 9\n",
      "add security group rules (sg-1) accept 10.1.0.0/16\n"
      "change security group rule (sg-1) accept 10.2.0.0/16: rule ALL -1/-1 priority 9 "
      "(k8s.default.web.c1) -> All -1/-1 priority 1 (k8s.default.web.c1)\n"
      "remove security group rules (sg-1) accept 10.0.0.0/8\n",
      NULL, 0 },
    { "source ranges gone: left, and deleted at the end", "", "lb nlb-1\nsg a sg-1\nguard sg-1\n",
      "leave security groups (for source ranges)\ndelete security group (sg-1)\n", NULL, 0 },
    { "source ranges beside chosen groups", "guard\n" RULES "sg a\n",
      "lb nlb-1\nsg b sg-1\nguard sg-1\n" HELD, "join security groups a\nleave security groups b\n",
      NULL, 0 },
    { "source ranges beside chosen groups, gone", "sg a\n", "lb nlb-1\nsg a b sg-1\nguard sg-1\n",
      "leave security groups b (for source ranges)\ndelete security group (sg-1)\n", NULL, 0 },
    { "source ranges where four are joined", "guard\n" RULES "sg a b c\n",
      "lb nlb-1\nsg a b c d\nguard sg-1\n" HELD,
      "leave security groups d\njoin security groups (for source ranges)\n", NULL, 0 },

    { "creation: what it does not take comes after it, once (W20)",
      "lb - +type=Internet +ipv6=Internet +version=DualStack name=x +cross=false +package=p "
      "+protection=false +modification=NonProtection\nzone a vsw-1\nsg sg-1\ntag k=v\n"
      "guard\n" RULES,
      "lb -\nguard\n",
      "create load balancer Internet k=v a:vsw-1\n"
      "create security group " GUARD "\n"
      "add security group rules drop 0.0.0.0/0 accept 10.0.0.0/8\n"
      "join security groups (for source ranges)\n"
      "join security groups sg-1\n"
      "change IPv6 address type Internet\n"
      "update load balancer: cross-zone true -> false\n",
      NULL, 0 },
};

static void test_ensure(void **state)
{
    (void)state;
    check_plans(questions, sizeof(questions) / sizeof(questions[0]));
}

static void plan_for(struct lbc_plan *plan, const char *want, const char *have_text,
                     const struct lbc_tags *applied)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lb = { .lbc.id = NULL } };
    CCM_CLEANUP(model_end) struct nlb_model model = { .lbc.explicit = 0 };
    const struct lbc_plan_input in = { .model = &model.lbc,
                                       .have = &have.lbc,
                                       .service = obj_service(),
                                       .cluster_id = "c1",
                                       .applied = applied };

    read_model(&model, want);
    read_state(&have, have_text);
    assert_int_equal(lbc_plan_ensure(plan, &nlb_plan_ops, &in, &problems), 0);
}

/* Only tags that we have put on are taken off (W13). */
static void test_untag(void **state)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags applied = { .items = NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };

    (void)state;
    assert_int_equal(lbc_tags_put(&applied, "a", "1"), 0);
    assert_int_equal(lbc_tags_put(&applied, "b", "1"), 0);
    assert_int_equal(lbc_tags_put(&applied, "c", "1"), 0);
    plan_for(&plan, "tag b=1\n", "lb nlb-1\ntag a=1\ntag b=1\ntag d=1\n", &applied);
    lbc_plan_print(&plan, NULL, &text);
    assert_string_equal(ccm_buf_str(&text), "untag load balancer a=1\n");
}

/* Who depends on the rules: our group is not joined, and no listener is made, after a failure. */
static void test_guarded(void **state)
{
    static const struct {
        unsigned type;
        bool needs_security;
    } steps[] = {
        { LBC_STEP_CREATE_LB, false },    { NLB_STEP_CREATE_SECURITY_GROUP, false },
        { NLB_STEP_ADD_RULES, false },    { NLB_STEP_JOIN, true },
        { LBC_STEP_CREATE_GROUP, false }, { LBC_STEP_CREATE_LISTENER, true },
    };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };

    (void)state;
    plan_for(&plan, "guard\n" RULES "group - 80/TCP\nlistener - TCP 80 80/TCP\n", "lb -\nguard\n",
             NULL);
    assert_int_equal(plan.len, sizeof(steps) / sizeof(steps[0]));
    for (size_t i = 0; i < plan.len; i++) {
        assert_int_equal(plan.steps[i]->type, steps[i].type);
        assert_int_equal(plan.steps[i]->needs_security, steps[i].needs_security);
        assert_true(i == 0 || plan.steps[i]->stage > plan.steps[i - 1]->stage);
    }
}

/* A hundred rules a call; where the group is full, those that go make place. */
static void test_many_rules(void **state)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { .steps = NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf want = { .max = 65536 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf have = { .max = 65536 };

    (void)state;
    ccm_buf_adds(&want, "guard\nrule - drop 0.0.0.0/0 100\n");
    ccm_buf_adds(&have, "lb nlb-1\nsg sg-1\nguard sg-1\nrule r-0 drop 0.0.0.0/0 100\n");
    for (unsigned i = 0; i < 150; i++) {
        ccm_buf_addf(&want, "rule - accept 10.0.%u.0/24 1\n", i);
        ccm_buf_addf(&have, "rule r-%u accept 10.1.%u.0/24 1\n", i + 1, i);
    }
    plan_for(&plan, ccm_buf_str(&want), ccm_buf_str(&have), NULL);
    assert_int_equal(plan.len, 4);
    assert_int_equal(plan.steps[0]->type, NLB_STEP_REMOVE_RULES);
    assert_int_equal(nlb_step_at(&plan, 1)->security_group.rule_count, 50);
    assert_int_equal(plan.steps[2]->type, NLB_STEP_ADD_RULES);
    assert_int_equal(nlb_step_at(&plan, 2)->security_group.rule_count, 100);
    for (size_t i = 0; i < nlb_step_at(&plan, 0)->security_group.rule_count; i++) {
        assert_false(nlb_step_at(&plan, 0)->security_group.rules[i].drop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ensure, obj_end),
        cmocka_unit_test_teardown(test_untag, obj_end),
        cmocka_unit_test_teardown(test_guarded, obj_end),
        cmocka_unit_test_teardown(test_many_rules, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
