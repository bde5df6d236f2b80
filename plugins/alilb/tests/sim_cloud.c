#include "sim_cloud.h"

#include "lbc/tests/check.h"
#include "sim/cloud/job.h"
#include "sim_run.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where load balancers are made, and another one where there are some. */
static const char fixtures[] =
    "{'region':'cn-hangzhou','vpcs':[{'id':'vpc-1','cidr':'172.16.0.0/12','ipv6':'fd01::/56'},"
    "{'id':'vpc-9','cidr':'10.0.0.0/8','ipv6':'fd00::/56'}],'vswitches':["
    "{'id':'vsw-1','vpc':'vpc-1','zone':'z-a','cidr':'172.16.1.0/24','ipv6':'fd01:0:0:1::/64'},"
    "{'id':'vsw-2','vpc':'vpc-1','zone':'z-b','cidr':'172.16.2.0/24','ipv6':'fd01:0:0:2::/64'},"
    "{'id':'vsw-3','vpc':'vpc-1','zone':'z-c','cidr':'172.16.3.0/24','ipv6':'fd01:0:0:3::/64'},"
    "{'id':'vsw-4','vpc':'vpc-1','zone':'z-c','cidr':'172.16.4.0/24'},"
    "{'id':'vsw-a','vpc':'vpc-9','zone':'z-a','cidr':'10.1.0.0/16','ipv6':'fd00:0:0:1::/64'},"
    "{'id':'vsw-b','vpc':'vpc-9','zone':'z-b','cidr':'10.2.0.0/16','ipv6':'fd00:0:0:2::/64'},"
    "{'id':'vsw-c','vpc':'vpc-9','zone':'z-c','cidr':'10.3.0.0/16','ipv6':'fd00:0:0:3::/64'}],"
    "'instances':[{'id':'i-1','vswitch':'vsw-a'},{'id':'i-2','vswitch':'vsw-a'},{'id':'i-3','"
    "vswitch':'vsw-a'},"
    "{'id':'i-11','vswitch':'vsw-1'}],"
    "'enis':[{'id':'eni-7','instance':'i-1','ips':['10.1.0.7']},"
    "{'id':'eni-8','instance':'i-1','ips':['10.1.0.8']}],"
    "'cas_certificates':[{'id':'own','name':'own'},{'id':'c-1','name':'c-1'},{'id':'x','name':'x'},"
    "{'id':'y','name':'y'}],"
    "'bandwidth_packages':[{'id':'cbwp-1'},{'id':'cbwp-2'}],'security_groups':["
    "{'id':'sg-old','vpc':'vpc-9'},{'id':'sg-new','vpc':'vpc-9'}]}";

/* --- rules --- */

static bool action_reads(const char *action)
{
    return ccm_text_starts(action, "List") || ccm_text_starts(action, "Get") ||
           ccm_text_starts(action, "Describe");
}

static bool rule_fits(const struct sim_rule *rule, const char *action)
{
    return rule->times != SIZE_MAX &&
           (rule->action == NULL ? !action_reads(action) : strcmp(rule->action, action) == 0);
}

static const struct sim_rule *rule_find(struct sim *sim, const char *action)
{
    for (size_t i = 0; i < sim->rule_count; i++) {
        struct sim_rule *rule = &sim->rules[i];

        if (!rule_fits(rule, action)) {
            continue;
        }
        if (rule->skip > 0) {
            rule->skip--;
            return NULL;
        }
        rule->action = action;
        sim->struck++;
        if (rule->times > 0 && --rule->times == 0) {
            rule->times = SIZE_MAX; /* used up, after this one */
        }
        return rule;
    }
    return NULL;
}

/* The job that the call is about to start. */
static void rule_plan_job(const struct sim *sim, const struct sim_rule *rule)
{
    const char *outcome = strcmp(rule->job, "Failed") == 0       ? "fail"
                          : strcmp(rule->job, "Processing") == 0 ? "hang"
                                                                 : "lose";
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("{'action':'%s','outcome':'%s'}", rule->action, outcome);
    const char *why = "";

    assert_non_null(text);

    CCM_CLEANUP(ccm_freep) char *quoted = sim_run_quote(text);
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    assert_int_equal(ccm_json_parse(quoted, strlen(quoted), &json), 0);
    if (!ccm_cloud_jobs_plan(sim->cloud, json, &why)) {
        fail_msg("%s", why);
    }
}

/* --- calls --- */

/* "https://nlb-vpc.cn-hangzhou..." */
static enum ccm_cloud_product product_of(const char *url)
{
    for (unsigned i = 0; i < CCM_CLOUD_PRODUCTS; i++) {
        CCM_CLEANUP(ccm_freep)
        char *host = ccm_text_format("https://%s", ccm_cloud_product_names[i]);

        assert_non_null(host);
        if (ccm_text_starts(url, host)) {
            return (enum ccm_cloud_product)i;
        }
    }
    fail_msg("%s is no service", url);
    return CCM_CLOUD_PRODUCTS;
}

static void call_refuse(struct sim *sim, struct fake_reply *reply, unsigned http, const char *code,
                        const char *message)
{
    struct ccm_jsonw w = { .buf = &sim->body };

    ccm_buf_reset(&sim->body);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "RequestId", "r-no");
    ccm_jsonw_str(&w, "Code", code);
    ccm_jsonw_str(&w, "Message", message);
    ccm_jsonw_close(&w, '}');
    reply->status = http;
}

static void call_execute(struct sim *sim, const struct fake_request *request,
                         struct fake_reply *reply)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    CCM_CLEANUP(ccm_cloud_call_fini) struct ccm_cloud_call call = { .cloud = NULL };

    for (size_t i = 0; i < request->param_count; i++) {
        assert_int_equal(
            ccm_sim_params_set(&params, request->params[i].name, request->params[i].value), 0);
    }
    if (sim_run(sim->cloud, product_of(request->url), request->action, &params, &sim->body, &call) <
        0) {
        if (sim->struck == 0) {
            ccm_buf_addf(&sim->refused, "%s %s ", request->action, call.code);
        }
        call_refuse(sim, reply, call.http, call.code, ccm_buf_str(&call.message));
    }
}

static bool call_answer(void *arg, const struct fake_request *request, struct fake_reply *ret)
{
    struct sim *sim = arg;
    const struct sim_rule *rule = rule_find(sim, request->action);

    ccm_buf_addf(&sim->log, "%s ",
                 strcmp(request->action, "ListAsynJobs") == 0 ? "*" : request->action);
    if (sim->watch != NULL) {
        sim->watch(sim->watch_arg, request);
    }
    if (rule != NULL && rule->lost) {
        if (rule->executed) {
            call_execute(sim, request, ret);
        }
        ret->result = -EIO;
        ret->phase = CCM_HTTP_MAYBE_RUN;
        return true;
    }
    if (rule != NULL && rule->code != NULL) {
        call_refuse(sim, ret, rule->http == 0 ? 400 : rule->http, rule->code,
                    rule->message == NULL ? "refused" : rule->message);
    } else {
        if (rule != NULL && rule->job != NULL) {
            rule_plan_job(sim, rule);
        }
        call_execute(sim, request, ret);
    }
    ret->body = ccm_buf_str(&sim->body);
    return true;
}

/* --- the test's side --- */

void sim_add(struct sim *sim, const char *json)
{
    sim_run_load(sim->cloud, json);
}

static void cloud_begin(struct sim *sim)
{
    sim->cloud = ccm_cloud_new();
    assert_non_null(sim->cloud);
    sim_add(sim, fixtures);
    sim->cloud->limits.job_ms = 0;
    SIM_DO(sim, CCM_CLOUD_VPC, "eip-1", "AllocateEipAddress", "InternetChargeType", "PayByTraffic");
    SIM_DO(sim, CCM_CLOUD_VPC, "eip-7", "AllocateEipAddress", "InternetChargeType", "PayByTraffic");
}

void sim_begin(struct sim *sim)
{
    memset(sim, 0, sizeof(*sim));
    setup_begin(&sim->setup, NULL);
    sim->call = (struct alilb_call){
        .ali = sim->setup.ali,
        .host = sim->setup.host,
        .object = "default/web",
        .cluster_id = "c1",
        .mark = "c1",
        .priority = LBC_PRIO_SPEC,
    };
    cloud_begin(sim);
    fake_host_on_http(sim->setup.fake, call_answer, sim);
}

void sim_end(struct sim *sim)
{
    setup_end(&sim->setup);
    ccm_cloud_free(sim->cloud);
    ccm_buf_fini(&sim->log);
    ccm_buf_fini(&sim->body);
    ccm_buf_fini(&sim->refused);
}

void sim_rule(struct sim *sim, const struct sim_rule *rule)
{
    assert_true(sim->rule_count < SIM_RULES);
    sim->rules[sim->rule_count++] = *rule;
}

const char *sim_log(struct sim *sim)
{
    return ccm_buf_str(&sim->log);
}

void sim_forget(struct sim *sim)
{
    ccm_buf_reset(&sim->log);
    ccm_buf_reset(&sim->refused);
    sim->rule_count = 0;
    sim->struck = 0;
}

const char *sim_param(struct sim *sim, const char *action, const char *name)
{
    for (size_t i = fake_host_request_count(sim->setup.fake); i > 0; i--) {
        const struct fake_request *request = fake_host_request(sim->setup.fake, i - 1);

        if (strcmp(request->action, action) == 0) {
            const char *value = fake_request_param(request, name);

            return value == NULL ? "" : value;
        }
    }
    fail_msg("%s was not called", action);
    return "";
}

void sim_answer(struct sim *sim, const char *action, const char *json)
{
    CCM_CLEANUP(ccm_freep) char *text = sim_run_quote(json);

    fake_host_answer(sim->setup.fake, action, 200, text);
}

void sim_next_id(struct sim *sim, const char *id)
{
    ccm_text_copy(sim->cloud->next_id, sizeof(sim->cloud->next_id), id == NULL ? "" : id);
}

void sim_do(struct sim *sim, enum ccm_cloud_product product, const char *id, const char *action,
            const char *const *pairs)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    CCM_CLEANUP(ccm_cloud_call_fini) struct ccm_cloud_call call = { .cloud = NULL };

    assert_int_equal(ccm_sim_params_set(&params, "RegionId", sim->cloud->region), 0);
    for (size_t i = 0; pairs[i] != NULL; i += 2) {
        assert_int_equal(ccm_sim_params_set(&params, pairs[i], pairs[i + 1]), 0);
    }
    sim_next_id(sim, id);
    if (sim_run(sim->cloud, product, action, &params, &sim->body, &call) < 0) {
        fail_msg("%s: %s: %s", action, call.code, ccm_buf_str(&call.message));
    }
    ccm_cloud_advance(sim->cloud);
}

void sim_put_nlb(struct sim *sim)
{
    SIM_DO(sim, CCM_CLOUD_NLB, "nlb-1", "CreateLoadBalancer", "AddressType", "Intranet",
           "AddressIpVersion", "DualStack", "VpcId", "vpc-9", "ZoneMappings.1.ZoneId", "z-a",
           "ZoneMappings.1.VSwitchId", "vsw-a", "ZoneMappings.2.ZoneId", "z-b",
           "ZoneMappings.2.VSwitchId", "vsw-b");
}

void sim_put_nlb_port(struct sim *sim, const char *protocol, uint16_t port)
{
    const char *cert = strcmp(protocol, "TCPSSL") == 0 ? "CertificateIds.1" : NULL;
    char name[16];
    char group[16];
    char listener[16];
    char number[8];
    char server_port[8];

    ccm_text_printf(name, sizeof(name), "g%u", port);
    ccm_text_printf(group, sizeof(group), "sgp-%u", port);
    ccm_text_printf(listener, sizeof(listener), "lsn-%u", port);
    ccm_text_printf(number, sizeof(number), "%u", port);
    ccm_text_printf(server_port, sizeof(server_port), "%u", 30000U + port);
    SIM_DO(sim, CCM_CLOUD_NLB, group, "CreateServerGroup", "ServerGroupName", name, "VpcId",
           "vpc-9", "Protocol", protocol);
    SIM_DO(sim, CCM_CLOUD_NLB, NULL, "AddServersToServerGroup", "ServerGroupId", group,
           "Servers.1.ServerId", "i-1", "Servers.1.ServerType", "Ecs", "Servers.1.Port",
           server_port);
    SIM_DO(sim, CCM_CLOUD_NLB, listener, "CreateListener", "LoadBalancerId", "nlb-1",
           "ServerGroupId", group, "ListenerProtocol", protocol, "ListenerPort", number, cert,
           "own");
}
