/* Plans of listeners and their certificates. */
#include "notation.h"

#include "lbc/tests/objects.h"

#include <string.h>

#define LB  "lb nlb-1\n"
#define G80 "k8s.80.TCP.web.default.c1"
#define GT  "k8s.443.TCPSSL.web.default.c1"
#define W80 "group - 80/TCP\n"
#define H80 "group g-1 80/TCP\n"
#define WT  "group - 443/TCPSSL\n"
#define HT  "group g-2 443/TCPSSL\n"

static const struct plan_question questions[] = {
    { "creation with what has a meaning (W16)",
      W80 WT "listener - TCP 80 80/TCP +IdleTimeout=60 +CertificateIds=c-1\n"
             "listener - TCPSSL 443 443/TCPSSL +CertificateIds=c-1\n",
      LB H80 HT,
      "create listener 80/TCP -> " G80 "\n"
      "create listener 443/TCPSSL -> " GT "\n",
      NULL, 0 },
    { "a new group is there before its listener",
      "group - 80/TCP\nserver i-1:80=9\n"
      "listener - TCP 80 80/TCP\n",
      LB,
      "create server group 80/TCP " G80 "\n"
      "add servers 80/TCP " G80 " [i-1:80=9]\n"
      "create listener 80/TCP -> " G80 "\n",
      NULL, 0 },
    { "a range", "group - 100_200/TCP any\nlistener - TCP 100-200 100_200/TCP\n",
      LB "group g-1 100_200/TCP any\n",
      "create listener 100-200/TCP -> k8s.100_200.TCP.web.default.c1\n", NULL, 0 },
    { "attributes: only what is told", W80 "listener - TCP 80 80/TCP +Cps=100 IdleTimeout=900\n",
      LB H80 "listener l-1 TCP 80 g-1 IdleTimeout=60\n",
      "update listener 80/TCP " G80 " (l-1): Cps -> 100\n", NULL, 0 },
    { "unlimited is the default", W80 "listener - TCP 80 80/TCP +Cps=0\n",
      LB H80 "listener l-1 TCP 80 g-1\n", "", NULL, 0 },
    { "the description is ours", W80 "listener - TCP 80 80/TCP\n",
      LB H80 "listener l-1 TCP 80 g-1 desc=hand\n",
      "update listener 80/TCP " G80 " (l-1): description hand -> " G80 "\n", NULL, 0 },
    { "another group", W80 "listener - TCP 80 80/TCP\n",
      LB H80 "group g-5 81/TCP\nlistener l-1 TCP 80 g-5\n",
      "update listener 80/TCP " G80 " (l-1): server group g-5 -> g-1\n"
      "delete server group k8s.81.TCP.web.default.c1 (g-5)\n",
      NULL, 0 },
    { "TCP to TCPSSL: the old one goes in an earlier stage (W10)",
      "group - 443/TCPSSL\nlistener - TCPSSL 443 443/TCPSSL\n",
      LB "group g-1 443/TCP\nlistener l-1 TCP 443 g-1\n",
      "delete listener 443/TCP (l-1)\n"
      "create server group 443/TCPSSL " GT "\n"
      "create listener 443/TCPSSL -> " GT "\n"
      "delete server group k8s.443.TCP.web.default.c1 (g-1)\n",
      NULL, 0 },
    { "80 becomes 80-400", "group - 80_400/TCP any\nlistener - TCP 80-400 80_400/TCP\n",
      LB "group g-2 80_400/TCP any\nlistener l-1 TCP 80 g-2\n",
      "delete listener 80/TCP (l-1)\n"
      "create listener 80-400/TCP -> k8s.80_400.TCP.web.default.c1\n",
      NULL, 0 },
    { "UDP to TCP", W80 "listener - TCP 80 80/TCP\n", LB H80 "listener l-1 UDP 80 g-1\n",
      "delete listener 80/UDP (l-1)\ncreate listener 80/TCP -> " G80 "\n", NULL, 0 },
    { "on our own load balancer all that nobody wants go", "",
      LB "listener l-1 TCP 80 g-9 desc=hand\nlistener l-2 TCP 81 g-9\n"
         "listener l-3 TCP 82 g-9 desc=k8s.82.TCP.other.default.c1\n",
      "delete listener 80/TCP (l-1)\ndelete listener 81/TCP (l-2)\n"
      "delete listener 82/TCP (l-3)\n",
      NULL, 0 },
    { "on somebody else's ours do", "model reused override\n",
      LB "listener l-1 TCP 80 g-9 desc=hand\nlistener l-2 TCP 81 g-9\n"
         "listener l-3 TCP 82 g-9 desc=k8s.82.TCP.other.default.c1\n"
         "listener l-4 TCP 83 g-9 desc=k8s.83.TCP.web.default.c2\n",
      "delete listener 81/TCP (l-2)\n", NULL, 0 },
    { "without override none is created or taken over",
      "model reused\n" W80 WT "listener - TCP 80 80/TCP\nlistener - TCPSSL 443 443/TCPSSL\n",
      LB H80 HT "listener l-2 TCP 80 g-9 desc=hand\n", "", NULL, 0 },
    { "and ours are deleted with their ports", "model reused\n" W80 "listener - TCP 80 80/TCP\n",
      LB H80 "listener l-1 TCP 80 g-1\nlistener l-2 TCP 81 g-9\nlistener l-3 TCP 82 g-9 desc=hand\n"
             "listener l-4 TCP 83 g-9 desc=k8s.83.TCP.other.default.c1\n",
      "delete listener 81/TCP (l-2)\n", NULL, 0 },
    { "and stay as they are otherwise", "model reused\n" W80 "listener - TCP 80 80/TCP +Cps=100\n",
      LB H80 "listener l-1 TCP 80 g-1\n", "", NULL, 0 },
    { "also under another protocol", "model reused\n" WT "listener - TCPSSL 443 443/TCPSSL\n",
      LB HT "group g-1 443/TCP\nlistener l-1 TCP 443 g-1\n", "", NULL, 0 },
    { "but they follow their group", "model reused\n" W80 "listener - TCP 80 80/TCP +Cps=100\n",
      LB "group g-5 81/TCP\nlistener l-1 TCP 80 g-5\n",
      "create server group 80/TCP " G80 "\n"
      "update listener 80/TCP " G80 " (l-1): server group g-5 -> " G80 "\n"
      "delete server group k8s.81.TCP.web.default.c1 (g-5)\n",
      NULL, 0 },
    { "unless a person has chosen one for them", "model reused\n" W80 "listener - TCP 80 80/TCP\n",
      LB H80 "group g-7 9/TCP name=mine\nlistener l-1 TCP 80 g-7\n", "", NULL, 0 },
    { "a listener that somebody made is taken over",
      "model reused override\n" W80 "listener - TCP 80 80/TCP\n",
      LB H80 "listener l-1 TCP 80 g-9 desc=hand\n",
      "update listener 80/TCP " G80 " (l-1): server group g-9 -> g-1, description hand -> " G80
      "\n",
      NULL, 0 },
    { "one of another Service is not", "model reused override\n" W80 "listener - TCP 80 80/TCP\n",
      LB H80 "listener l-1 TCP 80 g-9 desc=k8s.80.TCP.other.default.c1\n", "",
      "port 80/TCP: the TCP listener on port 80 belongs to another Service", 0 },
    { "nor is its port (W46)", "model reused override\n" WT "listener - TCPSSL 443 443/TCPSSL\n",
      LB HT "listener l-1 TCP 400-500 g-9 desc=k8s.400_500.TCP.other.default.c1\n", "",
      "port 443/TCPSSL: the TCP listener on port 400 belongs to another Service", 0 },
    { "nor somebody's of another protocol",
      "model reused override\n" WT "listener - TCPSSL 443 443/TCPSSL\n",
      LB HT "listener l-1 TCP 443 g-9 desc=hand\n", "",
      "port 443/TCPSSL: the TCP listener on port 443 belongs to somebody else (hand)", 0 },
    { "UDP beside it is fine",
      "model reused override\ngroup - 443/UDP\nlistener - UDP 443 443/UDP\n",
      LB "group g-3 443/UDP\nlistener l-1 TCP 443 g-9 desc=hand\n",
      "create listener 443/UDP -> k8s.443.UDP.web.default.c1\n", NULL, 0 },
    { "what may serve a broken port stays, whatever its protocol; ranges may, too",
      "model incomplete\nlistener - OTHER 80 80/TCP broken\n" WT
      "listener - TCPSSL 443 443/TCPSSL\n",
      LB HT "listener l-1 UDP 80 g-1\nlistener l-2 TCP 100-200 g-1\nlistener l-3 TCP 81 g-1\n"
            "listener l-4 TCP 443 g-1\n",
      "delete listener 81/TCP (l-3)\ndelete listener 443/TCP (l-4)\n"
      "create listener 443/TCPSSL -> " GT "\n",
      NULL, 0 },
    { "a range that covers another port by mistake takes neither of them away",
      "model incomplete\ngroup - 80_443/TCP any\nlistener - TCP 80-443 80_443/TCP\n"
      "listener - TCP 443 443/TCP broken\n",
      LB "group g-1 80/TCP\ngroup g-4 443/TCP\nlistener l-1 TCP 80 g-1\nlistener l-4 TCP 443 g-4\n",
      "create server group k8s.80_443.TCP.web.default.c1\n",
      "port 80/TCP: the TCP listener on port 443 belongs to another of its ports", 0 },
    { "nor does one that somebody else's stands in the way of",
      "model reused override\ngroup - 80_400/TCP any\nlistener - TCP 80-400 80_400/TCP\n",
      LB H80 "server i-1:80=9\ngroup g-4 80_400/TCP any\nlistener l-1 TCP 80 g-1\n"
             "listener l-9 TCP 300 g-9 desc=hand\n",
      "", "port 80/TCP: the TCP listener on port 300 belongs to somebody else", 0 },
    { "it keeps its servers, too, when somebody else sends to the same group",
      "model reused override\ngroup - 80_400/TCP any\nlistener - TCP 80-400 80_400/TCP\n",
      LB H80 "server i-1:80=9\ngroup g-4 80_400/TCP any\nlistener l-0 TCP 70 g-1 desc=hand\n"
             "listener l-1 TCP 80 g-1\nlistener l-9 TCP 300 g-9 desc=hand\n",
      "", "port 80/TCP: the TCP listener on port 300 belongs to somebody else", 0 },
    { "one name, two groups: the chosen one for the port that chose it",
      "model reused override\n" W80 "group g-7 80/TCP\nlistener - TCP 80 80/TCP\n"
      "listener - TCP 81 80/TCP chosen=g-7\n",
      LB H80 "group g-7 90/TCP name=mine\nlistener l-1 TCP 80 g-1\nlistener l-2 TCP 81 g-7\n", "",
      NULL, 0 },
    { "certificates", WT "listener - TCPSSL 443 443/TCPSSL +CertificateIds=c-1\ncerts a b c\n",
      LB HT "listener l-1 TCPSSL 443 g-2 CertificateIds=c-1\ncerts b d\n",
      "add certificates 443/TCPSSL (l-1) a c\n"
      "remove certificates 443/TCPSSL (l-1) d\n",
      NULL, 0 },
    { "certificates after the listener's own change; the main one is none of them",
      WT "listener - TCPSSL 443 443/TCPSSL +CertificateIds=c-2\ncerts a c-2\n",
      LB HT "listener l-1 TCPSSL 443 g-2 CertificateIds=c-1\ncerts c-2\n",
      "update listener 443/TCPSSL " GT " (l-1): CertificateIds c-1 -> c-2\n"
      "add certificates 443/TCPSSL (l-1) a\n",
      NULL, 0 },
    { "certificates of a new listener",
      WT "listener - TCPSSL 443 443/TCPSSL +CertificateIds=c-1\ncerts a\n", LB HT,
      "create listener 443/TCPSSL -> " GT "\nadd certificates 443/TCPSSL a\n", NULL, 0 },
    { "no annotation, no change", WT "listener - TCPSSL 443 443/TCPSSL\n",
      LB HT "listener l-1 TCPSSL 443 g-2\ncerts a\n", "", NULL, 0 },
    { "an empty one takes them all", WT "listener - TCPSSL 443 443/TCPSSL\ncerts\n",
      LB HT "listener l-1 TCPSSL 443 g-2\ncerts a\n", "remove certificates 443/TCPSSL (l-1) a\n",
      NULL, 0 },
    { "fifteen certificates a call",
      WT "listener - TCPSSL 443 443/TCPSSL\ncerts a b c d e f g h i j k l m n o p\n",
      LB HT "listener l-1 TCPSSL 443 g-2\ncerts\n",
      "add certificates 443/TCPSSL (l-1) a b c d e f g h i j k l m n o\n"
      "add certificates 443/TCPSSL (l-1) p\n",
      NULL, 0 },
    { "twenty-five at most: those that go make place",
      WT "listener - TCPSSL 443 443/TCPSSL\ncerts a b c d e f g h i j k l m\n",
      LB HT "listener l-1 TCPSSL 443 g-2\ncerts n o p q r s t u v w x y z\n",
      "remove certificates 443/TCPSSL (l-1) n o p q r s t u v w x y z\n"
      "add certificates 443/TCPSSL (l-1) a b c d e f g h i j k l m\n",
      NULL, 0 },
    { "a policy of ALPN beside ALPN only",
      WT "listener - TCPSSL 443 443/TCPSSL "
         "+AlpnPolicy=HTTP2Only\n",
      LB HT "listener l-1 TCPSSL 443 g-2 AlpnEnabled=false\n", "", NULL, 0 },
    { "ALPN", WT "listener - TCPSSL 443 443/TCPSSL +AlpnEnabled=true +AlpnPolicy=HTTP2Only\n",
      LB HT "listener l-1 TCPSSL 443 g-2 AlpnEnabled=false\n",
      "update listener 443/TCPSSL " GT " (l-1): AlpnEnabled false -> true, "
      "AlpnPolicy -> HTTP2Only\n",
      NULL, 0 },
    { "an annotation is gone: switches and numbers go back (W38), the check of clients stays",
      WT "listener - TCPSSL 443 443/TCPSSL\n",
      LB HT "listener l-1 TCPSSL 443 g-2 +IdleTimeout=60 +Cps=5 +ProxyProtocolEnabled=true "
            "+CaEnabled=true +SecurityPolicyId=tls_cipher_policy_1_2 +Ppv2VpcIdEnabled=true\n",
      "update listener 443/TCPSSL " GT " (l-1): ProxyProtocolEnabled true -> false, "
      "Ppv2VpcIdEnabled true -> false, IdleTimeout 60 -> 900, Cps 5 -> 0\n",
      NULL, 0 },
    { "UDP has a default of its own", "group - 53/UDP\nlistener - UDP 53 53/UDP\n",
      LB "group g-3 53/UDP\nlistener l-1 UDP 53 g-3 +IdleTimeout=10\n",
      "update listener 53/UDP k8s.53.UDP.web.default.c1 (l-1): IdleTimeout 10 -> 20\n", NULL, 0 },
    { "the chosen group of a listener that is new to us",
      "model reused override\ngroup g-7 80/TCP\nlistener - TCP 80 80/TCP chosen=g-7\n",
      LB "group g-7 80/TCP name=mine\nlistener l-1 TCP 80 g-7 desc=hand\n",
      "update listener 80/TCP " G80 " (l-1): description hand -> " G80 "\n", NULL, 0 },
};

static void test_ensure(void **state)
{
    (void)state;
    check_plans(questions, sizeof(questions) / sizeof(questions[0]));
}

/* Steps borrow from both sides. */
static struct nlb_state have;
static struct nlb_model model;

static void plan_for(struct lbc_plan *plan, const char *want, const char *have_text, bool fresh)
{
    struct lbc_problems problems = LBC_PROBLEMS_INIT;
    const struct lbc_plan_input in = {
        .model = &model.lbc,
        .have = &have.lbc,
        .service = obj_service(),
        .cluster_id = "c1",
        .fresh = fresh,
    };

    read_model(&model, want);
    read_state(&have, have_text);
    assert_int_equal(lbc_plan_ensure(plan, &nlb_plan_ops, &in, &problems), 0);
    lbc_problems_fini(&problems);
}

static void plan_end(struct lbc_plan *plan)
{
    lbc_plan_fini(plan);
    model_end(&model);
    nlb_state_fini(&have);
    memset(&model, 0, sizeof(model));
    memset(&have, 0, sizeof(have));
}

/* What was read just now is in the step, overlaid; of what is remembered only what somebody asks
 * for. */
static void test_update(void **state)
{
    struct lbc_plan plan = { .steps = NULL };
    const struct nlb_step *step = NULL;

    (void)state;
    plan_for(&plan, W80 "listener - TCP 80 80/TCP +Cps=100\n",
             LB H80 "listener l-1 TCP 80 g-1 IdleTimeout=60 ProxyProtocolEnabled=true\n", true);
    assert_int_equal(plan.len, 1);
    step = nlb_step_at(&plan, 0);
    assert_string_equal(step->lbc.listener->id, "l-1");
    assert_string_equal(step->lbc.group->id, "g-1");
    assert_string_equal(step->lbc.to->description, G80);
    assert_int_equal(step->lbc.to->attrs.len, 3);
    assert_string_equal(lbc_attrs_get(&step->lbc.to->attrs, nlb_listener_field("IdleTimeout")),
                        "60");
    assert_string_equal(lbc_attrs_get(&step->lbc.to->attrs, nlb_listener_field("Cps")), "100");
    plan_end(&plan);

    plan_for(&plan, W80 "listener - TCP 80 80/TCP +Cps=100 +IdleTimeout=60\n",
             LB H80 "listener l-1 TCP 80 g-1 IdleTimeout=60 ProxyProtocolEnabled=true\n", false);
    assert_int_equal(plan.len, 1);
    step = nlb_step_at(&plan, 0);
    assert_int_equal(step->lbc.to->attrs.len, 2);
    assert_string_equal(lbc_attrs_get(&step->lbc.to->attrs, nlb_listener_field("IdleTimeout")),
                        "60");
    assert_string_equal(lbc_attrs_get(&step->lbc.to->attrs, nlb_listener_field("Cps")), "100");
    plan_end(&plan);
}

static void test_creation(void **state)
{
    struct lbc_plan plan = { .steps = NULL };
    const struct nlb_step *step = NULL;

    (void)state;
    plan_for(&plan,
             W80 "listener - TCP 80 80/TCP IdleTimeout=60 +CertificateIds=c-1 "
                 "+SecurityPolicyId=x\n",
             LB, true);
    step = nlb_step_at(&plan, plan.len - 1);
    assert_int_equal(step->lbc.type, LBC_STEP_CREATE_LISTENER);
    assert_true(step->lbc.needs_security);
    assert_null(step->lbc.group);
    assert_string_equal(step->lbc.want->name, G80);
    assert_int_equal(step->lbc.to->attrs.len, 1); /* TCP has no certificate */
    plan_end(&plan);
}

/* Servers and listeners of a new Service go in one stage, to share their jobs' polls; a listener
 * that moves waits until the last server is in. */
static void test_stages(void **state)
{
    struct lbc_plan plan = { .steps = NULL };

    (void)state;
    plan_for(&plan, "group - 80/TCP\nserver i-1:80=9\nlistener - TCP 80 80/TCP\n", LB, true);
    assert_int_equal(plan.len, 3);
    assert_int_equal(plan.steps[1]->type, LBC_STEP_ADD);
    assert_int_equal(plan.steps[2]->type, LBC_STEP_CREATE_LISTENER);
    assert_int_equal(plan.steps[1]->stage, plan.steps[2]->stage);
    assert_true(plan.steps[0]->stage < plan.steps[1]->stage);
    plan_end(&plan);

    plan_for(&plan, "group - 80/TCP type=Ip\nserver i-1:80=9\nlistener - TCP 80 80/TCP\n",
             LB H80 "listener l-1 TCP 80 g-1\n", true);
    assert_int_equal(plan.len, 4);
    assert_int_equal(plan.steps[2]->type, LBC_STEP_UPDATE_LISTENER);
    assert_true(plan.steps[1]->stage < plan.steps[2]->stage);
    assert_int_equal(plan.steps[3]->type, LBC_STEP_DELETE_GROUP);
    assert_true(plan.steps[3]->last);
    plan_end(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ensure, obj_end),
        cmocka_unit_test_teardown(test_update, obj_end),
        cmocka_unit_test_teardown(test_creation, obj_end),
        cmocka_unit_test_teardown(test_stages, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
