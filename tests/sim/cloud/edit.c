/*
 * Changes behind the controller's back, as somebody at the console makes them. No signature, no
 * protection, no entry in the log of calls.
 *
 *   {"op": "call", "product": "slb", "action": "CreateVServerGroup", "params": {"LoadBalancerId":
 * ...}} any action of a service, with its rules; the answer is {"http", "code", "message",
 * "answer": {...}}
 *   {"op": "delete", "type": TYPE, ...}
 *   {"op": "update", "type": TYPE, ..., "attributes": {"Description": "x", "Scheduler": null},
 * "tags": {"a": "b"}} null removes; of a backend the attributes Weight and Description
 *   {"op": "create", "type": "vpc"|"vswitch"|"instance"|"eni"|"account", ...}  members as in a
 * fixture file
 *   {"op": "create", "type": "loadbalancer", "name", "params": {}}             a PayByCLCU one; the
 * rest in params
 *   {"op": "create", "type": "vservergroup", "load_balancer", "name", "params": {}}
 *   {"op": "create", "type": "listener", "load_balancer", "port", "protocol", "vserver_group",
 * "params": {}} these three are calls of the actions, with the answer of op call; a refusal has the
 * status of the action
 *
 * TYPE and what names the object (underscores in a type do not count):
 *   loadbalancer, vservergroup, instance, eni, vswitch, account (not to update), acl,
 *   server_certificate, ca_certificate, domain_extension, route_table, route, eip, security_group,
 *   security_rule, cas_certificate, role                                          "id"
 *   listener                  "load_balancer", "port", "protocol"
 *   backend                   "vserver_group", "server_id", "port", optional "server_ip"
 *   nlb, nlblistener, servergroup   "id"; the other rules for network load balancers are those of
 *                             op call with product "nlb"
 *   job                       "id", see job.h; there is also {"op": "jobs"}, which plans how jobs
 * end
 *
 *   {"op": "expire-pages"}    all NextTokens of NLB lists are refused from now on
 */
#include "control.h"
#include "fixtures.h"
#include "nlb.h"
#include "plain.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>

/* What a request names; the members of its kind are set. */
struct target {
    struct ccm_cloud_obj *obj;
    struct ccm_cloud_lb *lb;
    struct ccm_cloud_listener *listener;
    struct ccm_cloud_vgroup *group;
    struct ccm_cloud_backend *backend;
    struct ccm_cloud_eni *eni;
    enum ccm_cloud_kind kind; /* CCM_CLOUD_KINDS: none of the plain ones */
};

#define TYPE_SIZE 32

/* The type without underscores. */
static void type_read(const cJSON *json, char *text)
{
    size_t used = 0;

    for (const char *p = ccm_json_text(json, "type"); *p != '\0' && used < TYPE_SIZE - 1; p++) {
        if (*p != '_') {
            text[used++] = *p;
        }
    }
    text[used] = '\0';
}

static struct ccm_cloud_listener *listener_find(const struct ccm_cloud_lb *lb, const cJSON *json)
{
    int64_t port = ccm_json_i64(json, "port", 0);

    return lb == NULL || port < 1 || port > 65535
               ? NULL
               : ccm_cloud_listener_get(lb, ccm_json_str(json, "protocol"), (uint32_t)port);
}

static struct ccm_cloud_backend *backend_find(const struct ccm_cloud_vgroup *group,
                                              const cJSON *json)
{
    int64_t port = ccm_json_i64(json, "port", 0);
    const char *server = ccm_json_text(json, "server_id");
    const char *ip = ccm_json_text(json, "server_ip");

    for (size_t i = 0; group != NULL && i < group->len; i++) {
        struct ccm_cloud_backend *backend = &group->backends[i];

        if ((int64_t)backend->port == port && ccm_text_equal(backend->server_id, server) &&
            (ccm_text_empty(ip) || ccm_text_equal(backend->server_ip, ip))) {
            return backend;
        }
    }
    return NULL;
}

/* Objects named by their id alone. */
static void target_by_id(struct ccm_cloud *cloud, const char *type, const char *id,
                         struct target *target)
{
    enum ccm_cloud_kind kind = CCM_CLOUD_KINDS;

    if (ccm_text_equal(type, "loadbalancer")) {
        target->lb = ccm_cloud_lb_get(cloud, id);
        target->obj = target->lb == NULL ? NULL : &target->lb->obj;
    } else if (ccm_text_equal(type, "vservergroup")) {
        target->group = ccm_cloud_vgroup_get(cloud, id);
        target->obj = target->group == NULL ? NULL : &target->group->obj;
    } else if (ccm_text_equal(type, "instance")) {
        struct ccm_cloud_instance *instance = ccm_strmap_get(cloud->instances, id);

        target->obj = instance == NULL ? NULL : &instance->obj;
    } else if (ccm_text_equal(type, "eni")) {
        target->eni = ccm_strmap_get(cloud->enis, id);
        target->obj = target->eni == NULL ? NULL : &target->eni->obj;
    } else if (ccm_cloud_plain_kind(type, &kind)) {
        target->obj = ccm_cloud_plain_get(cloud, kind, id);
        target->kind = kind;
    } else if (ccm_text_equal(type, "vswitch")) {
        struct ccm_cloud_vswitch *vswitch = ccm_strmap_get(cloud->vswitches, id);

        target->obj = vswitch == NULL ? NULL : &vswitch->obj;
    } else {
        target->obj = ccm_nlb_edit_target(cloud, type, id);
    }
}

static bool target_find(struct ccm_cloud *cloud, const cJSON *json, struct target *target)
{
    char type[TYPE_SIZE];

    type_read(json, type);
    if (ccm_text_equal(type, "listener")) {
        target->lb = ccm_cloud_lb_get(cloud, ccm_json_text(json, "load_balancer"));
        target->listener = listener_find(target->lb, json);
        target->obj = target->listener == NULL ? NULL : &target->listener->obj;
    } else if (ccm_text_equal(type, "backend")) {
        target->group = ccm_cloud_vgroup_get(cloud, ccm_json_text(json, "vserver_group"));
        target->backend = backend_find(target->group, json);
    } else {
        target_by_id(cloud, type, ccm_json_text(json, "id"), target);
    }
    return target->obj != NULL || target->backend != NULL;
}

static bool edit_delete(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    char type[TYPE_SIZE];
    struct target target = { .kind = CCM_CLOUD_KINDS };

    type_read(json, type);
    if (ccm_text_equal(type, "account")) {
        ccm_cloud_accounts_del(cloud->accounts, ccm_json_text(json, "id"));
        return true;
    }
    if (ccm_nlb_edit_delete(cloud, type, ccm_json_text(json, "id"))) {
        return true;
    }
    if (!target_find(cloud, json, &target)) {
        ccm_sim_reply_error(reply, 404, "no such %s", type);
        return false;
    }
    if (target.backend != NULL) {
        ccm_cloud_backend_del(target.group, target.backend);
    } else if (target.listener != NULL) {
        ccm_cloud_listener_del(target.lb, target.listener);
    } else if (target.group != NULL) {
        ccm_cloud_vgroup_del(cloud, target.group);
    } else if (target.lb != NULL) {
        ccm_cloud_lb_del(cloud, target.lb);
    } else if (target.eni != NULL) {
        ccm_cloud_eni_del(cloud, target.eni);
    } else if (target.kind != CCM_CLOUD_KINDS) {
        ccm_cloud_plain_del(cloud, target.kind, target.obj->id);
    } else if (ccm_text_equal(type, "instance")) {
        ccm_cloud_instance_del(cloud, ccm_json_text(json, "id"));
    } else {
        ccm_sim_reply_error(reply, 400, "a %s cannot be deleted", type);
        return false;
    }
    return true;
}

static int pairs_update(struct ccm_sim_params *pairs, const cJSON *json)
{
    int r = 0;

    for (const cJSON *item = json == NULL ? NULL : json->child; item != NULL && r == 0;
         item = item->next) {
        if (cJSON_IsNull(item)) {
            ccm_sim_params_del(pairs, item->string);
        } else if (cJSON_IsString(item)) {
            r = ccm_sim_params_set(pairs, item->string, item->valuestring);
        } else if (cJSON_IsNumber(item)) {
            CCM_CLEANUP(ccm_freep) char *text = ccm_text_format("%.0f", item->valuedouble);

            r = text == NULL ? -ENOMEM : ccm_sim_params_set(pairs, item->string, text);
        } else {
            r = -EINVAL;
        }
    }
    return r;
}

static int backend_update(struct ccm_cloud_backend *backend, const cJSON *attributes)
{
    const char *description = ccm_json_str(attributes, "Description");
    int64_t weight = ccm_json_i64(attributes, "Weight", backend->weight);

    if (weight < 0 || weight > 100) {
        return -EINVAL;
    }
    if (description != NULL) {
        char *copy = strdup(description);

        if (copy == NULL) {
            return -ENOMEM;
        }
        free(backend->description);
        backend->description = copy;
    }
    backend->weight = (uint32_t)weight;
    return 0;
}

static bool edit_update(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    struct target target = { .kind = CCM_CLOUD_KINDS };
    int r = 0;

    if (!target_find(cloud, json, &target)) {
        ccm_sim_reply_error(reply, 404, "no such %s", ccm_json_text(json, "type"));
        return false;
    }
    if (target.backend != NULL) {
        r = backend_update(target.backend, ccm_json_get(json, "attributes"));
    } else {
        r = pairs_update(&target.obj->attrs, ccm_json_get(json, "attributes"));
        r = r < 0 ? r : pairs_update(&target.obj->tags, ccm_json_get(json, "tags"));
    }
    if (r < 0) {
        ccm_sim_reply_error(reply, r == -EINVAL ? 400 : 500, "the values cannot be set");
    }
    return r == 0;
}

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
        { "role", "roles" },
        { "bandwidthpackage", "bandwidth_packages" },
    };
    char type[TYPE_SIZE];

    type_read(json, type);
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
        pairs_update(&params, ccm_json_get(json, "params")) < 0) {
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

    r = r < 0 ? r : pairs_update(ret, members);
    return r < 0 ? r : pairs_update(ret, ccm_json_get(json, "params"));
}

static const char *create_action(const cJSON *json, const char *type)
{
    if (ccm_text_equal(type, "loadbalancer")) {
        return "CreateLoadBalancer";
    }
    if (ccm_text_equal(type, "vservergroup")) {
        return "CreateVServerGroup";
    }
    if (ccm_text_equal(type, "listener")) {
        return ccm_text_equal(ccm_json_text(json, "protocol"), "udp")
                   ? "CreateLoadBalancerUDPListener"
                   : "CreateLoadBalancerTCPListener";
    }
    return NULL;
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

static bool edit_create(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *fixture = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { 0 };
    char type[TYPE_SIZE];

    type_read(json, type);
    if (create_action(json, type) != NULL) {
        create_by_action(cloud, json, type, reply);
        return false;
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
    ccm_cloud_jobs_advance(cloud);
    if (is_job(json, op)) {
        done = edit_job(cloud, json, op, reply);
    } else if (ccm_text_equal(op, "expire-pages")) {
        cloud->nlb->page_epoch++;
        done = true;
    } else if (ccm_text_equal(op, "delete")) {
        done = edit_delete(cloud, json, reply);
    } else if (ccm_text_equal(op, "update")) {
        done = edit_update(cloud, json, reply);
    } else if (ccm_text_equal(op, "create")) {
        done = edit_create(cloud, json, reply);
    } else if (ccm_text_equal(op, "call")) {
        edit_call(cloud, json, reply);
    } else {
        ccm_sim_reply_error(reply, 400, "op '%s' is not delete, update, create or call", op);
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
