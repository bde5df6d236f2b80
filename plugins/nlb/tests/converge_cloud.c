/* A state into cloudsim, what cloudsim holds out of it again, and a plan on its way. */
#include "converge.h"

#include "alicloud/params.h"
#include "alilb/account.h"
#include "nlb/api.h"
#include "nlb/apply.h"
#include "nlb/nlb.h"
#include "nlb/owner_key.h"
#include "nlb/plan_parts.h"
#include "nlb/read.h"
#include "nlb/rules.h"
#include "sim/cloud/nlb.h"
#include "sim/cloud/security.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

static const char fixtures[] =
    "{'instances':[{'id':'n-0','vswitch':'vsw-1'},{'id':'n-1','vswitch':'vsw-1'},"
    "{'id':'n-2','vswitch':'vsw-1'},{'id':'n-3','vswitch':'vsw-1'},{'id':'n-4','vswitch':'vsw-1'},"
    "{'id':'n-5','vswitch':'vsw-1'}],'security_groups':["
    "{'id':'sg-a','vpc':'vpc-1','type':'enterprise'},{'id':'sg-b','vpc':'vpc-1','type':'enterprise'"
    "},"
    "{'id':'sg-c','vpc':'vpc-1','type':'enterprise'},{'id':'sg-d','vpc':'vpc-1','type':'enterprise'"
    "},"
    "{'id':'sg-e','vpc':'vpc-1','type':'enterprise'}],'cas_certificates':[{'id':'c-2','name':'c-2'}"
    "]}";

static void cloud_assert_ok(int r, const char *what, const struct ccm_error *err)
{
    if (r < 0) {
        fail_msg("%s: %s", what, err->message);
    }
}

/* --- a state into the cloud --- */

static void owner_tags(const struct trial *trial, struct lbc_tags *ret)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&trial->service->meta, name);
    assert_int_equal(lbc_tags_put(ret, LBC_TAG_OWNER, name), 0);
    assert_int_equal(lbc_tags_put(ret, LBC_TAG_CLUSTER, "c1"), 0);
}

static const char *put_lb(struct trial *trial)
{
    CCM_CLEANUP(lbc_sent_fini) struct lbc_sent sent = { .made_id = NULL };
    struct ccm_error err = CCM_ERROR_INIT;
    struct nlb_lb *lb = &trial->start.lb;
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct alilb_args args = {
        .texts = { "vpc-1", alilb_protect_why(lb->lbc.texts[NLB_LB_MODIFICATION]), "lb" },
        .tags = &lb->lbc.tags,
        .params = &params,
    };

    assert_int_equal(lbc_text_set(&lb->lbc.vpc_id, "vpc-1"), 0);
    alilb_param_lb(&params, &nlb_annotations, lb->lbc.texts);
    nlb_api_add_zones(&params, lb, true);
    cloud_assert_ok(alilb_write(&trial->sim.call, &nlb_api_create_lb, &args, &sent, &err),
                    "load balancer", &err);
    ccm_cloud_advance(trial->sim.cloud);
    assert_int_equal(lbc_text_set(&lb->lbc.id, sent.made_id), 0);
    if (ccm_text_equal(lb->lbc.texts[NLB_LB_IPV6_TYPE], "Internet")) {
        SIM_DO(&trial->sim, CCM_CLOUD_NLB, NULL, "EnableLoadBalancerIpv6Internet", "LoadBalancerId",
               lb->lbc.id);
    }
    SIM_DO(&trial->sim, CCM_CLOUD_NLB, NULL, "UpdateLoadBalancerAttribute", "LoadBalancerId",
           lb->lbc.id, "CrossZoneEnabled", lb->lbc.texts[NLB_LB_CROSS_ZONE]);
    for (size_t i = 0; i < lb->security_groups.len; i++) {
        SIM_DO(&trial->sim, CCM_CLOUD_NLB, NULL, "LoadBalancerJoinSecurityGroup", "LoadBalancerId",
               lb->lbc.id, "SecurityGroupIds.1", lb->security_groups.items[i]);
    }
    return lb->lbc.id;
}

static void put_security_group(struct trial *trial)
{
    CCM_CLEANUP(lbc_sent_fini) struct lbc_sent sent = { .made_id = NULL };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    struct nlb_security_group *group = &trial->start.security_group;
    CCM_CLEANUP(ali_params_fini) struct ali_params rules = { 0 };
    const struct alilb_args args = {
        .texts = { group->name, group->description, "enterprise", "vpc-1", NULL, "sg" },
        .tags = &tags,
    };
    const struct alilb_args filled = { .texts = { group->id }, .params = &rules };

    owner_tags(trial, &tags);
    sim_next_id(&trial->sim, group->id);
    cloud_assert_ok(
        alilb_write(&trial->sim.call, &nlb_api_create_security_group, &args, &sent, &err),
        "security group", &err);
    for (size_t i = 0; i < group->rule_count; i++) {
        char prefix[40];

        ccm_text_printf(prefix, sizeof(prefix), "Permissions.%zu.", i + 1);
        nlb_api_add_rule(&rules, prefix, &group->rules[i]);
    }
    if (group->rule_count > 0) {
        cloud_assert_ok(alilb_write(&trial->sim.call, &nlb_api_add_rules, &filled, NULL, &err),
                        "rules", &err);
    }
}

static void put_server(struct trial *trial, const struct nlb_group *group,
                       const struct lbc_backend *one)
{
    const bool is_address = one->type == LBC_BACKEND_IP;
    char port[8];
    char weight[8];

    ccm_text_printf(port, sizeof(port), "%u", one->port);
    ccm_text_printf(weight, sizeof(weight), "%u", one->weight);
    SIM_DO(&trial->sim, CCM_CLOUD_NLB, NULL, "AddServersToServerGroup", "ServerGroupId",
           group->lbc.id, "Servers.1.ServerId", one->server_id, "Servers.1.ServerType",
           is_address ? "Ip" : "Ecs", "Servers.1.Port", port, "Servers.1.Weight", weight,
           "Servers.1.Description", one->description == NULL ? group->lbc.name : one->description,
           is_address ? "Servers.1.ServerIp" : NULL, one->server_ip);
}

static void put_group(struct trial *trial, struct nlb_group *group)
{
    CCM_CLEANUP(lbc_sent_fini) struct lbc_sent sent = { .made_id = NULL };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    if (!ccm_text_equal(group->lbc.name, "elsewhere")) {
        owner_tags(trial, &tags);
    }
    const struct alilb_args args = {
        .texts = { group->lbc.name, "vpc-1", lbc_protocol_name(group->lbc.protocol), group->type,
                   group->family, group->any_port ? "true" : "false" },
        .attrs = &group->lbc.attrs,
        .protocol = group->lbc.protocol,
        .tags = &tags,
    };

    cloud_assert_ok(alilb_write(&trial->sim.call, &nlb_api_create_group, &args, &sent, &err),
                    "group", &err);
    ccm_cloud_advance(trial->sim.cloud);
    for (size_t i = 0; i < trial->start.lbc.listener_count; i++) {
        struct nlb_listener *one = nlb_listener_at(&trial->start, i);

        if (ccm_text_equal(one->lbc.group_id, group->lbc.id)) {
            assert_int_equal(lbc_text_set(&one->lbc.group_id, sent.made_id), 0);
        }
    }
    assert_int_equal(lbc_text_set(&group->lbc.id, sent.made_id), 0);
    for (size_t i = 0; i < group->lbc.backends.len; i++) {
        put_server(trial, group, &group->lbc.backends.items[i]);
    }
}

static void put_listener(struct trial *trial, const char *lb_id, struct nlb_listener *one)
{
    CCM_CLEANUP(lbc_sent_fini) struct lbc_sent sent = { .made_id = NULL };
    struct ccm_error err = CCM_ERROR_INIT;

    CCM_CLEANUP(ali_params_fini) struct ali_params ports = { 0 };
    const struct lbc_step step = { .to = &one->lbc };
    const struct alilb_args args = {
        .texts = { lb_id, lbc_protocol_name(one->lbc.protocol), one->lbc.description,
                   one->lbc.group_id },
        .attrs = &one->lbc.attrs,
        .protocol = one->lbc.protocol,
        .params = &ports,
    };

    nlb_api_add_ports(&step, &ports);
    cloud_assert_ok(alilb_write(&trial->sim.call, &nlb_api_create_listener, &args, &sent, &err),
                    "listener", &err);
    ccm_cloud_advance(trial->sim.cloud);
    for (size_t i = 0; i < one->certs.len; i++) {
        SIM_DO(&trial->sim, CCM_CLOUD_NLB, NULL, "AssociateAdditionalCertificatesWithListener",
               "ListenerId", sent.made_id, "AdditionalCertificateIds.1", one->certs.items[i]);
    }
}

static void add_certs(struct trial *trial)
{
    for (char c = 'a'; c <= 'z'; c++) {
        char text[64];

        ccm_text_printf(text, sizeof(text), "{'cas_certificates':[{'id':'x-%c','name':'%c'}]}", c,
                        c);
        sim_add(&trial->sim, text);
    }
}

void trial_begin_cloud(struct trial *trial)
{
    struct nlb_state *start = &trial->start;
    const char *lb_id = NULL;

    sim_begin(&trial->sim);
    sim_add(&trial->sim, fixtures);
    add_certs(trial);
    if (start->security_group.id != NULL) {
        put_security_group(trial);
    }
    for (size_t i = 0; i < start->lbc.group_count; i++) {
        put_group(trial, nlb_group_at(start, i));
    }
    if (start->lb.lbc.id != NULL) {
        lb_id = put_lb(trial);
        for (size_t i = 0; i < start->lbc.listener_count; i++) {
            put_listener(trial, lb_id, nlb_listener_at(start, i));
        }
    }
}

void trial_end_cloud(struct trial *trial)
{
    sim_end(&trial->sim);
}

/* --- what the cloud holds --- */

static const struct ccm_nlb_lb *only_lb(const struct trial *trial)
{
    const char *id = NULL;
    void *cursor = NULL;
    void *value = NULL;

    return ccm_strmap_next(trial->sim.cloud->nlb->lbs, &cursor, &id, &value) ? value : NULL;
}

void trial_read(struct trial *trial)
{
    const struct nlb_need need = {
        .want = &trial->model.want, .listeners = true, .certs = true, .security_group = true
    };
    const struct ccm_nlb_lb *lb = only_lb(trial);
    struct alilb_call *call = &trial->sim.call;
    struct ccm_error err = CCM_ERROR_INIT;

    nlb_state_fini(&trial->have);
    memset(&trial->have, 0, sizeof(trial->have));
    if (lb != NULL) {
        cloud_assert_ok(alilb_read_lb(call, &nlb_source, lb->obj.id, &trial->have.lb.lbc, &err),
                        "read", &err);
    }
    cloud_assert_ok(nlb_read_parts(call, trial->service, &need, &trial->have, &err), "read", &err);
}

static enum lbc_owner owner_of(const struct trial *trial, const char *text, bool listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    assert_int_equal(nlb_name_parse(text, listener, &trial->service->meta, "c1", &owner), 0);
    return owner;
}

static void list_group(const struct trial *trial, const struct ccm_nlb_group *group,
                       struct ccm_buf *text)
{
    const char *name = ccm_cloud_attr(&group->obj, "ServerGroupName");

    if (owner_of(trial, name, false) != LBC_OWNER_OURS) {
        ccm_buf_addf(text, "group %s %s:", group->obj.id, name);
        for (size_t i = 0; i < group->obj.attrs.len; i++) {
            ccm_buf_addf(text, " %s", group->obj.attrs.items[i].value);
        }
        ccm_buf_addc(text, '\n');
    }
    for (size_t i = 0; i < group->servers.len; i++) {
        const struct ccm_nlb_server *one = &group->servers.items[i];

        if (owner_of(trial, one->description, false) != LBC_OWNER_OURS) {
            ccm_buf_addf(text, "server %s %s:%u=%u\n", group->obj.id, one->id, one->port,
                         one->weight);
        }
    }
}

static void list_listener(const struct trial *trial, const struct ccm_nlb_listener *one,
                          struct ccm_buf *text)
{
    const char *description = ccm_cloud_attr(&one->obj, "ListenerDescription");
    const struct nlb_listener like = {
        .lbc = { .protocol = lbc_protocol_parse(ccm_cloud_attr(&one->obj, "ListenerProtocol"), ~0U),
                 .port = (uint16_t)one->first,
                 .last_port = (uint16_t)one->last },
    };
    const bool taken = trial->model.lbc.override &&
                       owner_of(trial, description, true) == LBC_OWNER_NONE &&
                       nlb_state_listener_like(&trial->model.want, &like) != NULL;

    if (owner_of(trial, description, true) != LBC_OWNER_OURS && !taken) {
        ccm_buf_addf(text, "listener %s %s\n", one->obj.id, one->group->obj.id);
    }
}

void trial_list_foreign(const struct trial *trial, struct ccm_buf *text)
{
    const struct ccm_nlb_lb *lb = only_lb(trial);
    const char *id = NULL;
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(trial->sim.cloud->nlb->groups, &cursor, &id, &value)) {
        list_group(trial, value, text);
    }
    for (size_t i = 0; lb != NULL && trial->model.lbc.reused && i < lb->len; i++) {
        list_listener(trial, lb->listeners[i], text);
    }
    for (size_t i = 0; lb != NULL && !trial->model.groups_explicit && i < lb->security_groups.len;
         i++) {
        if (strcmp(lb->security_groups.items[i].name, "sg-own") != 0 &&
            !ccm_text_equal(lb->security_groups.items[i].name, trial->have.security_group.id)) {
            ccm_buf_addf(text, "joined %s\n", lb->security_groups.items[i].name);
        }
    }
}

/* --- what must never happen, seen just before a call --- */

static void trial_assert_never(const struct trial *trial, bool ok, const char *what)
{
    if (!ok) {
        fail_msg("seed %llu: %s", (unsigned long long)trial->seed, what);
    }
}

static bool security_is_joined(const struct trial *trial)
{
    const struct ccm_nlb_lb *lb = only_lb(trial);
    const char *own = trial->have.security_group.id;

    return own != NULL && ccm_sim_params_get(&lb->security_groups, own) != NULL;
}

/* A rule that is wanted, with its priority and description. */
static bool is_wanted_rule(const struct trial *trial, const struct ccm_cloud_obj *rule)
{
    for (size_t i = 0; i < trial->model.want.security_group.rule_count; i++) {
        const struct nlb_rule *want = &trial->model.want.security_group.rules[i];

        if (ccm_text_equal(want->cidr, ccm_cloud_attr(rule, "SourceCidrIp")) &&
            ccm_text_equal(want->description, ccm_cloud_attr(rule, "Description"))) {
            return true;
        }
    }
    return false;
}

static size_t count_wanted_rules(const struct trial *trial, const char *group_id)
{
    const struct ccm_cloud_obj *rule = NULL;
    void *cursor = NULL;
    size_t count = 0;

    while ((rule = ccm_cloud_security_rule_next(trial->sim.cloud, group_id, &cursor)) != NULL) {
        count += is_wanted_rule(trial, rule);
    }
    return count;
}

static void watch_security(const struct trial *trial, const struct fake_request *request)
{
    const struct nlb_security_group *want = &trial->model.want.security_group;
    const bool joins = strcmp(request->action, "LoadBalancerJoinSecurityGroup") == 0;
    const char *own = trial->have.security_group.id;

    for (size_t i = 0; own != NULL && i < request->param_count; i++) {
        if (!ccm_text_starts(request->params[i].name, "SecurityGroupIds") ||
            strcmp(request->params[i].value, own) != 0) {
            continue;
        }
        trial_assert_never(trial, !joins || count_wanted_rules(trial, own) >= want->rule_count,
                           "joined before its rules are complete");
        trial_assert_never(trial, joins || !want->wanted, "left while it is wanted");
    }
}

static void watch_rules(const struct trial *trial, const struct fake_request *request)
{
    const struct ccm_cloud_obj *rule = NULL;
    void *cursor = NULL;

    while ((rule = ccm_cloud_security_rule_next(trial->sim.cloud, trial->have.security_group.id,
                                                &cursor)) != NULL) {
        for (size_t i = 0; i < request->param_count; i++) {
            trial_assert_never(trial,
                               !ccm_text_starts(request->params[i].name, "SecurityGroupRuleId") ||
                                   strcmp(request->params[i].value, rule->id) != 0 ||
                                   !ccm_text_equal_case(ccm_cloud_attr(rule, "Policy"), "drop") ||
                                   !is_wanted_rule(trial, rule),
                               "opened up");
        }
    }
}

/* Whether the group of the cloud has all servers that it is to have. */
static bool is_full(const struct trial *trial, const struct ccm_nlb_group *group)
{
    const char *name = ccm_cloud_attr(&group->obj, "ServerGroupName");

    for (size_t i = 0; i < trial->model.want.lbc.group_count; i++) {
        const struct nlb_group *want = nlb_group_at(&trial->model.want, i);

        for (size_t k = 0; ccm_text_equal(want->lbc.name, name) && k < want->lbc.backends.len;
             k++) {
            const struct lbc_backend *one = &want->lbc.backends.items[k];
            const struct ccm_nlb_server like = {
                .id = one->server_id,
                .ip = one->type == LBC_BACKEND_IP ? one->server_ip : NULL,
                .type = (char *)(uintptr_t)(one->type == LBC_BACKEND_IP ? "Ip" : "Ecs"),
                .port = one->port,
            };

            if (!one->leaving && ccm_nlb_servers_find(&group->servers, &like) == NULL) {
                return false;
            }
        }
    }
    return true;
}

static void watch_listener(const struct trial *trial, const struct fake_request *request)
{
    const char *group_id = fake_request_param(request, "ServerGroupId");
    const struct ccm_nlb_listener *listener =
        ccm_nlb_listener_get(trial->sim.cloud, fake_request_param(request, "ListenerId"));
    const struct ccm_nlb_group *group =
        group_id == NULL ? NULL : ccm_nlb_group_get(trial->sim.cloud, group_id);
    const char *description = NULL;

    if (listener == NULL || group == NULL) {
        return;
    }
    description = ccm_cloud_attr(&listener->obj, "ListenerDescription");
    trial_assert_never(trial,
                       !trial->model.lbc.reused ||
                           owner_of(trial, description, true) == LBC_OWNER_OURS ||
                           !nlb_name_is_key(description),
                       "another Service's listener was changed");
    trial_assert_never(trial, listener->group == group || is_full(trial, group),
                       "sent to a group that is still being filled");
}

static void trial_watch_call(void *arg, const struct fake_request *request)
{
    const struct trial *trial = arg;
    const char *action = request->action;

    if (strcmp(action, "CreateListener") == 0) {
        trial_assert_never(trial,
                           !trial->model.want.security_group.wanted || security_is_joined(trial),
                           "open to everybody");
    } else if (strcmp(action, "UpdateListenerAttribute") == 0) {
        watch_listener(trial, request);
    } else if (strcmp(action, "RevokeSecurityGroup") == 0) {
        watch_rules(trial, request);
    } else if (ccm_text_ends(action, "SecurityGroup")) {
        watch_security(trial, request);
    }
}

/* --- a run --- */

bool trial_run(struct trial *trial, struct lbc_plan *plan)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
    const struct lbc_cloud cloud = { .ops = &alilb_cloud_ops, .account = trial->sim.call.ali };
    uint32_t attempt = 0;
    struct alilb_apply apply = {
        .lbc = { .ops = &nlb_apply_ops.lbc,
                 .cloud = &cloud,
                 .attempt = &attempt,
                 .problems = &problems,
                 .service = trial->service,
                 .have = &trial->have.lbc,
                 .model = &trial->model.lbc },
        .call = trial->sim.call,
    };

    sim_forget(&trial->sim);
    if (trial->fail_at != TRIAL_NEVER) {
        sim_rule(&trial->sim, &(struct sim_rule){ .code = trial->executed ? NULL : "Forbidden.RAM",
                                                  .http = 403,
                                                  .skip = trial->fail_at,
                                                  .lost = trial->executed,
                                                  .executed = trial->executed,
                                                  .times = trial->executed ? 0 : 1 });
    }
    trial->sim.watch = trial_watch_call;
    trial->sim.watch_arg = trial;

    const int r = lbc_apply_run(alilb_apply_bind(&apply), plan);

    trial->sim.watch = NULL;
    if (trial->sim.refused.len > 0) {
        fail_msg("seed %llu: refused: %s: %s", (unsigned long long)trial->seed,
                 ccm_buf_str(&trial->sim.refused), ccm_buf_str(&problems.text));
    }
    return r >= 0 && problems.count == 0;
}
