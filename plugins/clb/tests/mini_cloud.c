#include "mini_cloud.h"

#include "alicloud/client.h"
#include "alicloud/eni.h"
#include "alicloud/instance.h"
#include "alicloud/params.h"
#include "alicloud/presence.h"
#include "alilb/tests/sim_run.h"
#include "clb/controller.h"
#include "sim/cloud/acl.h"
#include "sim/cloud/lb.h"
#include "sim/cloud/plain.h"
#include "sim/cloud/store.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES     16
#define INSTANCES 60
#define NO_LIMIT  1000

static struct {
    struct ccm_cloud *cloud;
    struct ccm_buf log;
    struct ccm_buf dump;
    size_t calls;
    struct mini_fault fault;
    size_t seen;
    bool armed;
    bool show;
    char missing[64];
    char foreign[64];
    char gone[64];
    int instances_fail;
    struct {
        char action[64];
        struct ccm_sim_params params;
    } notes[NOTES];
} mini;

static void mini_must(int r)
{
    if (r < 0) {
        abort();
    }
}

void mini_begin(void)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    memset(&mini, 0, sizeof(mini));
    mini.cloud = ccm_cloud_new();
    mini_must(mini.cloud == NULL ? -ENOMEM : 0);
    ccm_buf_adds(&text, "{\"region\":\"cn-hangzhou\","
                        "\"vpcs\":[{\"id\":\"vpc-1\",\"cidr\":\"10.0.0.0/8\"}],\"vswitches\":[");
    for (int i = 1; i <= 9; i++) {
        ccm_buf_addf(&text,
                     "%s{\"id\":\"vsw-%d\",\"vpc\":\"vpc-1\",\"zone\":\"cn-hangzhou-%c\","
                     "\"cidr\":\"10.%d.0.0/16\"}",
                     i == 1 ? "" : ",", i, 'a' + i, i % 9);
    }
    ccm_buf_adds(&text, "],\"instances\":[");
    for (int i = 1; i <= INSTANCES; i++) {
        ccm_buf_addf(&text, "%s{\"id\":\"i-%d\",\"vswitch\":\"vsw-3\"}", i == 1 ? "" : ",", i);
    }
    ccm_buf_adds(&text, "]}");
    sim_run_load(mini.cloud, ccm_buf_str(&text));
    mini.cloud->limits.listeners = NO_LIMIT;
    mini.cloud->limits.vserver_groups = NO_LIMIT;
    mini_limits(0, 0);
    ccm_text_copy(mini.cloud->next_id, sizeof(mini.cloud->next_id), MINI_FIRST);
}

void mini_end(void)
{
    for (size_t i = 0; i < NOTES; i++) {
        ccm_sim_params_fini(&mini.notes[i].params);
    }
    ccm_cloud_free(mini.cloud);
    ccm_buf_fini(&mini.log);
    ccm_buf_fini(&mini.dump);
}

/* --- what was called --- */

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

static void mini_add_note(const char *action, const struct ccm_sim_params *params)
{
    for (size_t i = 0; i < NOTES; i++) {
        if (mini.notes[i].action[0] != '\0' && strcmp(mini.notes[i].action, action) != 0) {
            continue;
        }
        ccm_text_copy(mini.notes[i].action, sizeof(mini.notes[i].action), action);
        ccm_sim_params_fini(&mini.notes[i].params);
        for (size_t p = 0; p < params->len; p++) {
            mini_must(ccm_sim_params_set(&mini.notes[i].params, params->items[p].name,
                                         params->items[p].value));
        }
        return;
    }
}

const char *mini_last(const char *action, const char *name)
{
    for (size_t i = 0; i < NOTES; i++) {
        if (strcmp(mini.notes[i].action, action) == 0) {
            return ccm_sim_params_text(&mini.notes[i].params, name);
        }
    }
    return "";
}

void mini_lag(uint32_t ms)
{
    mini.cloud->limits.tag_lag_ms = ms;
}

void mini_fail(const struct mini_fault *fault)
{
    mini.fault = *fault;
    mini.fault.nth = fault->nth == 0 ? 1 : fault->nth;
    mini.fault.times = fault->times == 0 ? 1 : fault->times;
    mini.seen = 0;
    mini.armed = true;
}

/* --- what the cloud holds --- */

static struct ccm_cloud_lb *next_lb(void **cursor)
{
    const char *id;
    void *lb = NULL;

    return ccm_strmap_next(mini.cloud->lbs, cursor, &id, &lb) ? lb : NULL;
}

static struct ccm_cloud_lb *only_lb(void)
{
    void *cursor = NULL;
    struct ccm_cloud_lb *lb = next_lb(&cursor);

    mini_must(lb == NULL ? -ENOENT : 0);
    return lb;
}

const char *mini_lb_id(void)
{
    return only_lb()->obj.id;
}

const char *mini_lb_address(void)
{
    return ccm_cloud_attr(&only_lb()->obj, "Address");
}

static void dump_pairs(const struct ccm_sim_params *pairs, const char *before, char between)
{
    for (size_t i = 0; i < pairs->len; i++) {
        ccm_buf_addf(&mini.dump, "%s%s%c%s\n", before, pairs->items[i].name, between,
                     pairs->items[i].value);
    }
}

static int compare_backends(const void *a, const void *b)
{
    const struct ccm_cloud_backend *one = a;
    const struct ccm_cloud_backend *two = b;
    const int id = strcmp(one->server_id, two->server_id);
    const int ip = strcmp(one->server_ip, two->server_ip);

    if (id != 0 || ip != 0) {
        return id != 0 ? id : ip;
    }
    return one->port < two->port ? -1 : one->port > two->port;
}

/* The cloud promises no order of backends. */
static void dump_group(const struct ccm_cloud_vgroup *group)
{
    ccm_buf_addf(&mini.dump, "group %s", ccm_cloud_attr(&group->obj, "VServerGroupName"));
    if (group->len > 1) {
        qsort(group->backends, group->len, sizeof(*group->backends), compare_backends);
    }
    for (size_t i = 0; i < group->len; i++) {
        const struct ccm_cloud_backend *one = &group->backends[i];

        ccm_buf_addf(&mini.dump, " %s%s%s:%u=%u", one->server_id,
                     one->server_ip[0] == '\0' ? "" : "/", one->server_ip, one->port, one->weight);
    }
    ccm_buf_addc(&mini.dump, '\n');
}

static void dump_listener(const struct ccm_cloud_listener *listener)
{
    const struct ccm_cloud_vgroup *group =
        ccm_cloud_vgroup_get(mini.cloud, ccm_cloud_attr(&listener->obj, "VServerGroupId"));
    const char *scheduler = ccm_cloud_attr(&listener->obj, "Scheduler");

    ccm_buf_addf(&mini.dump, "%s %u %s %s %s\n", listener->protocol, listener->port,
                 ccm_cloud_attr(&listener->obj, "Status"), scheduler[0] == '\0' ? "-" : scheduler,
                 group == NULL ? "-" : ccm_cloud_attr(&group->obj, "VServerGroupName"));
}

static void dump_lb(const struct ccm_cloud_lb *lb)
{
    const bool protected = ccm_text_equal(ccm_cloud_attr(&lb->obj, "DeleteProtection"), "on");

    ccm_buf_addf(&mini.dump, "lb %s %s %s\n", ccm_cloud_attr(&lb->obj, "LoadBalancerName"),
                 ccm_cloud_attr(&lb->obj, "AddressType"), protected ? "protected" : "open");
    if (mini.show) {
        dump_pairs(&lb->obj.attrs, "", ' ');
        dump_pairs(&lb->obj.tags, "tag ", '=');
    }
    for (size_t i = 0; i < lb->vgroups_len; i++) {
        dump_group(lb->vgroups[i]);
    }
    for (size_t i = 0; i < lb->listeners_len; i++) {
        dump_listener(lb->listeners[i]);
    }
}

static void dump_acl(const struct ccm_cloud_obj *acl)
{
    const struct ccm_cloud_obj *entry;
    void *cursor = NULL;

    ccm_buf_addf(&mini.dump, "acl %s", ccm_cloud_attr(acl, "AclName"));
    while ((entry = ccm_cloud_acl_entry_next(mini.cloud, acl->id, &cursor)) != NULL) {
        ccm_buf_addf(&mini.dump, " %s", ccm_cloud_attr(entry, "Entry"));
    }
    ccm_buf_addc(&mini.dump, '\n');
}

const char *mini_dump(void)
{
    const struct ccm_cloud_lb *lb;
    const struct ccm_cloud_obj *acl;
    void *cursor = NULL;

    ccm_buf_reset(&mini.dump);
    while ((lb = next_lb(&cursor)) != NULL) {
        dump_lb(lb);
    }
    cursor = NULL;
    while ((acl = ccm_cloud_plain_next(mini.cloud, CCM_CLOUD_ACL, &cursor)) != NULL) {
        dump_acl(acl);
    }
    return ccm_buf_str(&mini.dump);
}

void mini_show_all(void)
{
    mini.show = true;
}

/* --- by hand --- */

static void obj_set(struct ccm_cloud_obj *obj, const char *name, const char *value)
{
    const struct ccm_cloud_pair pair = { name, value };

    mini_must(ccm_cloud_attrs_set(obj, &pair, 1));
}

void mini_limits(size_t per_call, size_t per_lb)
{
    mini.cloud->limits.backends_per_call = per_call == 0 ? NO_LIMIT : (uint32_t)per_call;
    mini.cloud->limits.backends = per_lb == 0 ? NO_LIMIT : (uint32_t)per_lb;
}

void mini_acl_off_keeps(void)
{
    mini.cloud->limits.acl_off_keeps = 1;
}

void mini_delete_lb(void)
{
    ccm_cloud_lb_del(mini.cloud, only_lb());
}

void mini_set_listener_status(uint16_t port, const char *status)
{
    obj_set(&ccm_cloud_listener_get(only_lb(), "tcp", port)->obj, "Status", status);
}

void mini_stop_listener(uint16_t port)
{
    mini_set_listener_status(port, "stopped");
}

void mini_delete_listener(uint16_t port)
{
    struct ccm_cloud_lb *lb = only_lb();

    ccm_cloud_listener_del(lb, ccm_cloud_listener_get(lb, "tcp", port));
}

void mini_add_listener(uint16_t port, const char *description)
{
    struct ccm_cloud_listener *one = NULL;

    mini_must(ccm_cloud_listener_new(mini.cloud, only_lb(), "tcp", port, &one));
    obj_set(&one->obj, "Status", "running");
    obj_set(&one->obj, "Description", description);
}

void mini_add_backend(const char *group_part, const char *server_id)
{
    const struct ccm_cloud_lb *lb = only_lb();
    const struct ccm_cloud_backend backend = { .server_id = (char *)(uintptr_t)server_id,
                                               .server_ip = (char *)(uintptr_t) "",
                                               .type = (char *)(uintptr_t) "ecs",
                                               .description = (char *)(uintptr_t) "by hand",
                                               .port = 1,
                                               .weight = 1 };

    for (size_t i = 0; i < lb->vgroups_len; i++) {
        if (strstr(ccm_cloud_attr(&lb->vgroups[i]->obj, "VServerGroupName"), group_part) != NULL) {
            mini_must(ccm_cloud_backend_add(lb->vgroups[i], &backend));
        }
    }
}

void mini_set_weight(const char *server_id, int weight)
{
    const struct ccm_cloud_lb *lb = only_lb();

    for (size_t g = 0; g < lb->vgroups_len; g++) {
        for (size_t i = 0; i < lb->vgroups[g]->len; i++) {
            if (strcmp(lb->vgroups[g]->backends[i].server_id, server_id) == 0) {
                lb->vgroups[g]->backends[i].weight = (uint32_t)weight;
            }
        }
    }
}

void mini_set_health(const char *words)
{
    const struct ccm_cloud_lb *lb = only_lb();

    for (size_t g = 0; g < lb->vgroups_len; g++) {
        obj_set(&lb->vgroups[g]->obj, "Health", words);
    }
}

void mini_add_lb(void)
{
    static const struct ccm_cloud_pair attrs[] = {
        { "LoadBalancerName", "by-hand" },
        { "Address", "47.9.9.9" },
        { "AddressType", "internet" },
        { "AddressIPVersion", "ipv4" },
        { "NetworkType", "classic" },
        { "InstanceChargeType", "PayByCLCU" },
        { "InternetChargeType", "paybytraffic" },
        { "DeleteProtection", "off" },
        { "LoadBalancerStatus", "active" },
    };
    struct ccm_cloud_lb *lb = NULL;

    mini_must(ccm_cloud_lb_new(mini.cloud, MINI_HAND, &lb));
    mini_must(ccm_cloud_attrs_set(&lb->obj, attrs, CCM_ARRAY_LEN(attrs)));
}

void mini_add_group(const char *id, const char *name)
{
    struct ccm_cloud_vgroup *group = NULL;

    mini_must(ccm_cloud_vgroup_new(mini.cloud, only_lb(), id, &group));
    obj_set(&group->obj, "VServerGroupName", name);
}

void mini_tag(const char *key, const char *value)
{
    if (value == NULL) {
        ccm_sim_params_del(&only_lb()->obj.tags, key);
    } else {
        mini_must(ccm_sim_params_set(&only_lb()->obj.tags, key, value));
    }
}

void mini_untag(void)
{
    mini_tag(LBC_TAG_OWNER, NULL);
}

void mini_set_cluster(const char *cluster_id)
{
    mini_tag(LBC_TAG_CLUSTER, cluster_id);
}

void mini_set_attr(const char *name, const char *value)
{
    obj_set(&only_lb()->obj, name, value);
}

void mini_next_day(void)
{
    mini_must(ccm_cloud_lbs_next_day(mini.cloud));
}

void mini_eips(const char *list)
{
    struct ccm_cloud_obj *eip;
    void *cursor = NULL;
    const char *ip = NULL;
    size_t len = 0;

    while ((eip = ccm_cloud_plain_next(mini.cloud, CCM_CLOUD_EIP, &cursor)) != NULL) {
        ccm_cloud_plain_del(mini.cloud, CCM_CLOUD_EIP, eip->id);
    }
    while (list != NULL && list[0] != '\0' && ccm_parse_piece(&list, ',', &ip, &len)) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%.*s", (int)len, ip); /* cut where too long */
        mini_must(ccm_cloud_plain_new(mini.cloud, CCM_CLOUD_EIP, text, &eip));
        obj_set(eip, "IpAddress", text);
        obj_set(eip, "InstanceId", mini_lb_id());
        obj_set(eip, "InstanceType", "SlbInstance");
        obj_set(eip, "Status", "InUse");
    }
}

void mini_full_vswitch(const char *id)
{
    const char *name;
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(mini.cloud->vswitches, &cursor, &name, &value)) {
        struct ccm_cloud_vswitch *vswitch = value;

        vswitch->limit = id != NULL && (id[0] == '\0' || strcmp(id, name) == 0) ? 0 : -1;
    }
}

void mini_eni_missing(const char *address)
{
    ccm_text_copy(mini.missing, sizeof(mini.missing), address);
}

void mini_eni_foreign(const char *address)
{
    ccm_text_copy(mini.foreign, sizeof(mini.foreign), address);
}

void mini_instance_gone(const char *id)
{
    ccm_text_copy(mini.gone, sizeof(mini.gone), id);
}

void mini_instances_fail(int r)
{
    mini.instances_fail = r;
}

/* --- what the plugin calls --- */

static uint64_t code_kind(const char *code)
{
    return strstr(code, "NotFound") != NULL ? CCM_ERROR_NOT_FOUND : CCM_ERROR_TERMINAL;
}

static int call_fail(const struct ali_call *call, const char *code, uint64_t kind, uint64_t http,
                     struct ccm_error *err)
{
    const int r = ccm_error_set(err, -EIO, kind, "%s: %s: message", call->action, code);
    char id[32];

    ccm_text_printf(id, sizeof(id), "req-%zu", mini.calls);
    ccm_error_add_request_id(err, id);
    ccm_text_copy(err->code, sizeof(err->code), code);
    err->http_status = http;
    return r;
}

static bool fault_hits(const struct ali_call *call)
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

static int run_action(const struct ali_call *call, const struct ccm_sim_params *params, cJSON **ret,
                      struct ccm_error *err)
{
    static const enum ccm_cloud_product products[] = {
        [ALI_SLB] = CCM_CLOUD_SLB, [ALI_NLB] = CCM_CLOUD_NLB, [ALI_VPC] = CCM_CLOUD_VPC,
        [ALI_ECS] = CCM_CLOUD_ECS, [ALI_STS] = CCM_CLOUD_STS,
    };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf answer = { .max = 1 << 20 };
    CCM_CLEANUP(ccm_cloud_call_fini) struct ccm_cloud_call run = { .cloud = NULL };

    if (sim_run(mini.cloud, products[call->product], call->action, params, &answer, &run) < 0) {
        return call_fail(call, run.code, code_kind(run.code), run.http, err);
    }
    if (ret != NULL) {
        mini_must(ccm_json_parse(ccm_buf_str(&answer), answer.len, ret));
    }
    return 0;
}

static void read_params(const struct ali_params *from, struct ccm_sim_params *ret)
{
    for (size_t i = 0; from != NULL && i < from->len; i++) {
        mini_must(ccm_sim_params_set(ret, from->items[i].name, from->items[i].value));
    }
}

int ali_call(const struct ali_caller *by, const struct ali_call *call, cJSON **ret,
             bool *ret_uncertain, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    const bool hit = fault_hits(call);

    (void)by; /* there is only one cloud here, and nothing blocks */
    ccm_buf_addf(&mini.log, "%s%s", mini.log.len == 0 ? "" : " ", call->action);
    mini.calls++;
    read_params(call->params, &params);
    read_params(call->query, &params);
    mini_add_note(call->action, &params);
    mini_must(ccm_sim_params_set(&params, "RegionId", mini.cloud->region));
    *ret_uncertain = false;
    if (!hit) {
        return run_action(call, &params, ret, err);
    }
    if (mini.fault.hit != NULL) {
        mini.fault.hit(mini.fault.arg);
        mini.fault.hit = NULL;
    }
    if (mini.fault.executed) {
        struct ccm_error ignored = CCM_ERROR_INIT;

        (void)run_action(call, &params, NULL, &ignored); /* the answer is lost */
    }
    *ret_uncertain = mini.fault.uncertain;
    if (mini.fault.put_off_ms > 0) {
        const int r =
            ccm_error_set(err, -EAGAIN, CCM_ERROR_THROTTLED, "%s: held back", call->action);

        err->retry_after_ms = mini.fault.put_off_ms;
        return r;
    }
    return call_fail(call, mini.fault.code, mini.fault.kind, mini.fault.http, err);
}

/* Each pod has an interface of its own, "eni-" and its address. */
static void add_eni(const char *id, const char *address)
{
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    if (!ccm_strmap_has(mini.cloud->enis, id)) {
        text = ccm_text_format("{\"enis\":[{\"id\":\"%s\",\"ip\":\"%s\",\"instance\":\"i-1\"}]}",
                               id, address);
        mini_must(text == NULL ? -ENOMEM : 0);
        sim_run_load(mini.cloud, text);
    }
}

void ali_call_end_request(const struct ali_caller *by, const char *object)
{
    (void)by;     /* as in ali_call() */
    (void)object; /* nothing waits here */
}

int ali_eni_resolve(const struct ali_caller *by, const struct ali_eni_addresses *query,
                    struct ali_eni *ret, struct ccm_error *err)
{
    const char *const *addresses = query->items;

    (void)by;  /* as in ali_call() */
    (void)err; /* never fails */
    for (size_t i = 0; i < query->count; i++) {
        ret[i].state = strcmp(addresses[i], mini.missing) == 0   ? ALI_ENI_MISSING
                       : strcmp(addresses[i], mini.foreign) == 0 ? ALI_ENI_FOREIGN
                                                                 : ALI_ENI_FOUND;
        ccm_text_printf(ret[i].id, sizeof(ret[i].id), "eni-%s", addresses[i]);
        if (ret[i].state == ALI_ENI_FOUND) {
            add_eni(ret[i].id, addresses[i]);
        }
    }
    return 0;
}

int ali_find_gone_instances(const struct ali_caller *by, const struct ali_inquiry *about,
                            bool *ret_gone, struct ccm_error *err)
{
    (void)by; /* as in ali_call() */
    ccm_buf_addf(&mini.log, "%sDescribeInstances", mini.log.len == 0 ? "" : " ");
    for (size_t i = 0; i < about->count; i++) {
        ret_gone[i] = mini.instances_fail == 0 && strcmp(about->ids[i], mini.gone) == 0;
    }
    return mini.instances_fail == -EIO ? ccm_error_set(err, -EIO, CCM_ERROR_TRANSIENT, "no answer")
                                       : mini.instances_fail;
}

void ali_eni_forget(struct ali_client *ali, const char *address)
{
    (void)ali;     /* as in ali_call() */
    (void)address; /* nothing is cached here */
}

int ali_acquire(const struct ccm_host *host, struct ali_client **ret, struct ccm_error *err)
{
    (void)host;
    (void)err; /* never fails */
    *ret = NULL;
    return 0;
}

const char *ali_cluster_id(const struct ali_client *ali)
{
    (void)ali; /* as in ali_call() */
    return MINI_CLUSTER;
}

const char *ali_vpc_id(const struct ali_client *ali)
{
    (void)ali; /* as in ali_call() */
    return "vpc-1";
}

const char *ali_region(const struct ali_client *ali)
{
    (void)ali; /* as in ali_call() */
    return "cn-hangzhou";
}

const char *ali_resource_group_id(const struct ali_client *ali)
{
    (void)ali; /* as in ali_call() */
    return "";
}

const char *const *ali_vswitch_ids(const struct ali_client *ali)
{
    static const char *const ids[] = { "vsw-1", "vsw-2", NULL };

    (void)ali; /* as in ali_call() */
    return ids;
}
