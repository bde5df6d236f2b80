/* Plans of server groups and their servers. */
#include "notation.h"

#include "lbc/tests/objects.h"

#define OWNER "a5e4dbfc9c2ae4642b0335607860aef6"
#define LB    "lb nlb-1\n"
#define G80   "k8s.80.TCP.web.default.c1"
#define L80   "listener l-1 TCP 80 g-1\n"
#define WANTS "listener - TCP 80 80/TCP\n"

static const struct plan_question questions[] = {
    { "no-op", "group - 80/TCP\nserver i-1:80=100\n" WANTS,
      LB "group g-1 80/TCP\nserver i-1:80=100\n" L80, "", NULL, 0 },
    { "add, then remove, then weights and descriptions",
      "group - 80/TCP\nserver i-1:80=9\nserver i-2:80=5\nserver i-4:80=9\n" WANTS,
      LB "group g-1 80/TCP\nserver i-2:80=9\nserver i-3:80=9\n"
         "server i-4:80=9 !k8s.old.TCP.web.default.c1\n" L80,
      "add servers 80/TCP " G80 " (g-1) [i-1:80=9]\n"
      "remove servers 80/TCP " G80 " (g-1) [i-3:80=9]\n"
      "update servers 80/TCP " G80 " (g-1) [i-2:80=5 i-4:80=9]\n",
      NULL, 0 },
    { "the port is part of a server (W6)", "group - 80/TCP\nserver i-1:81=9\n" WANTS,
      LB "group g-1 80/TCP\nserver i-1:80=9\n" L80,
      "add servers 80/TCP " G80 " (g-1) [i-1:81=9]\n"
      "remove servers 80/TCP " G80 " (g-1) [i-1:80=9]\n",
      NULL, 0 },
    { "servers of others stay", "group - 80/TCP\nserver i-1:80=9\n" WANTS,
      LB "group g-1 80/TCP\nserver i-1:80=3 !hand\nserver i-2:80=9 "
         "!k8s.80.TCP.other.default.c1\n" L80,
      "", NULL, 0 },
    { "addresses unknown: add only",
      "group - 80/TCP addonly\nserver i-1:80=9\nserver i-2:80=1\n" WANTS,
      LB "group g-1 80/TCP\nserver i-2:80=9\nserver i-3:80=9\n" L80,
      "add servers 80/TCP " G80 " (g-1) [i-1:80=9]\n", NULL, 0 },
    { "all nodes NotReady: nothing leaves", "group - 80/TCP hold\nserver i-2:80=5\n" WANTS,
      LB "group g-1 80/TCP\nserver i-2:80=9\nserver i-3:80=9\n" L80,
      "update servers 80/TCP " G80 " (g-1) [i-2:80=5]\n", NULL, 0 },
    { "weights are left alone, not those of servers that stop",
      "model keep\ngroup - 80/TCP\nserver i-1:80=5\nserver i-2:80=5 leaving\n"
      "server i-3:80=5\n" WANTS,
      LB "group g-1 80/TCP\nserver i-1:80=9\nserver i-2:80=9\n"
         "server i-3:80=7 !k8s.old.TCP.web.default.c1\n" L80,
      "update servers 80/TCP " G80 " (g-1) [i-2:80=0 i-3:80=7]\n", NULL, 0 },
    { "a server that stops is not added",
      "group - 80/TCP\nserver i-1:80=0 leaving\nserver i-2:80=5 leaving\n" WANTS,
      LB "group g-1 80/TCP\nserver i-2:80=0\n" L80, "", NULL, 0 },
    { "batches have stages of their own",
      "group - 80/TCP\nserver i-1:80=9\nserver i-2:80=9\nserver i-3:80=9\n" WANTS,
      LB "group g-1 80/TCP\nserver i-4:80=9\nserver i-5:80=9\nserver i-6:80=9\n" L80,
      "add servers 80/TCP " G80 " (g-1) [i-1:80=9 i-2:80=9]\n"
      "add servers 80/TCP " G80 " (g-1) [i-3:80=9]\n"
      "remove servers 80/TCP " G80 " (g-1) [i-4:80=9 i-5:80=9]\n"
      "remove servers 80/TCP " G80 " (g-1) [i-6:80=9]\n",
      NULL, 2 },
    { "another type: new group, listener moves when it is full, old group last (W4)",
      "group - 80/TCP type=Ip\nserver i-1:80=9\nserver i-2:80=9\n" WANTS,
      LB "group g-1 80/TCP type=Instance\nserver i-1:80=9\n" L80,
      "create server group 80/TCP " G80 "\n"
      "add servers 80/TCP " G80 " [i-1:80=9]\n"
      "add servers 80/TCP " G80 " [i-2:80=9]\n"
      "update listener 80/TCP " G80 " (l-1): server group g-1 -> " G80 "\n"
      "delete server group " G80 " (g-1)\n",
      NULL, 1 },
    { "the new group of a run that broke off is taken, whatever the list's order",
      "group - 80/TCP type=Ip\n" WANTS,
      LB "group g-1 80/TCP type=Instance\ngroup g-2 80/TCP type=Ip\n" L80,
      "update listener 80/TCP " G80 " (l-1): server group g-1 -> g-2\n"
      "delete server group " G80 " (g-1)\n",
      NULL, 0 },
    { "another family (W15)",
      "group - 80/TCP family=dualstack +IpVersionAffinityMode=Affinity\n" WANTS,
      LB "group g-1 80/TCP\n" L80,
      "create server group 80/TCP " G80 "\n"
      "update listener 80/TCP " G80 " (l-1): server group g-1 -> " G80 "\n"
      "delete server group " G80 " (g-1)\n",
      NULL, 0 },
    { "a hash instead of another scheduler: the cloud changes no group to it",
      "group - 80/TCP +Scheduler=tch\nserver i-1:80=9\n" WANTS,
      LB "group g-1 80/TCP Scheduler=sch\nserver i-1:80=9\n" L80,
      "create server group 80/TCP " G80 "\n"
      "add servers 80/TCP " G80 " [i-1:80=9]\n"
      "update listener 80/TCP " G80 " (l-1): server group g-1 -> " G80 "\n"
      "delete server group " G80 " (g-1)\n",
      NULL, 0 },
    { "the other way works", "group - 80/TCP +Scheduler=rr\n" WANTS,
      LB "group g-1 80/TCP Scheduler=sch\n" L80,
      "update server group 80/TCP " G80 " (g-1): Scheduler sch -> rr\n", NULL, 0 },
    { "and the hash that is there stays",
      "group - 80/TCP +Scheduler=sch +HealthyThreshold=3\n" WANTS,
      LB "group g-1 80/TCP Scheduler=Sch HealthyThreshold=2\n" L80,
      "update server group 80/TCP " G80 " (g-1): HealthyThreshold 2 -> 3\n", NULL, 0 },
    { "affinity is changed in place",
      "group - 80/TCP family=dualstack +IpVersionAffinityMode=Affinity\n" WANTS,
      LB "group g-1 80/TCP family=DualStack IpVersionAffinityMode=NonAffinity\n" L80,
      "update server group 80/TCP " G80 " (g-1): IpVersionAffinityMode NonAffinity -> Affinity\n",
      NULL, 0 },
    { "two of one kind: the used one stays", "group - 80/TCP\n" WANTS,
      LB "group g-0 80/TCP\ngroup g-1 80/TCP\n" L80, "delete server group " G80 " (g-0)\n", NULL,
      0 },
    { "port gone", "", LB "group g-1 80/TCP\nserver i-1:80=9\n" L80,
      "delete listener 80/TCP (l-1)\ndelete server group " G80 " (g-1)\n", NULL, 0 },
    { "port gone from a load balancer that is preserved: its group stays, and is let go (6.8)",
      "model preserve\n",
      LB "group g-1 80/TCP owner=" OWNER " cluster=c1\nserver i-1:80=9\n"
         "group g-2 81/TCP owner=another cluster=c2\ngroup g-3 82/TCP unread cluster=c1\n" L80,
      "delete listener 80/TCP (l-1)\n"
      "untag server group " G80 " (g-1) ack.aliyun.com=c1 kubernetes.do.not.delete=" OWNER "\n"
      "untag server group k8s.82.TCP.web.default.c1 (g-3) ack.aliyun.com=c1\n",
      NULL, 0 },
    { "what is there anyway is not preserved", "model preserve reused override\n",
      LB "group g-1 80/TCP owner=" OWNER " cluster=c1\nserver i-1:80=9\n" L80,
      "delete listener 80/TCP (l-1)\ndelete server group " G80 " (g-1)\n", NULL, 0 },
    { "a group with somebody's server only loses ours", "",
      LB "group g-1 80/TCP\nserver i-1:80=9\nserver i-2:80=9 !hand\n",
      "remove servers " G80 " (g-1) [i-1:80=9]\n", NULL, 0 },
    { "a group of another Service is not ours", "",
      LB "group g-1 80/TCP name=k8s.80.TCP.other.default.c1\nserver i-1:80=9\n", "", NULL, 0 },
    { "a group that somebody's listener uses only loses ours", "model reused override\n",
      LB "group g-1 80/TCP\nserver i-1:80=9\nlistener l-9 TCP 90 g-1 desc=hand\n",
      "remove servers " G80 " (g-1) [i-1:80=9]\n", NULL, 0 },
    { "a port failed: nothing that may belong to it goes",
      "model incomplete\nlistener - TCP 80 80/TCP broken\n",
      LB "group g-1 80/TCP\nserver i-1:80=9\n" L80, "", NULL, 0 },
    { "a broken group is left as it is", "group g-7 80/TCP broken\nserver i-1:80=9\n" WANTS,
      LB "group g-7 80/TCP name=mine\nserver i-2:80=9\n" L80, "", NULL, 0 },
    { "a chosen group: servers only, under our description",
      "model reused override\ngroup g-7 80/TCP +Scheduler=rr\nserver i-1:80=9\n" WANTS,
      LB "group g-7 80/TCP name=mine Scheduler=Wrr\nserver i-2:80=9\n"
         "server i-3:80=9 !" G80 "\nlistener l-1 TCP 80 g-7\n",
      "add servers 80/TCP " G80 " (g-7) [i-1:80=9]\n"
      "remove servers 80/TCP " G80 " (g-7) [i-3:80=9]\n",
      NULL, 0 },
    { "two ports chose one group: one call after the other, nothing of the other one goes",
      "model reused\ngroup g-7 80/TCP\nserver i-1:80=9\nserver i-9:99=9\n"
      "group g-7 81/TCP\nserver i-1:81=9\nserver i-9:99=9\n",
      LB "group g-7 80/TCP name=mine\nserver i-2:80=9 !" G80 "\n",
      "add servers 80/TCP " G80 " (g-7) [i-1:80=9 i-9:99=9]\n"
      "remove servers 80/TCP " G80 " (g-7) [i-2:80=9]\n"
      "add servers 81/TCP k8s.81.TCP.web.default.c1 (g-7) [i-1:81=9]\n",
      NULL, 0 },
    { "two ports chose one group, and one of them must not remove",
      "model reused\ngroup g-7 80/TCP\nserver i-1:80=9\ngroup g-7 81/TCP hold\n",
      LB "group g-7 80/TCP name=mine\nserver i-2:80=9 !" G80 "\n",
      "add servers 80/TCP " G80 " (g-7) [i-1:80=9]\n", NULL, 0 },
    { "attributes: only what is told",
      "group - 80/TCP +Scheduler=rr HealthyThreshold=4 +HealthCheckType=tcp\n" WANTS,
      LB "group g-1 80/TCP Scheduler=Wrr HealthyThreshold=2 HealthCheckType=TCP\n" L80,
      "update server group 80/TCP " G80 " (g-1): Scheduler Wrr -> rr\n", NULL, 0 },
    { "codes are a set", "group - 80/TCP +HealthCheckHttpCode=http_3xx,http_2xx\n" WANTS,
      LB "group g-1 80/TCP HealthCheckHttpCode=http_2xx,http_3xx\n" L80, "", NULL, 0 },
    { "and a real one (W40)", "group - 80/TCP +HealthCheckHttpCode=http_2xx,http_2xx\n" WANTS,
      LB "group g-1 80/TCP HealthCheckHttpCode=http_2xx,http_3xx\n" L80,
      "update server group 80/TCP " G80
      " (g-1): HealthCheckHttpCode http_2xx,http_3xx -> http_2xx,http_2xx\n",
      NULL, 0 },
    { "a drain time means something beside draining only (W22)",
      "group - 80/TCP +ConnectionDrainTimeout=30\n" WANTS,
      LB "group g-1 80/TCP ConnectionDrainEnabled=false ConnectionDrainTimeout=10\n" L80, "", NULL,
      0 },
    { "draining", "group - 80/TCP +ConnectionDrainEnabled=true +ConnectionDrainTimeout=30\n" WANTS,
      LB "group g-1 80/TCP ConnectionDrainEnabled=false ConnectionDrainTimeout=10\n" L80,
      "update server group 80/TCP " G80 " (g-1): ConnectionDrainEnabled false -> true, "
      "ConnectionDrainTimeout 10 -> 30\n",
      NULL, 0 },
    { "what the cloud does not tell is at its default",
      "group - 80/TCP +PreserveClientIpEnabled=true\n" WANTS, LB "group g-1 80/TCP\n" L80, "", NULL,
      0 },
    { "an annotation is gone: back to the default (W38)",
      "group - 80/TCP HealthyThreshold=3\n" WANTS,
      LB "group g-1 80/TCP +Scheduler=rr +PreserveClientIpEnabled=false +HealthyThreshold=5 "
         "HealthCheckInterval=7\n" L80,
      "update server group 80/TCP " G80 " (g-1): Scheduler rr -> Wrr, "
      "PreserveClientIpEnabled false -> true, HealthyThreshold 5 -> 3\n",
      NULL, 0 },
};

static void test_ensure(void **state)
{
    (void)state;
    check_plans(questions, sizeof(questions) / sizeof(questions[0]));
}

static void plan_for(struct lbc_plan *plan, struct nlb_model *model, const struct nlb_state *have,
                     struct lbc_problems *problems)
{
    const struct lbc_plan_input in = {
        .model = &model->lbc, .have = &have->lbc, .service = obj_service(), .cluster_id = "c1"
    };

    assert_int_equal(lbc_plan_ensure(plan, &nlb_plan_ops, &in, problems), 0);
}

/* A server that comes back while the cloud still takes it out has to be waited for (W23). */
static void test_waiting(void **state)
{
    static const struct {
        const char *want;
        const char *have;
        size_t steps;
        bool waiting;
    } cases[] = {
        { "server i-1:80=9\n", "server i-1:80=9 leaving\n", 0, true },
        { "", "server i-1:80=9 leaving\n", 0, false },
        { "server i-1:80=9 leaving\n", "server i-1:80=9 leaving\n", 0, false },
        { "server i-2:80=9\n", "server i-1:80=9 leaving\n", 1, false },
        /* The only one that serves stays until then. */
        { "server i-1:80=9\n", "server i-1:80=9 leaving\nserver i-2:80=9\n", 0, true },
        { "server i-1:80=9\nserver i-3:80=9\n", "server i-1:80=9 leaving\nserver i-2:80=9\n", 2,
          true },
        { "server i-1:80=9\nserver i-3:80=9\n",
          "server i-1:80=9 leaving\nserver i-2:80=9\nserver i-3:80=9\n", 1, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lbc_problems problems = LBC_PROBLEMS_INIT;
        struct nlb_state have = { .lb = { .lbc.id = NULL } };
        struct nlb_model model = { .lbc.explicit = 0 };
        struct lbc_plan plan = { .steps = NULL };

        read_model(&model, "group - 80/TCP\n");
        read_model(&model, cases[i].want);
        read_state(&have, LB "group g-1 80/TCP\n");
        read_state(&have, cases[i].have);
        plan_for(&plan, &model, &have, &problems);
        assert_int_equal(plan.len, cases[i].steps);
        assert_int_equal(plan.waiting.len, cases[i].waiting ? 1 : 0);
        lbc_plan_fini(&plan);
        model_end(&model);
        nlb_state_fini(&have);
        lbc_problems_fini(&problems);
    }
}

/* Nothing is planned for a group whose servers are not known. */
static void test_unread(void **state)
{
    struct lbc_problems problems = LBC_PROBLEMS_INIT;
    struct nlb_state have = { .lb = { .lbc.id = NULL } };
    struct nlb_model model = { .lbc.explicit = 0 };
    struct lbc_plan plan = { .steps = NULL };

    (void)state;
    read_model(&model, "group - 80/TCP\nserver i-1:80=9\n");
    read_state(&have, LB "group g-1 80/TCP unread\ngroup g-2 81/TCP unread\n");
    plan_for(&plan, &model, &have, &problems);
    assert_int_equal(plan.len, 0);
    assert_int_equal(plan.waiting.len, 2);
    assert_string_equal(plan.waiting.items[0], "g-1");
    lbc_plan_fini(&plan);
    model_end(&model);
    nlb_state_fini(&have);
    lbc_problems_fini(&problems);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_ensure, obj_end),
        cmocka_unit_test_teardown(test_waiting, obj_end),
        cmocka_unit_test_teardown(test_unread, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
