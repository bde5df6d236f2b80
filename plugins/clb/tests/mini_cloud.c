#include "mini_cloud.h"

#include "alicloud/presence.h"

#include "mini_parts.h"

#include "alicloud/client.h"
#include "alicloud/eni.h"
#include "alicloud/instance.h"
#include "alicloud/params.h"
#include "clb/state.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct mini_lb lbs[MINI_LBS];
    size_t next_id;
    struct ccm_buf log;
    struct ccm_buf dump;
    size_t calls;
    struct mini_fault fault;
    size_t seen;
    bool armed;
    size_t per_call;
    size_t per_lb;
    char missing[64];
    char foreign[64];
} mini;

/* Set by an action that refuses. */
static struct {
    const char *code;
    uint64_t http;
} refusal;

void mini_must(int r)
{
    if (r < 0) {
        abort();
    }
}

void mini_begin(void)
{
    mini_instance_gone("");
    mini_instances_fail(0);
    memset(&mini, 0, sizeof(mini));
    mini.next_id = 1;
}

void mini_lb_fini(struct mini_lb *lb)
{
    clb_state_fini(&lb->state);
    free(lb->token);
    memset(lb, 0, sizeof(*lb));
}

void mini_end(void)
{
    for (size_t i = 0; i < MINI_LBS; i++) {
        mini_lb_fini(&mini.lbs[i]);
    }
    mini_lb_end();
    mini_acl_end();
    ccm_buf_fini(&mini.log);
    ccm_buf_fini(&mini.dump);
}

const char *mini_log(void)
{
    return ccm_buf_str(&mini.log);
}

const char *mini_writes(void)
{
    static char writes[8192];
    const char *word = mini_log();
    size_t len = 0;

    while (*word != '\0') {
        const size_t size = strcspn(word, " ");

        if (strncmp(word, "Describe", strlen("Describe")) != 0 && len + size + 2 < sizeof(writes)) {
            len += (size_t)snprintf(writes + len, sizeof(writes) - len, "%s%.*s",
                                    len == 0 ? "" : " ", (int)size, word);
        }
        word += size + (word[size] == '\0' ? 0 : 1);
    }
    writes[len] = '\0';
    return writes;
}

size_t mini_calls(void)
{
    return mini.calls;
}

void mini_reset_log(void)
{
    ccm_buf_reset(&mini.log);
    mini.calls = 0;
}

void mini_fail(const struct mini_fault *fault)
{
    mini.fault = *fault;
    mini.fault.nth = fault->nth == 0 ? 1 : fault->nth;
    mini.fault.times = fault->times == 0 ? 1 : fault->times;
    mini.seen = 0;
    mini.armed = true;
}

void mini_limits(size_t per_call, size_t per_lb)
{
    mini.per_call = per_call;
    mini.per_lb = per_lb;
}

void mini_eni_missing(const char *address)
{
    ccm_text_copy(mini.missing, sizeof(mini.missing), address);
}

void mini_eni_foreign(const char *address)
{
    ccm_text_copy(mini.foreign, sizeof(mini.foreign), address);
}

/* --- state --- */

static void dump_group(const struct lbc_group *group)
{
    ccm_buf_addf(&mini.dump, "group %s", group->name);
    for (size_t i = 0; i < group->backends.len; i++) {
        const struct lbc_backend *one = &group->backends.items[i];

        ccm_buf_addf(&mini.dump, " %s%s%s:%u=%u", one->server_id,
                     one->server_ip[0] == '\0' ? "" : "/", one->server_ip, one->port, one->weight);
    }
    ccm_buf_addc(&mini.dump, '\n');
}

const char *mini_dump(void)
{
    ccm_buf_reset(&mini.dump);
    for (size_t i = 0; i < MINI_LBS; i++) {
        const struct clb_state *state = &mini.lbs[i].state;

        if (!mini.lbs[i].used) {
            continue;
        }
        ccm_buf_addf(&mini.dump, "lb %s %s %s\n", state->lb.name, state->lb.address_type,
                     state->lb.protect ? "protected" : "open");
        mini_lb_dump(&mini.lbs[i], &mini.dump);
        for (size_t g = 0; g < state->lbc.group_count; g++) {
            dump_group(state->lbc.groups[g]);
        }
        for (size_t l = 0; l < state->lbc.listener_count; l++) {
            const struct clb_listener *one = clb_listener_at(state, l);
            const struct lbc_group *group = lbc_state_group_by_id(&state->lbc, one->lbc.group_id);
            const char *scheduler = lbc_attrs_get(&one->lbc.attrs, clb_field_find("Scheduler"));

            ccm_buf_addf(&mini.dump, "%s %u %s %s %s\n", lbc_protocol_lower(one->lbc.protocol),
                         one->lbc.port, one->lbc.running ? "running" : "stopped",
                         scheduler == NULL ? "-" : scheduler, group == NULL ? "-" : group->name);
        }
    }
    mini_acl_dump(&mini.dump);
    return ccm_buf_str(&mini.dump);
}

static struct mini_lb *only_lb(void)
{
    for (size_t i = 0; i < MINI_LBS; i++) {
        if (mini.lbs[i].used) {
            return &mini.lbs[i];
        }
    }
    abort();
}

void mini_delete_lb(void)
{
    mini_lb_fini(only_lb());
}

void mini_stop_listener(uint16_t port)
{
    clb_state_listener(&only_lb()->state, port, LBC_TCP)->lbc.running = false;
}

void mini_delete_listener(uint16_t port)
{
    struct lbc_state *state = &only_lb()->state.lbc;

    lbc_state_drop_listener(state, lbc_state_listener_on(state, LBC_TCP, port, port));
}

void mini_add_listener(uint16_t port, const char *description)
{
    struct clb_listener *one = clb_state_new_listener(&only_lb()->state);

    one->lbc.port = port;
    one->lbc.last_port = one->lbc.port;
    one->lbc.protocol = LBC_TCP;
    one->lbc.running = true;
    mini_must(lbc_text_set(&one->lbc.description, description));
}

void mini_add_backend(const char *group_part, const char *server_id)
{
    struct clb_state *state = &only_lb()->state;
    const struct lbc_backend backend = { .server_id = (char *)(uintptr_t)server_id,
                                         .description = (char *)(uintptr_t) "by hand",
                                         .port = 1,
                                         .weight = 1 };

    for (size_t i = 0; i < state->lbc.group_count; i++) {
        if (strstr(state->lbc.groups[i]->name, group_part) != NULL) {
            mini_must(lbc_backends_put(&state->lbc.groups[i]->backends, &backend));
        }
    }
}

void mini_set_weight(const char *server_id, int weight)
{
    struct clb_state *state = &only_lb()->state;

    for (size_t g = 0; g < state->lbc.group_count; g++) {
        for (size_t i = 0; i < state->lbc.groups[g]->backends.len; i++) {
            struct lbc_backend *one = &state->lbc.groups[g]->backends.items[i];

            if (strcmp(one->server_id, server_id) == 0) {
                one->weight = (uint8_t)weight;
            }
        }
    }
}

void mini_untag(void)
{
    lbc_tags_remove(&only_lb()->state.lb.tags, CLB_TAG_OWNER);
}

void mini_set_cluster(const char *cluster_id)
{
    mini_must(lbc_tags_put(&only_lb()->state.lb.tags, CLB_TAG_CLUSTER, cluster_id));
}

struct mini_lb *mini_lb_at(size_t i)
{
    return &mini.lbs[i];
}

size_t mini_next_id(void)
{
    return mini.next_id++;
}

/* --- parameters --- */

const char *mini_param(const struct ali_call *call, const char *name)
{
    for (size_t i = 0; i < call->params->len; i++) {
        if (strcmp(call->params->items[i].name, name) == 0) {
            return call->params->items[i].value;
        }
    }
    return "";
}

void mini_refuse(const char *code, uint64_t http)
{
    refusal.code = code;
    refusal.http = http;
}

struct mini_lb *mini_find_lb(const char *id)
{
    for (size_t i = 0; i < MINI_LBS; i++) {
        if (mini.lbs[i].used && strcmp(mini.lbs[i].state.lb.id, id) == 0) {
            return &mini.lbs[i];
        }
    }
    mini_refuse("InvalidLoadBalancerId.NotFound", 404);
    return NULL;
}

static struct lbc_group *find_group(const char *id, struct mini_lb **ret_lb)
{
    for (size_t i = 0; i < MINI_LBS; i++) {
        struct lbc_group *group =
            mini.lbs[i].used ? lbc_state_group_by_id(&mini.lbs[i].state.lbc, id) : NULL;

        if (group != NULL) {
            *ret_lb = &mini.lbs[i];
            return group;
        }
    }
    mini_refuse("ResourceNotFound.VServerGroup", 404);
    return NULL;
}

static struct clb_listener *find_listener(const struct ali_call *call, struct mini_lb *lb)
{
    uint32_t port = 0;

    mini_must(ccm_parse_u32(mini_param(call, "ListenerPort"), 1, 65535, &port));
    return clb_state_listener(
        &lb->state, (uint16_t)port,
        lbc_protocol_parse(mini_param(call, "ListenerProtocol"), CLB_PROTOCOLS));
}

static void parse_backends(const struct ali_call *call, struct lbc_backends *ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = mini_param(call, "BackendServers");

    if (text[0] == '\0') {
        return;
    }
    mini_must(ccm_json_parse(text, strlen(text), &json));
    for (const cJSON *one = json->child; one != NULL; one = one->next) {
        const struct lbc_backend backend = {
            .server_id = (char *)(uintptr_t)ccm_json_text(one, "ServerId"),
            .server_ip = (char *)(uintptr_t)ccm_json_text(one, "ServerIp"),
            .description = (char *)(uintptr_t)ccm_json_text(one, "Description"),
            .port = (uint16_t)ccm_json_i64(one, "Port", 0),
            .weight = (uint8_t)ccm_json_i64(one, "Weight", 0),
            .type =
                strcmp(ccm_json_text(one, "Type"), "eni") == 0 ? LBC_BACKEND_ENI : LBC_BACKEND_ECS,
        };

        mini_must(lbc_backends_put(ret, &backend));
    }
    if (mini.per_call != 0 && ret->len > mini.per_call) {
        mini_refuse("TooManyBackendServers", 400);
    }
}

static size_t count_backends(const struct mini_lb *lb)
{
    size_t count = 0;

    for (size_t i = 0; i < lb->state.lbc.group_count; i++) {
        count += lb->state.lbc.groups[i]->backends.len;
    }
    return count;
}

/* --- actions; each fills the answer or refuses --- */

static const char *const acl_fields[] = { "AclStatus", "AclType", "AclId" };

static void describe_listeners(const struct ali_call *call, struct ccm_jsonw *w)
{
    const struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId.1"));

    ccm_jsonw_open(w, "Listeners", '[');
    for (size_t i = 0; lb != NULL && i < lb->state.lbc.listener_count; i++) {
        const struct clb_listener *one = clb_listener_at(&lb->state, i);
        const char *scheduler = lbc_attrs_get(&one->lbc.attrs, clb_field_find("Scheduler"));

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "LoadBalancerId", lb->state.lb.id);
        ccm_jsonw_i64(w, "ListenerPort", one->lbc.port);
        ccm_jsonw_str(w, "ListenerProtocol", lbc_protocol_lower(one->lbc.protocol));
        ccm_jsonw_str(w, "Status", one->lbc.running ? "running" : "stopped");
        ccm_jsonw_str(w, "Description", one->lbc.description);
        ccm_jsonw_str(w, "VServerGroupId", one->lbc.group_id);
        ccm_jsonw_str(w, "Scheduler", scheduler);
        for (size_t f = 0; f < CCM_ARRAY_LEN(acl_fields); f++) {
            const char *value = lbc_attrs_get(&one->lbc.attrs, clb_field_find(acl_fields[f]));

            ccm_jsonw_str(w, acl_fields[f], value == NULL ? "" : value);
        }
        ccm_jsonw_open(w, "TCPListenerConfig", '{');
        ccm_jsonw_i64(w, "PersistenceTimeout", 0);
        ccm_jsonw_i64(w, "HealthCheckConnectPort", 0);
        ccm_jsonw_close(w, '}');
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void describe_groups(const struct ali_call *call, struct ccm_jsonw *w)
{
    const struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));

    ccm_jsonw_open(w, "VServerGroups", '{');
    ccm_jsonw_open(w, "VServerGroup", '[');
    for (size_t i = 0; lb != NULL && i < lb->state.lbc.group_count; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "VServerGroupId", lb->state.lbc.groups[i]->id);
        ccm_jsonw_str(w, "VServerGroupName", lb->state.lbc.groups[i]->name);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void describe_group(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = NULL;
    const struct lbc_group *group = find_group(mini_param(call, "VServerGroupId"), &lb);

    ccm_jsonw_open(w, "BackendServers", '{');
    ccm_jsonw_open(w, "BackendServer", '[');
    for (size_t i = 0; group != NULL && i < group->backends.len; i++) {
        const struct lbc_backend *one = &group->backends.items[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "ServerId", one->server_id);
        ccm_jsonw_str(w, "ServerIp", one->server_ip);
        ccm_jsonw_i64(w, "Port", one->port);
        ccm_jsonw_i64(w, "Weight", one->weight);
        ccm_jsonw_str(w, "Type", one->type == LBC_BACKEND_ENI ? "eni" : "ecs");
        ccm_jsonw_str(w, "Description", one->description == NULL ? "" : one->description);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void put_all(struct lbc_group *group, const struct lbc_backends *set)
{
    for (size_t i = 0; i < set->len; i++) {
        mini_must(lbc_backends_put(&group->backends, &set->items[i]));
    }
}

static void check_room(const struct mini_lb *lb, const struct lbc_backends *set)
{
    if (set->len > 0 && mini.per_lb != 0 && count_backends(lb) + set->len > mini.per_lb) {
        mini_refuse("InstanceBackendServerNumberOverLimit", 400);
    }
}

static void create_group(const struct ali_call *call, struct ccm_jsonw *w)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    CCM_CLEANUP(ccm_freep) char *id = ccm_text_format("rsp-%zu", mini.next_id++);
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));

    parse_backends(call, &set);
    if (lb != NULL) {
        check_room(lb, &set);
    }
    if (lb == NULL || refusal.code != NULL) {
        return;
    }
    struct lbc_group *group = clb_state_new_group(&lb->state);

    mini_must(lbc_text_set(&group->id, id));
    mini_must(lbc_text_set(&group->name, mini_param(call, "VServerGroupName")));
    put_all(group, &set);
    ccm_jsonw_str(w, "VServerGroupId", id);
}

static void delete_group(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = NULL;
    const struct lbc_group *group = find_group(mini_param(call, "VServerGroupId"), &lb);

    (void)w; /* the answer is empty */
    for (size_t i = 0; group != NULL && i < lb->state.lbc.listener_count; i++) {
        if (ccm_text_equal(clb_listener_at(&lb->state, i)->lbc.group_id, group->id)) {
            mini_refuse("RspoolVipExist", 400);
            return;
        }
    }
    if (group != NULL) {
        lbc_state_drop_group(&lb->state.lbc, group);
    }
}

static void add_backends(const struct ali_call *call, struct ccm_jsonw *w)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    struct mini_lb *lb = NULL;
    struct lbc_group *group = find_group(mini_param(call, "VServerGroupId"), &lb);

    (void)w; /* the answer is empty */
    parse_backends(call, &set);
    if (group != NULL) {
        check_room(lb, &set);
    }
    if (refusal.code == NULL) {
        put_all(group, &set);
    }
}

static void remove_backends(const struct ali_call *call, struct ccm_jsonw *w)
{
    CCM_CLEANUP(lbc_backends_fini) struct lbc_backends set = { 0 };
    struct mini_lb *lb = NULL;
    struct lbc_group *group = find_group(mini_param(call, "VServerGroupId"), &lb);

    (void)w; /* the answer is empty */
    parse_backends(call, &set);
    for (size_t i = 0; refusal.code == NULL && i < set.len; i++) {
        lbc_backends_remove(&group->backends, &set.items[i]);
    }
}

static void save_listener(const struct ali_call *call, struct clb_listener *one)
{
    mini_must(lbc_text_set(&one->lbc.description, mini_param(call, "Description")));
    mini_must(lbc_text_set(&one->lbc.group_id, mini_param(call, "VServerGroupId")));
    if (mini_param(call, "Scheduler")[0] != '\0') {
        mini_must(lbc_attrs_set(&one->lbc.attrs, clb_field_find("Scheduler"),
                                mini_param(call, "Scheduler"), false));
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(acl_fields); i++) {
        if (mini_param(call, acl_fields[i])[0] != '\0') {
            mini_must(lbc_attrs_set(&one->lbc.attrs, clb_field_find(acl_fields[i]),
                                    mini_param(call, acl_fields[i]), false));
        }
    }
}

static enum lbc_protocol action_protocol(const struct ali_call *call)
{
    return strstr(call->action, "UDP") != NULL ? LBC_UDP : LBC_TCP;
}

static void create_listener(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));
    struct mini_lb *owner = NULL;
    uint32_t port = 0;

    (void)w; /* the answer is empty */
    mini_must(ccm_parse_u32(mini_param(call, "ListenerPort"), 1, 65535, &port));
    if (lb == NULL || find_group(mini_param(call, "VServerGroupId"), &owner) == NULL) {
        return;
    }
    if (clb_state_listener(&lb->state, (uint16_t)port, action_protocol(call)) != NULL) {
        mini_refuse("ListenerAlreadyExists", 400);
        return;
    }
    if (!mini_acl_exists(mini_param(call, "AclId"))) {
        mini_refuse("AclNotExist", 400);
        return;
    }
    struct clb_listener *one = clb_state_new_listener(&lb->state);

    one->lbc.port = (uint16_t)port;
    one->lbc.last_port = one->lbc.port;
    one->lbc.protocol = action_protocol(call);
    save_listener(call, one);
}

static void set_listener(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));
    uint32_t port = 0;

    (void)w; /* the answer is empty */
    mini_must(ccm_parse_u32(mini_param(call, "ListenerPort"), 1, 65535, &port));
    struct clb_listener *one =
        lb == NULL ? NULL : clb_state_listener(&lb->state, (uint16_t)port, action_protocol(call));

    if (one == NULL) {
        mini_refuse("ListenerNotFound", 404);
    } else if (!mini_acl_exists(mini_param(call, "AclId"))) {
        mini_refuse("AclNotExist", 400);
    } else {
        save_listener(call, one);
    }
}

static void start_listener(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));
    struct clb_listener *one = lb == NULL ? NULL : find_listener(call, lb);

    (void)w; /* the answer is empty */
    if (one == NULL) {
        mini_refuse("ListenerNotFound", 404);
    } else if (one->lbc.running) {
        mini_refuse("Operation.NotAllowed", 400);
    } else {
        one->lbc.running = true;
    }
}

static void delete_listener(const struct ali_call *call, struct ccm_jsonw *w)
{
    struct mini_lb *lb = mini_find_lb(mini_param(call, "LoadBalancerId"));
    const struct clb_listener *one = lb == NULL ? NULL : find_listener(call, lb);

    (void)w; /* the answer is empty */
    if (one == NULL) {
        mini_refuse("ListenerNotFound", 404);
    } else {
        lbc_state_drop_listener(&lb->state.lbc, &one->lbc);
    }
}

static const struct {
    const char *name;
    void (*run)(const struct ali_call *call, struct ccm_jsonw *w);
} actions[] = {
    { "DescribeLoadBalancerListeners", describe_listeners },
    { "DescribeVServerGroups", describe_groups },
    { "DescribeVServerGroupAttribute", describe_group },
    { "CreateVServerGroup", create_group },
    { "DeleteVServerGroup", delete_group },
    { "AddVServerGroupBackendServers", add_backends },
    { "RemoveVServerGroupBackendServers", remove_backends },
    { "SetVServerGroupAttribute", add_backends },
    { "CreateLoadBalancerTCPListener", create_listener },
    { "CreateLoadBalancerUDPListener", create_listener },
    { "SetLoadBalancerTCPListenerAttribute", set_listener },
    { "SetLoadBalancerUDPListenerAttribute", set_listener },
    { "StartLoadBalancerListener", start_listener },
    { "DeleteLoadBalancerListener", delete_listener },
};

/* --- what the plugin calls --- */

static uint64_t kind_of(const char *code)
{
    return strstr(code, "NotFound") != NULL ? CCM_ERROR_NOT_FOUND : CCM_ERROR_TERMINAL;
}

static int failure(const struct ali_call *call, const char *code, uint64_t kind, uint64_t http,
                   struct ccm_error *err)
{
    const int r = ccm_error_set(err, -EIO, kind, "%s: %s: message (RequestId req-%zu)",
                                call->action, code, mini.calls);

    ccm_text_copy(err->code, sizeof(err->code), code);
    (void)snprintf(err->request_id, sizeof(err->request_id), "req-%zu", mini.calls); /* fits */
    err->http_status = http;
    return r;
}

static bool hits(const struct ali_call *call)
{
    if (!mini.armed ||
        (mini.fault.action != NULL && strcmp(mini.fault.action, call->action) != 0)) {
        return false;
    }
    mini.seen++;
    if (mini.seen >= mini.fault.nth + mini.fault.times - 1) {
        mini.armed = false;
    }
    return mini.seen >= mini.fault.nth;
}

static int run_action(const struct ali_call *call, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf answer = { .max = 1 << 20 };
    struct ccm_jsonw w = { .buf = &answer };

    mini_refuse(NULL, 0);
    ccm_jsonw_open(&w, NULL, '{');
    mini_lb_run(call, &w);
    mini_acl_run(call, &w);
    for (size_t i = 0; i < CCM_ARRAY_LEN(actions); i++) {
        if (strcmp(actions[i].name, call->action) == 0) {
            actions[i].run(call, &w);
        }
    }
    ccm_jsonw_str(&w, "RequestId", "r");
    ccm_jsonw_close(&w, '}');
    if (refusal.code != NULL) {
        return failure(call, refusal.code, kind_of(refusal.code), refusal.http, err);
    }
    if (ret != NULL) {
        mini_must(ccm_json_parse(ccm_buf_str(&answer), answer.len, ret));
    }
    return 0;
}

int ali_call(const struct ali_caller *by, const struct ali_call *call, cJSON **ret,
             bool *ret_uncertain, struct ccm_error *err)
{
    const bool hit = hits(call);

    (void)by; /* there is only one cloud here */
    ccm_buf_addf(&mini.log, "%s%s", mini.log.len == 0 ? "" : " ", call->action);
    mini.calls++;
    mini_lb_note(call);
    *ret_uncertain = false;
    if (!hit) {
        return run_action(call, ret, err);
    }
    if (mini.fault.hit != NULL) {
        mini.fault.hit(mini.fault.arg);
        mini.fault.hit = NULL;
    }
    if (mini.fault.executed) {
        struct ccm_error ignored = CCM_ERROR_INIT;

        (void)run_action(call, NULL, &ignored); /* the answer is lost */
    }
    *ret_uncertain = mini.fault.uncertain;
    return failure(call, mini.fault.code, mini.fault.kind, mini.fault.http, err);
}

int ali_eni_resolve(const struct ali_caller *by, const char *const *addresses, size_t count,
                    struct ali_eni *ret, struct ccm_error *err)
{
    (void)by;  /* as above */
    (void)err; /* never fails */
    for (size_t i = 0; i < count; i++) {
        ret[i].state = strcmp(addresses[i], mini.missing) == 0   ? ALI_ENI_MISSING
                       : strcmp(addresses[i], mini.foreign) == 0 ? ALI_ENI_FOREIGN
                                                                 : ALI_ENI_FOUND;
        (void)snprintf(ret[i].id, sizeof(ret[i].id), "eni-%s", addresses[i]); /* fits */
    }
    return 0;
}

static char gone_instance[64];
static int instances_fail;

void mini_instance_gone(const char *id)
{
    ccm_text_copy(gone_instance, sizeof(gone_instance), id);
}

void mini_instances_fail(int r)
{
    instances_fail = r;
}

int ali_find_gone_instances(const struct ali_caller *by, const char *witness,
                            const char *const *ids, size_t count, bool *ret_gone,
                            struct ccm_error *err)
{
    (void)by;      /* as above */
    (void)witness; /* this cloud hides nothing */
    ccm_buf_addf(&mini.log, "%sDescribeInstances", mini.log.len == 0 ? "" : " ");
    for (size_t i = 0; i < count; i++) {
        ret_gone[i] = instances_fail == 0 && strcmp(ids[i], gone_instance) == 0;
    }
    return instances_fail == -EIO ? ccm_error_set(err, -EIO, CCM_ERROR_TRANSIENT, "no answer")
                                  : instances_fail;
}

void ali_eni_forget(struct ali_client *ali, const char *address)
{
    (void)ali;     /* as above */
    (void)address; /* nothing is cached here */
}

int ali_acquire(const struct ccm_host *host, struct ali_client **ret, struct ccm_error *err)
{
    (void)host;
    (void)err;
    *ret = NULL;
    return 0;
}

const char *ali_cluster_id(const struct ali_client *ali)
{
    (void)ali; /* as above */
    return MINI_CLUSTER;
}

const char *ali_vpc_id(const struct ali_client *ali)
{
    (void)ali; /* as above */
    return "vpc-1";
}

const char *ali_resource_group_id(const struct ali_client *ali)
{
    (void)ali; /* as above */
    return "";
}

const char *const *ali_vswitch_ids(const struct ali_client *ali)
{
    static const char *const ids[] = { "vsw-1", "vsw-2", NULL };

    (void)ali; /* as above */
    return ids;
}
