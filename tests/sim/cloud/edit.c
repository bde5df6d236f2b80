/*
 * Changes behind the controller's back, as somebody at the console makes them. No signature, no
 * protection, no entry in the log of calls.
 *
 * {"op": "call", "product": "slb", "action": "CreateVServerGroup", "params": {...}}
 *     any action of a service, with its rules; the answer is {"http", "code", "message", "answer"}
 * {"op": "delete", "type": TYPE, ...}
 * {"op": "update", "type": TYPE, ..., "attributes": {"Scheduler": null}, "tags": {"a": "b"}}
 *     null removes; of a backend the attributes Weight and Description
 * {"op": "create", "type": "vpc"|"vswitch"|"instance"|"eni"|"account", ...}
 *     members as in a fixture file
 * {"op": "create", "type": "loadbalancer", "name", "params": {}}
 *     a PayByCLCU one; the rest in params
 * {"op": "create", "type": "vservergroup", "load_balancer", "name", "params": {}}
 * {"op": "create", "type": "listener", "load_balancer", "port", "protocol", "vserver_group",
 *  "params": {}}
 *     these three are calls of the actions, with the answer of op call; a refusal has the status of
 *     the action
 * {"op": "create", "type": "route", "id", "route_table", "destination", "next_hop_type",
 * "next_hop", "attributes": {"Type": "BGP", "Managed": "true"}} an entry of somebody else, with any
 * kind of next hop and against all rules; id and attributes may be left out
 * {"op": "limits", "limits": {"slb-busy-ms": 500, "acls": 3}}
 *     limits and times, as --limit has them; what takes no time any more ends now
 * {"op": "jobs", ...}
 *     how jobs of NLB end, see job.h
 * {"op": "next-day"}
 *     midnight: what was ordered for the next day (traffic instead of a fixed bandwidth) counts
 * {"op": "expire-pages"}
 *     all NextTokens of NLB lists and of DescribeRouteEntryList are refused from now on
 *
 * TYPE and what names the object (underscores in a type do not count):
 *     loadbalancer, vservergroup, vpc (to update), vswitch, instance, eni, account (not to update),
 *     acl, acl_entry, server_certificate, ca_certificate, domain_extension, route_table, route,
 * eip, security_group, security_rule, cas_certificate, lingjun_node, role, bandwidth_package, nlb,
 * nlblistener, servergroup, job         "id"; of an acl_entry "ACL BLOCK" listener "load_balancer",
 * "port", "protocol" backend                  "vserver_group", "server_id", "port", optional
 * "server_ip" The rules for network load balancers beyond these are those of op call with product
 * "nlb".
 */
#include "edit.h"
#include "control.h"
#include "fixtures.h"
#include "lb.h"
#include "limit.h"
#include "nlb.h"
#include "plain.h"
#include "route.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* The members of the request as a fixture list with one item. */
static cJSON *fixture_of(const cJSON *json)
{
    static const struct ccm_cloud_pair lists[] = {
        { "vpc", "vpcs" },
        { "vswitch", "vswitches" },
        { "instance", "instances" },
        { "eni", "enis" },
        { "account", "accounts" },
        { "certificate", "certificates" },
        { "securitygroup", "security_groups" },
        { "cascertificate", "cas_certificates" },
        { "lingjunnode", "lingjun_nodes" },
        { "role", "roles" },
        { "bandwidthpackage", "bandwidth_packages" },
    };
    char type[CCM_CLOUD_EDIT_TYPE];

    ccm_cloud_edit_type(json, type);
    for (size_t i = 0; i < CCM_ARRAY_LEN(lists); i++) {
        if (!ccm_text_equal(type, lists[i].name)) {
            continue;
        }

        cJSON *root = cJSON_CreateObject();
        cJSON *list = cJSON_AddArrayToObject(root, lists[i].value);
        cJSON *item = cJSON_Duplicate(json, true);

        cJSON_DeleteItemFromObjectCaseSensitive(item, "op");
        cJSON_DeleteItemFromObjectCaseSensitive(item, "type");
        if (!cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
        }
        return root;
    }
    return NULL;
}

static const struct ccm_cloud_action *action_of(const struct ccm_cloud *cloud, const cJSON *json)
{
    for (size_t i = 0; i < CCM_CLOUD_PRODUCTS; i++) {
        if (ccm_text_equal(ccm_cloud_product_names[i], ccm_json_text(json, "product"))) {
            return ccm_cloud_find_action(cloud, (enum ccm_cloud_product)i,
                                         ccm_json_text(json, "action"));
        }
    }
    return NULL;
}

/* Run an action and tell how it ended. 0 or -EPROTO. */
static int call_run(struct ccm_cloud *cloud, const struct ccm_cloud_action *action,
                    const struct ccm_sim_params *params, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf answer = { 0 };
    struct ccm_jsonw inner = { .buf = &answer };
    struct ccm_jsonw w = { .buf = &reply->body };
    CCM_CLEANUP(ccm_cloud_call_fini)
    struct ccm_cloud_call call = {
        .cloud = cloud,
        .action = action,
        .params = params,
        .key_id = "",
        .out = &inner,
        .http = 200,
    };

    ccm_jsonw_open(&inner, NULL, '{');

    int r = ccm_cloud_run(&call);

    ccm_jsonw_close(&inner, '}');
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_i64(&w, "http", call.http);
    ccm_jsonw_str(&w, "code", call.code);
    ccm_jsonw_str(&w, "message", ccm_buf_str(&call.message));
    ccm_jsonw_raw(&w, "answer", r < 0 ? "null" : ccm_buf_str(&answer));
    ccm_jsonw_close(&w, '}');
    reply->status = call.http;
    return r;
}

static void edit_call(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    const struct ccm_cloud_action *action = action_of(cloud, json);

    if (action == NULL || ccm_sim_params_set(&params, "RegionId", cloud->region) < 0 ||
        ccm_cloud_edit_pairs(&params, ccm_json_get(json, "params")) < 0) {
        ccm_sim_reply_error(reply, 400, "no such product or action, or params are no texts");
        return;
    }
    if (call_run(cloud, action, &params, reply) < 0) {
        reply->status = 200; /* the refusal is the answer that was asked for */
    }
}

/* Parameters of the creating action: fixed ones, those of well-known members, then "params". */
static int create_params(const struct ccm_cloud *cloud, const cJSON *json, const char *type,
                         struct ccm_sim_params *ret)
{
    static const struct {
        const char *type;
        const char *member; /* NULL: `param` has the fixed value `value` */
        const char *param;
        const char *value;
    } rows[] = {
        { "loadbalancer", NULL, "InstanceChargeType", "PayByCLCU" },
        { "loadbalancer", "name", "LoadBalancerName", NULL },
        { "vservergroup", "load_balancer", "LoadBalancerId", NULL },
        { "vservergroup", "name", "VServerGroupName", NULL },
        { "listener", NULL, "Bandwidth", "-1" },
        { "listener", "load_balancer", "LoadBalancerId", NULL },
        { "listener", "port", "ListenerPort", NULL },
        { "listener", "vserver_group", "VServerGroupId", NULL },
    };
    CCM_CLEANUP(ccm_json_freep) cJSON *members = cJSON_CreateObject();

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const cJSON *member = rows[i].member == NULL ? NULL : ccm_json_get(json, rows[i].member);

        if (!ccm_text_equal(rows[i].type, type)) {
            continue;
        }

        cJSON *copy = member == NULL ? NULL : cJSON_Duplicate(member, true);

        if (rows[i].value != NULL) {
            copy = cJSON_CreateString(rows[i].value);
        }
        if (copy != NULL && !cJSON_AddItemToObject(members, rows[i].param, copy)) {
            cJSON_Delete(copy);
            return -ENOMEM;
        }
    }

    int r = ccm_sim_params_set(ret, "RegionId", cloud->region);

    r = r < 0 ? r : ccm_cloud_edit_pairs(ret, members);
    return r < 0 ? r : ccm_cloud_edit_pairs(ret, ccm_json_get(json, "params"));
}

static const char *create_action(const cJSON *json, const char *type)
{
    static const char *const listeners[][2] = {
        { "tcp", "CreateLoadBalancerTCPListener" },
        { "udp", "CreateLoadBalancerUDPListener" },
        { "http", "CreateLoadBalancerHTTPListener" },
        { "https", "CreateLoadBalancerHTTPSListener" },
    };

    if (ccm_text_equal(type, "loadbalancer")) {
        return "CreateLoadBalancer";
    }
    if (ccm_text_equal(type, "vservergroup")) {
        return "CreateVServerGroup";
    }
    for (size_t i = 0; ccm_text_equal(type, "listener") && i < CCM_ARRAY_LEN(listeners); i++) {
        if (ccm_text_equal(ccm_json_text(json, "protocol"), listeners[i][0])) {
            return listeners[i][1];
        }
    }
    return ccm_text_equal(type, "listener") ? listeners[0][1] : NULL;
}

static void create_by_action(struct ccm_cloud *cloud, const cJSON *json, const char *type,
                             struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params params = { 0 };
    const struct ccm_cloud_action *action =
        ccm_cloud_find_action(cloud, CCM_CLOUD_SLB, create_action(json, type));

    if (create_params(cloud, json, type, &params) < 0) {
        ccm_sim_reply_error(reply, 400, "the values cannot be used");
        return;
    }
    if (call_run(cloud, action, &params, reply) < 0) {
        return; /* the reply tells */
    }
}

static bool create_route(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_freep)
    char *hops = ccm_text_format("%s/%s/100", ccm_json_text(json, "next_hop_type"),
                                 ccm_json_text(json, "next_hop"));
    const struct ccm_cloud_route_wish wish = {
        .destination = ccm_json_text(json, "destination"),
        .hops = hops,
        .name = "",
        .description = "",
    };
    const char *table = ccm_json_text(json, "route_table");
    struct ccm_cloud_obj *route = NULL;
    int r = ccm_cloud_plain_get(cloud, CCM_CLOUD_ROUTE_TABLE, table) == NULL ? -ENOENT : 0;

    r = r < 0 ? r : ccm_cloud_route_put(cloud, table, ccm_json_str(json, "id"), &wish, &route);
    r = r < 0 ? r : ccm_cloud_edit_pairs(&route->attrs, ccm_json_get(json, "attributes"));
    if (r < 0) {
        ccm_sim_reply_error(reply, r == -ENOENT ? 404 : 400,
                            r == -ENOENT ? "no such route table" : "the entry cannot be made");
    }
    return r == 0;
}

static bool edit_create(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *fixture = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    char type[CCM_CLOUD_EDIT_TYPE];

    ccm_cloud_edit_type(json, type);
    if (create_action(json, type) != NULL) {
        create_by_action(cloud, json, type, reply);
        return false;
    }
    if (ccm_text_equal(type, "route")) {
        return create_route(cloud, json, reply);
    }
    fixture = fixture_of(json);
    if (fixture == NULL) {
        ccm_sim_reply_error(reply, 400, "a '%s' cannot be created", type);
        return false;
    }
    if (ccm_cloud_fixtures_load(cloud, fixture, &why) < 0) {
        ccm_sim_reply_error(reply, 400, "%s", ccm_buf_str(&why));
        return false;
    }
    return true;
}

static bool edit_limits(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    const cJSON *limits = ccm_json_get(json, "limits");

    for (const cJSON *item = limits == NULL ? NULL : limits->child; item != NULL;
         item = item->next) {
        uint32_t *value = ccm_cloud_limit_find(&cloud->limits, item->string, strlen(item->string));

        if (value == NULL || !cJSON_IsNumber(item) || item->valuedouble < 0 ||
            item->valuedouble > CCM_CLOUD_LIMIT_MAX) {
            ccm_sim_reply_error(reply, 400, "'%s' is no known limit with a number", item->string);
            return false;
        }
        *value = (uint32_t)item->valuedouble;
    }
    ccm_cloud_routes_advance(cloud); /* what takes no time any more ends now */
    ccm_cloud_advance(cloud);
    return true;
}

static bool is_job(const cJSON *json, const char *op)
{
    return ccm_text_equal(op, "jobs") || ccm_text_equal(ccm_json_str(json, "type"), "job");
}

static bool edit_job(struct ccm_cloud *cloud, const cJSON *json, const char *op,
                     struct ccm_sim_reply *reply)
{
    const char *why = "a job is updated or deleted";
    bool done = false;

    if (ccm_text_equal(op, "jobs")) {
        done = ccm_cloud_jobs_plan(cloud, json, &why);
    } else if (ccm_text_equal(op, "update") || ccm_text_equal(op, "delete")) {
        done = ccm_cloud_jobs_edit(cloud, json, ccm_text_equal(op, "delete"), &why);
    }
    if (!done) {
        ccm_sim_reply_error(reply, 400, "%s", why);
    }
    return done;
}

void ccm_cloud_edit(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                    struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    bool done = false;

    if (!ccm_text_equal(req->method, "POST") ||
        ccm_json_parse(req->body, req->body_len, &json) < 0) {
        ccm_sim_reply_error(reply, 400, "a POST of a JSON object is expected");
        return;
    }

    const char *op = ccm_json_text(json, "op");

    ccm_cloud_lock(cloud);
    ccm_cloud_advance(cloud);
    if (is_job(json, op)) {
        done = edit_job(cloud, json, op, reply);
    } else if (ccm_text_equal(op, "limits")) {
        done = edit_limits(cloud, json, reply);
    } else if (ccm_text_equal(op, "expire-pages")) {
        cloud->nlb->page_epoch++;
        done = true;
    } else if (ccm_text_equal(op, "next-day")) {
        done = ccm_cloud_lbs_next_day(cloud) == 0;
    } else if (ccm_text_equal(op, "delete")) {
        done = ccm_cloud_edit_delete(cloud, json, reply);
    } else if (ccm_text_equal(op, "update")) {
        done = ccm_cloud_edit_update(cloud, json, reply);
    } else if (ccm_text_equal(op, "create")) {
        done = edit_create(cloud, json, reply);
    } else if (ccm_text_equal(op, "call")) {
        edit_call(cloud, json, reply);
    } else {
        ccm_sim_reply_error(reply, 400, "op '%s' is not delete, update, create, call, limits", op);
    }
    ccm_cloud_unlock(cloud);
    if (done) {
        ccm_buf_adds(&reply->body, "{}");
    }
}

void ccm_cloud_instances(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                         struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };

    if (!ccm_text_equal(req->method, "POST") ||
        ccm_json_parse(req->body, req->body_len, &json) < 0) {
        ccm_sim_reply_error(reply, 400, "a POST of a JSON object is expected");
        return;
    }
    ccm_cloud_lock(cloud);

    int r = ccm_cloud_fixtures_load(cloud, json, &why);

    ccm_cloud_unlock(cloud);
    if (r < 0) {
        ccm_sim_reply_error(reply, r == -ENOMEM ? 500 : 400, "%s", ccm_buf_str(&why));
    } else {
        ccm_buf_adds(&reply->body, "{}");
    }
}
