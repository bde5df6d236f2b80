/*
 * Memory that runs out anywhere in a pass: model, reads, plan, calls, mirror. Whatever fails, the
 * pass says so, or has done all of it; and the mirror is what the cloud holds, or is not trusted.
 * Stands in for ali_call() and its neighbours, so that only our own memory is short.
 */
#include "lbc/tests/objects.h"
#include "nlb/apply.h"
#include "nlb/controller.h"
#include "nlb/nlb.h"
#include "nlb/owner_key.h"
#include "nlb/read.h"
#include "tests/fuzz/oom.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "alicloud/eni.h"
#include "alicloud/job.h"
#include "alicloud/params.h"
#include "alilb/account.h"
#include "lbc/tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME    "a5e4dbfc9c2ae4642b0335607860aef6"
#define CLUSTER "c1"
#define OWN     "web.default.c1"
#define TAGS                                                                                       \
    "'Tags':[{'Key':'kubernetes.do.not.delete','Value':'" NAME "'},"                               \
    "{'Key':'ack.aliyun.com','Value':'c1'}]"

/* --- the cloud --- */

/* What is there: a listener, a group, servers, certificates and rules too many, others to change.
 */
static const struct {
    const char *action;
    const char *answer;
} present[] = {
    { "ListLoadBalancers",
      "{'LoadBalancers':[{'LoadBalancerId':'nlb-1','LoadBalancerName':'old','DNSName':'x.test',"
      "'VpcId':'vpc-1','LoadBalancerStatus':'Active','AddressType':'Internet','AddressIpVersion':"
      "'ipv4','CrossZoneEnabled':true,'BandwidthPackageId':'p-1','SecurityGroupIds':['sg-old',"
      "'sg-own'],'ZoneMappings':[{'ZoneId':'z-a','VSwitchId':'vsw-a'},{'ZoneId':'z-c','VSwitchId':"
      "'vsw-c'}]," TAGS "}]}" },
    { "ListListeners",
      "{'Listeners':[{'LoadBalancerId':'nlb-1','ListenerId':'lsn-1','ListenerPort':80,"
      "'ListenerProtocol':'TCP','ServerGroupId':'sgp-1','ListenerDescription':'k8s.80.TCP." OWN
      "','IdleTimeout':900},{'LoadBalancerId':'nlb-1','ListenerId':'lsn-2','ListenerPort':443,"
      "'ListenerProtocol':'TCPSSL','ServerGroupId':'sgp-2','ListenerDescription':'k8s.443.TCPSSL"
      "." OWN "','CertificateIds':['c-0']},{'LoadBalancerId':'nlb-1','ListenerId':'lsn-3',"
      "'ListenerPort':99,'ListenerProtocol':'UDP','ServerGroupId':'sgp-3','ListenerDescription':"
      "'k8s.99.UDP." OWN "'}]}" },
    { "ListListenerCertificates",
      "{'Certificates':[{'CertificateId':'c-0','IsDefault':true},{'CertificateId':'c-old'}]}" },
    { "ListServerGroups",
      "{'ServerGroups':[{'ServerGroupId':'sgp-1','ServerGroupName':'k8s.30080.TCP." OWN
      "','Protocol':'TCP','ServerGroupType':'Instance','Scheduler':'Wrr','ServerCount':2," TAGS
      "},{'ServerGroupId':'sgp-2','ServerGroupName':'k8s.30443.TCPSSL." OWN
      "','Protocol':'TCPSSL','ServerGroupType':'Instance','ServerCount':0," TAGS
      "},{'ServerGroupId':'sgp-3','ServerGroupName':'k8s.30099.UDP." OWN
      "','Protocol':'UDP','ServerGroupType':'Instance','ServerCount':0," TAGS "}]}" },
    { "ListServerGroupServers",
      "{'Servers':[{'ServerGroupId':'sgp-1','ServerId':'i-1','ServerType':'Ecs','Port':30080,"
      "'Weight':7,'Description':'k8s.30080.TCP." OWN "'},{'ServerGroupId':'sgp-1','ServerId':"
      "'i-9','ServerType':'Ecs','Port':30080,'Weight':9,'Description':'k8s.30080.TCP." OWN "'}]}" },
    { "DescribeSecurityGroups",
      "{'SecurityGroups':{'SecurityGroup':[{'SecurityGroupId':'sg-own','SecurityGroupName':'other',"
      "'Description':'k8s."
      "default.web.c1','Tags':{'Tag':[{'TagKey':'kubernetes.do.not.delete','TagValue':'" NAME
      "'}]}}]}}" },
    { "DescribeSecurityGroupAttribute",
      "{'Permissions':{'Permission':[{'SecurityGroupRuleId':'r-1','Policy':'Accept','SourceCidrIp':"
      "'10.0.0.0/8','Priority':9,'IpProtocol':'ALL','PortRange':'-1/-1','Description':"
      "'k8s.default.web.c1'},{'SecurityGroupRuleId':'r-2','Policy':'Accept','SourceCidrIp':"
      "'172.16.0.0/12','Priority':1,'IpProtocol':'ALL','PortRange':'-1/-1','Description':"
      "'k8s.default.web.c1'}]}}" },
};

static const char empty[] =
    "{'LoadBalancers':[],'Listeners':[],'Certificates':[],'ServerGroups':[],"
    "'Servers':[],'SecurityGroups':{'SecurityGroup':[]},'Permissions':"
    "{'Permission':[]}}";

/* One at a time. */
static struct {
    bool has_all;   /* of `present` */
    char log[8192]; /* writes, each with a blank behind it */
    unsigned made;
} cloud;

static bool is_read(const char *action)
{
    return ccm_text_starts(action, "List") || ccm_text_starts(action, "Describe") ||
           ccm_text_starts(action, "Get");
}

static void write_answer(const char *action, char *ret, size_t size)
{
    const size_t len = strlen(cloud.log);

    ccm_text_printf(cloud.log + len, sizeof(cloud.log) - len, "%s ", action);
    cloud.made++;
    ccm_text_printf(ret, size,
                    "{'RequestId':'r','JobId':'job-%u','LoadbalancerId':'nlb-1','ServerGroupId':"
                    "'new-%u','ListenerId':'new-%u','SecurityGroupId':'sg-own'}",
                    cloud.made, cloud.made, cloud.made);
}

static const char *read_answer(const char *action)
{
    if (strcmp(action, "GetLoadBalancerAttribute") == 0) {
        return "{'LoadBalancerId':'nlb-1','LoadBalancerStatus':'Active','DNSName':'x.test',"
               "'VpcId':'vpc-1','AddressType':'Internet'," TAGS "}";
    }
    for (size_t i = 0; cloud.has_all && i < CCM_ARRAY_LEN(present); i++) {
        if (strcmp(present[i].action, action) == 0) {
            return present[i].answer;
        }
    }
    return empty;
}

/* The client needs memory as well. */
static int client_memory(const struct ali_call *call)
{
    CCM_CLEANUP(ccm_freep) char *probe = strdup("x");
    const bool bad = (call->params != NULL && call->params->error != 0) ||
                     (call->query != NULL && call->query->error != 0);

    return probe == NULL || bad ? -ENOMEM : 0;
}

int ali_call(const struct ali_caller *by, const struct ali_call *call, cJSON **ret,
             bool *ret_uncertain, struct ccm_error *err)
{
    char text[4096];

    (void)by; /* there is only one cloud */
    *ret_uncertain = false;
    if (client_memory(call) < 0) {
        return ccm_error_nomem(err);
    }
    if (is_read(call->action)) {
        ccm_text_copy(text, sizeof(text), read_answer(call->action));
    } else {
        write_answer(call->action, text, sizeof(text));
    }
    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '\'' ? '"' : *p;
    }
    if (ret != NULL) {
        assert_int_equal(ccm_json_parse(text, strlen(text), ret), 0);
    }
    return 0;
}

int ali_job_wait(const struct ali_caller *by, struct ali_job *jobs, size_t count,
                 int64_t timeout_ms, int64_t patience_ms, struct ccm_error *err)
{
    (void)by;
    (void)timeout_ms;
    (void)patience_ms;
    (void)err; /* never fails */
    for (size_t i = 0; i < count; i++) {
        jobs[i].state = ALI_JOB_DONE;
    }
    return 0;
}

void ali_eni_forget(struct ali_client *ali, const char *address)
{
    (void)ali;
    (void)address; /* nothing is cached */
}

const char *ali_vpc_id(const struct ali_client *ali)
{
    (void)ali;
    return "vpc-1";
}

const char *ali_resource_group_id(const struct ali_client *ali)
{
    (void)ali;
    return "";
}

static int random_bytes(const struct ccm_host *host, void *bytes, size_t len)
{
    (void)host;
    memset(bytes, 7, len);
    return 0;
}

static bool cancelled(const struct ccm_host *host, const struct ccm_request *req)
{
    (void)host;
    (void)req;
    return false;
}

static const struct ccm_host host = { .random = random_bytes, .cancelled = cancelled };

/* --- the cluster --- */

static struct {
    struct ccm_service *service;
    const struct ccm_object *nodes[2];
} cluster;

static void annotate(const char *name, const char *value)
{
    char key[128];

    ccm_text_printf(key, sizeof(key), P "%s", name);
    obj_annotate(&cluster.service->meta, key, value);
}

static int set_up(void **state)
{
    (void)state;
    cluster.service = obj_service();
    cluster.nodes[0] = &obj_node("n1", "cn-hangzhou.i-1")->meta;
    cluster.nodes[1] = &obj_node("n2", "cn-hangzhou.i-2")->meta;
    obj_port(cluster.service, "http", "TCP", 80, "8080", 30080);
    obj_port(cluster.service, "https", "TCP", 443, "8443", 30443);
    obj_port(cluster.service, "dns", "UDP", 53, "53", 30053);
    obj_range(cluster.service, "10.0.0.0/8");
    obj_range(cluster.service, "192.168.0.0/16");
    obj_label(&cluster.service->meta, "service.beta.kubernetes.io/hash", "old");
    annotate("zone-maps", "z-a:vsw-a,z-b:vsw-b:10.0.0.9:eip-1");
    annotate("name", "shop");
    annotate("protocol-port", "tcpssl:443");
    annotate("cert-id", "c-1");
    annotate("additional-cert-ids", "c-2,c-3");
    annotate("additional-resource-tags", "team=a,cost=b");
    annotate("security-group-ids", "sg-a,sg-b");
    annotate("bandwidth-package-id", "p-2");
    annotate("cross-zone-enabled", "off");
    annotate("delete-protection", "off");
    annotate("idle-timeout", "20");
    annotate("ppv2-pvl-vpc-id-enabled", "on");
    annotate("scheduler", "rr");
    annotate("health-check-flag", "on");
    annotate("health-check-httpcode", "http_2xx,http_3xx");
    return 0;
}

/* --- a pass --- */

enum what { ENSURE, DELETE_ALL };

static const struct lbc_cloud cloud_account = { .ops = &alilb_cloud_ops };

struct run {
    int result; /* negative: it was given up */
    bool read;  /* the mirror is complete */
    struct nlb_model model;
    struct nlb_state have;
    struct lbc_plan plan;
    struct lbc_problems problems;
    struct ccm_error err;
    struct alilb_apply apply;
    uint32_t attempt;
};

static void run_fini(struct run *run)
{
    lbc_plan_fini(&run->plan);
    nlb_model_fini(&run->model);
    nlb_state_fini(&run->have);
    lbc_problems_fini(&run->problems);
}

static int model_build(struct run *run)
{
    CCM_CLEANUP(lbc_resolved_list_fini) struct lbc_resolved_list resolved = { 0 };
    const struct lbc_model_input in = { .service = cluster.service,
                                        .nodes = cluster.nodes,
                                        .node_count = 2,
                                        .cluster_id = CLUSTER,
                                        .resource_group = "" };
    int r = lbc_model_build(&run->model.lbc, &nlb_model_ops, &in, &run->problems, &run->err);

    if (r < 0) {
        return r;
    }
    resolved.items = calloc(run->model.want.lbc.group_count + 1, sizeof(*resolved.items));
    if (resolved.items == NULL) {
        return ccm_error_nomem(&run->err);
    }
    resolved.count = run->model.want.lbc.group_count;
    r = lbc_resolve(
        cloud_account.ops,
        &(const struct lbc_cloud_caller){ .account = cloud_account.account, .host = &host },
        run->model.lbc.sets, resolved.count, false, resolved.items, &run->err);
    if (r == 0) {
        lbc_model_finish(&run->model.lbc, resolved.items);
        lbc_model_check_groups(&run->model.lbc, &run->have.lbc, nlb_model_ops.check_group,
                               &run->problems);
    }
    return r;
}

static int look(struct run *run)
{
    const struct nlb_need need = {
        .want = &run->model.want, .listeners = true, .certs = true, .security_group = true
    };
    int r = alilb_read_own_lb(&run->apply.call, &nlb_source, cluster.service, NULL,
                              &run->have.lb.lbc, &run->err);

    r = r < 0 ? r : nlb_read_parts(&run->apply.call, cluster.service, &need, &run->have, &run->err);
    run->read = r == 0;
    return r;
}

static int change(struct run *run, enum what what)
{
    const struct lbc_plan_input in = { .model = &run->model.lbc,
                                       .have = &run->have.lbc,
                                       .service = cluster.service,
                                       .cluster_id = CLUSTER,
                                       .batch = 1,
                                       .fresh = true };
    const int r = what == ENSURE ? lbc_plan_ensure(&run->plan, &nlb_plan_ops, &in, &run->problems)
                                 : lbc_plan_release(&run->plan, &nlb_plan_ops, &in);

    if (r < 0) {
        return ccm_error_nomem(&run->err);
    }
    run->apply.lbc.model = what == ENSURE ? &run->model.lbc : NULL;
    run->apply.lbc.forgives_lb = what != ENSURE;
    return lbc_apply_run(alilb_apply_bind(&run->apply), &run->plan);
}

/* The allocation number `at` fails (0: none), and with `all` those behind it. Returns whether one
 * did. */
static bool run_pass(struct run *run, enum what what, size_t at, bool all)
{
    memset(run, 0, sizeof(*run));
    run->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    run->err = (struct ccm_error)CCM_ERROR_INIT;
    run->apply = (struct alilb_apply){
        .lbc = { .ops = &nlb_apply_ops.lbc,
                 .cloud = &cloud_account,
                 .attempt = &run->attempt,
                 .fresh = true,
                 .problems = &run->problems,
                 .service = cluster.service,
                 .have = &run->have.lbc },
        .call = { .host = &host, .object = "default/web", .cluster_id = CLUSTER },
    };
    cloud.log[0] = '\0';
    cloud.made = 0;
    oom_begin(at, all);
    run->result = model_build(run);
    run->result = run->result < 0 ? run->result : look(run);
    run->result = run->result < 0 ? run->result : change(run, what);
    return oom_end();
}

/* --- what came out --- */

static void show_groups(const struct nlb_state *state, struct ccm_buf *text)
{
    for (size_t i = 0; i < state->lbc.group_count; i++) {
        const struct nlb_group *group = nlb_group_at(state, i);

        ccm_buf_addf(text, "%s %s %zu", group->lbc.id, group->lbc.name, group->lbc.attrs.len);
        for (size_t k = 0; k < group->lbc.backends.len; k++) {
            ccm_buf_addf(text, " %s=%u", group->lbc.backends.items[k].server_id,
                         group->lbc.backends.items[k].weight);
        }
        ccm_buf_addc(text, '\n');
    }
}

static void show(const struct nlb_state *state, struct ccm_buf *text)
{
    ccm_buf_addf(text, "lb %s zones %zu groups %zu tags %zu\n",
                 state->lb.lbc.id == NULL ? "-" : state->lb.lbc.id, state->lb.zone_count,
                 state->lb.security_groups.len, state->lb.lbc.tags.len);
    for (size_t i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        ccm_buf_addf(text, "%s,", state->lb.lbc.texts[i] == NULL ? "" : state->lb.lbc.texts[i]);
    }
    ccm_buf_addf(text, "\nguard %s %zu\n",
                 state->security_group.id == NULL ? "-" : state->security_group.id,
                 state->security_group.rule_count);
    show_groups(state, text);
    for (size_t i = 0; i < state->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(state, i);

        ccm_buf_addf(text, "%s %s %zu %zu\n", one->lbc.id, one->lbc.group_id, one->lbc.attrs.len,
                     one->certs.len);
    }
    assert_int_equal(ccm_buf_error(text), 0);
}

static size_t times(const char *action)
{
    size_t count = 0;

    for (const char *p = strstr(cloud.log, action); p != NULL; p = strstr(p + 1, action)) {
        count++;
    }
    return count;
}

/* A mirror that is believed has as many things as the cloud was told to make and to drop. */
static void check_mirror(const struct run *run, size_t at)
{
    const size_t base = cloud.has_all ? 3 : 0;
    const bool gone = times("DeleteLoadBalancer ") > 0;
    const size_t groups = base + times("CreateServerGroup ") - times("DeleteServerGroup ");
    const size_t listeners = gone ? 0 : base + times("CreateListener ") - times("DeleteListener ");

    if (!run->read || run->apply.lbc.surprised) {
        return;
    }
    if (run->have.lbc.group_count != groups || run->have.lbc.listener_count != listeners ||
        (run->have.lb.lbc.id != NULL) !=
            ((cloud.has_all || times("CreateLoadBalancer ") > 0) && !gone)) {
        fail_msg("allocation %zu: the mirror has %zu groups and %zu listeners after %s", at,
                 run->have.lbc.group_count, run->have.lbc.listener_count, cloud.log);
    }
}

static void check_run(enum what what, size_t at, bool all, const char *log, const char *mirror)
{
    CCM_CLEANUP(run_fini) struct run run;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 65536 };
    const bool failed = run_pass(&run, what, at, all);
    /* again_ms: a new load balancer could not be looked at, so it counts as still being made. */
    const bool was_reported =
        run.result < 0 || run.problems.count > 0 || run.apply.lbc.again_ms > 0;

    if (run.result < 0 && run.err.message[0] == '\0' && run.problems.count == 0) {
        fail_msg("allocation %zu: nobody says what failed", at);
    }
    check_mirror(&run, at);
    if (was_reported) {
        assert_true(failed);
        return;
    }
    if (strcmp(cloud.log, log) != 0) {
        fail_msg("allocation %zu: success, but only %s", at, cloud.log);
    }
    show(&run.have, &text);
    assert_string_equal(ccm_buf_str(&text), mirror);
}

/* How many allocations a run makes. */
static size_t count_allocations(enum what what)
{
    for (size_t at = 1;; at += 64) {
        CCM_CLEANUP(run_fini) struct run run;

        if (!run_pass(&run, what, at, false)) {
            return at;
        }
    }
}

static void run_short(enum what what, bool has_all, const char *const *expected)
{
    CCM_CLEANUP(run_fini) struct run good;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf mirror = { .max = 65536 };
    char log[sizeof(cloud.log)];

    cloud.has_all = has_all;
    (void)run_pass(&good, what, 0, false); /* none fails */
    assert_int_equal(good.result, 0);
    assert_string_equal(ccm_buf_str(&good.problems.text), "");
    assert_false(good.apply.lbc.surprised);
    for (; *expected != NULL; expected++) {
        if (times(*expected) == 0) {
            fail_msg("%s is not part of it: %s", *expected, cloud.log);
        }
    }
    ccm_text_copy(log, sizeof(log), cloud.log);
    show(&good.have, &mirror);

    const size_t count = count_allocations(what);

    for (size_t at = 1; at <= count; at++) {
        check_run(what, at, false, log, ccm_buf_str(&mirror));
        check_run(what, at, true, log, ccm_buf_str(&mirror));
    }
}

static void test_creation(void **state)
{
    static const char *const actions[] = { "CreateLoadBalancer ",
                                           "CreateSecurityGroup ",
                                           "AuthorizeSecurityGroup ",
                                           "LoadBalancerJoinSecurityGroup ",
                                           "CreateServerGroup ",
                                           "AddServersToServerGroup ",
                                           "CreateListener ",
                                           "AssociateAdditional",
                                           "UpdateLoadBalancerAttribute ",
                                           NULL };

    (void)state;
    run_short(ENSURE, false, actions);
}

static void test_change(void **state)
{
    static const char *const actions[] = { "TagResources ",
                                           "UpdateLoadBalancerProtection ",
                                           "UpdateLoadBalancerZones ",
                                           "DetachCommonBandwidthPackage",
                                           "AttachCommonBandwidthPackage",
                                           "UpdateLoadBalancerAttribute ",
                                           "ModifySecurityGroupAttribute ",
                                           "AuthorizeSecurityGroup ",
                                           "ModifySecurityGroupRule ",
                                           "RevokeSecurityGroup ",
                                           "LoadBalancerJoinSecurityGroup ",
                                           "LoadBalancerLeaveSecurityGroup ",
                                           "DeleteListener ",
                                           "CreateServerGroup ",
                                           "UpdateServerGroupAttribute ",
                                           "AddServersToServerGroup ",
                                           "RemoveServersFromServerGroup ",
                                           "UpdateServerGroupServersAttribute ",
                                           "CreateListener ",
                                           "UpdateListenerAttribute ",
                                           "AssociateAdditional",
                                           "DisassociateAdditional",
                                           "DeleteServerGroup ",
                                           NULL };

    (void)state;
    run_short(ENSURE, true, actions);
}

static void test_deletion(void **state)
{
    static const char *const actions[] = { "UpdateLoadBalancerProtection ", "DeleteLoadBalancer ",
                                           "DeleteServerGroup ", "DeleteSecurityGroup ", NULL };

    (void)state;
    run_short(DELETE_ALL, true, actions);
}

/* --- whose something is --- */

#define LONG "a234567890-234567890-234567890-234567890-234567890-234567890-23" /* 63 */

/* A long name is told by a hash of it, which takes memory: without, nobody may say that it is not
 * ours. */
static bool look_whose(const char *name, size_t at)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    oom_begin(at, false);

    const int r = nlb_name_parse(name, true, &cluster.service->meta, CLUSTER, &owner);
    const bool failed = oom_end();

    assert_int_equal(r, failed ? -ENOMEM : 0);
    assert_true(failed || owner == LBC_OWNER_OURS);
    return failed;
}

/* A group and a listener that are to go because they are ours. */
static bool plan_stale(const char *name, size_t at)
{
    CCM_CLEANUP(run_fini) struct run run = { .problems = LBC_PROBLEMS_INIT };
    const struct lbc_plan_input in = { .model = &run.model.lbc,
                                       .have = &run.have.lbc,
                                       .service = cluster.service,
                                       .cluster_id = CLUSTER };
    struct nlb_listener *listener = nlb_state_new_listener(&run.have);
    struct nlb_group *group = nlb_state_new_group(&run.have);

    run.model.lbc.type = &nlb_state_type;
    run.model.lbc.want = &run.model.want.lbc;
    run.model.lbc.ops = &nlb_model_ops;
    run.model.lbc.reused = true;
    run.model.lbc.override = true;
    *listener = (struct nlb_listener){ .lbc.id = strdup("lsn-1"),
                                       .lbc.description = strdup(name),
                                       .lbc.group_id = strdup("sgp-1"),
                                       .lbc.port = 80,
                                       .lbc.last_port = 80 };
    group->lbc.id = strdup("sgp-1");
    group->lbc.name = strdup(name);
    run.have.lb.lbc.id = strdup("nlb-1");
    oom_begin(at, false);

    const int r = lbc_plan_ensure(&run.plan, &nlb_plan_ops, &in, &run.problems);
    const bool failed = oom_end();

    assert_true(r == (failed ? -ENOMEM : 0));
    assert_true(failed || run.plan.len == 2);
    return failed;
}

static void test_whose(void **state)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;

    (void)state;
    cluster.service->meta.name = LONG;
    cluster.service->meta.namespace_ = LONG;
    name = nlb_name_format("80", LBC_TCP, &cluster.service->meta, CLUSTER, NLB_NAME_MAX);
    assert_int_equal(strlen(name), NLB_NAME_MAX);
    assert_false(look_whose(name, 0));
    assert_true(look_whose(name, 1));
    for (size_t at = 2; look_whose(name, at); at++) {
    }
    assert_false(plan_stale(name, 0));
    for (size_t at = 1; plan_stale(name, at); at++) {
    }
}

/* --- the inventory --- */

static void account_read_site(const void *account, struct lbc_site *ret)
{
    (void)account;
    ret->cluster_id = CLUSTER;
}

/* Complete, or without a part that is then read by the Service itself, or not there at all. */
static bool read_inventory(size_t at, bool all)
{
    static const struct lbc_cloud_ops ops = { .site = account_read_site };
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { .lbc.groups_known = false };
    struct lbc_instance lbc = { .host = &host, .ops = &nlb_ops, .cloud.ops = &ops };
    struct ccm_strmap *expected = ccm_strmap_new(NULL);
    struct lbc_survey *inventory = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(ccm_strmap_set(expected, NAME, NULL), 0);
    oom_begin(at, all);

    const int r = lbc_inventory_read(&lbc, NULL, expected, &inventory, &err);
    const bool failed = oom_end();
    const bool found = inventory != NULL && lbc_survey_take(inventory, cluster.service, &have.lbc);

    if (found) {
        lbc_inventory_settle(&lbc, cluster.service, &have.lbc);
    }

    assert_true(r == 0 || failed);
    assert_int_equal(r < 0, err.message[0] != '\0');
    if (found) {
        assert_string_equal(have.lb.lbc.id, "nlb-1");
        assert_int_equal(have.lbc.listener_count, have.lbc.listeners_known ? 3 : 0);
        assert_int_equal(have.lbc.group_count, have.lbc.groups_known ? 3 : 0);
        assert_true(!have.lbc.groups_known || nlb_group_at(&have, 0)->lbc.backends.len == 2);
    }
    assert_true(found || failed);
    lbc_survey_free(inventory);
    ccm_strmap_free(expected);
    return failed;
}

static void test_inventory(void **state)
{
    (void)state;
    cloud.has_all = true;
    assert_false(read_inventory(0, false));
    for (size_t at = 1; read_inventory(at, false); at++) {
        (void)read_inventory(at, true); /* checks for itself */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_creation, set_up, obj_end),
        cmocka_unit_test_setup_teardown(test_change, set_up, obj_end),
        cmocka_unit_test_setup_teardown(test_deletion, set_up, obj_end),
        cmocka_unit_test_setup_teardown(test_whose, set_up, obj_end),
        cmocka_unit_test_setup_teardown(test_inventory, set_up, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
