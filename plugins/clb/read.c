#include "read.h"

#include "service/hash.h"
#include "service/object.h"
#include "service/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGES_MAX 100

/* --- load balancer --- */

static int parse_lb(const cJSON *json, struct clb_lb *ret)
{
    /* Not told counts as on: switching it off once too often is harmless. */
    ret->protect = !ccm_text_equal(ccm_json_text(json, "DeleteProtection"), "off");
    if (clb_text_set(&ret->id, ccm_json_text(json, "LoadBalancerId")) < 0 ||
        clb_text_set(&ret->name, ccm_json_text(json, "LoadBalancerName")) < 0 ||
        clb_text_set(&ret->address, ccm_json_text(json, "Address")) < 0 ||
        clb_text_set(&ret->address_type, ccm_json_text(json, "AddressType")) < 0 ||
        clb_text_set(&ret->vswitch_id, ccm_json_text(json, "VSwitchId")) < 0) {
        return -ENOMEM;
    }
    return 0;
}

static const char *tag_value(const cJSON *lb, const char *key)
{
    const cJSON *tag = ccm_json_items(ccm_json_get(lb, "Tags"), "Tag");

    for (; tag != NULL; tag = tag->next) {
        if (strcmp(ccm_json_text(tag, "TagKey"), key) == 0) {
            return ccm_json_text(tag, "TagValue");
        }
    }
    return NULL;
}

/* A restored cluster has the same uids: the load balancer may be another cluster's. */
static int check_cluster(struct clb_call *call, const cJSON *lb, struct ccm_error *err)
{
    const char *cluster = tag_value(lb, CLB_TAG_CLUSTER);

    if (cluster == NULL || strcmp(cluster, ccm_ali_cluster_id(call->clb->ali)) == 0) {
        return 0;
    }
    return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                         "load balancer %s carries this Service's name or tag but belongs to "
                         "cluster %s (tag %s), it is left alone",
                         ccm_json_text(lb, "LoadBalancerId"), cluster, CLB_TAG_CLUSTER);
}

static int refuse_many(const struct ccm_service *service, const cJSON *items, const char *how,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ids = { .max = 512 };

    for (const cJSON *lb = items; lb != NULL; lb = lb->next) {
        ccm_buf_addf(&ids, "%s%s", ids.len == 0 ? "" : ",", ccm_json_text(lb, "LoadBalancerId"));
    }
    return ccm_error_set(err, -EEXIST, CCM_ERROR_TERMINAL,
                         "[%s] find multiple loadbalances by %s, lbIds[%s]", service->meta.key, how,
                         ccm_buf_str(&ids));
}

static int take_only(struct clb_call *call, const struct ccm_service *service, const cJSON *answer,
                     const char *how, struct clb_lb *ret, struct ccm_error *err)
{
    const cJSON *list = ccm_json_get(answer, "LoadBalancers");
    const cJSON *first = ccm_json_items(list, "LoadBalancer");
    int r;

    if (!cJSON_IsArray(ccm_json_get(list, "LoadBalancer"))) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancers: the answer has no list");
    }
    if (first == NULL) {
        return 0;
    }
    if (first->next != NULL) {
        return refuse_many(service, first, how, err);
    }
    r = check_cluster(call, first, err);
    if (r < 0) {
        return r;
    }
    return parse_lb(first, ret) < 0 ? ccm_error_nomem(err) : 0;
}

static bool shows_signs(const struct ccm_service *service)
{
    return service->ingress_count > 0 || ccm_object_label(&service->meta, CCM_HASH_LABEL) != NULL ||
           ccm_object_label(&service->meta, CCM_LIFE_LB_LABEL) != NULL;
}

int clb_read_lb(struct clb_call *call, const struct ccm_service *service, struct clb_lb *ret,
                struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *by_tag = NULL;
    CCM_CLEANUP(ccm_json_freep) cJSON *by_name = NULL;
    char name[CCM_OWNER_LB_NAME];
    int r;

    ccm_owner_lb_name(&service->meta, name);
    r = clb_api_find_lb(call, name, NULL, &by_tag, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "[%s] find loadbalancer by tag error", service->meta.key);
    }
    r = take_only(call, service, by_tag, "tag", ret, err);
    if (r < 0 || ret->id != NULL || !shows_signs(service)) {
        return r;
    }
    r = clb_api_find_lb(call, NULL, name, &by_name, err);
    if (r < 0) {
        return ccm_error_wrap(err, r, "[%s] find loadbalancer by name %s error", service->meta.key,
                              name);
    }
    r = take_only(call, service, by_name, "name", ret, err);
    ret->untagged = ret->id != NULL;
    return r;
}

/* --- listeners --- */

static bool is_unset(const struct clb_field *field, const char *value)
{
    if (value[0] == '\0') {
        return true;
    }
    return strcmp(value, "0") == 0 && !field->zero_counts;
}

/* Text of a scalar member, whatever its JSON type. */
static const char *scalar(const cJSON *parent, const char *name, char *space, size_t size)
{
    const cJSON *item = ccm_json_get(parent, name);

    if (cJSON_IsNumber(item)) {
        (void)snprintf(space, size, "%lld", (long long)ccm_json_i64(parent, name, 0)); /* fits */
        return space;
    }
    if (cJSON_IsBool(item)) {
        return cJSON_IsTrue(item) ? "true" : "false";
    }
    return ccm_json_text(parent, name);
}

static int parse_attrs(const cJSON *json, struct clb_listener *ret)
{
    char part_name[32];
    const cJSON *part;
    int r = 0;

    (void)snprintf(part_name, sizeof(part_name), "%sListenerConfig",
                   clb_protocol_upper(ret->protocol)); /* fits */
    part = ccm_json_get(json, part_name);
    for (size_t i = 0; r == 0 && i < clb_field_count; i++) {
        const struct clb_field *field = &clb_fields[i];
        char space[24];
        const char *value =
            scalar(field->top_level ? json : part, field->name, space, sizeof(space));

        if (clb_field_applies(field, ret->protocol) && !is_unset(field, value)) {
            r = clb_attrs_set(&ret->attrs, field, value, false);
        }
    }
    return r;
}

/* The list is what counts; an update that sent only the single id would drop the others. */
static int parse_acl_ids(const cJSON *json, struct clb_listener *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ids = { .max = 4096 };

    for (const cJSON *id = ccm_json_items(json, "AclIds"); id != NULL; id = id->next) {
        if (cJSON_IsString(id)) {
            ccm_buf_addf(&ids, "%s%s", ids.len == 0 ? "" : ",", id->valuestring);
        }
    }
    if (ccm_buf_error(&ids) < 0) {
        return ccm_buf_error(&ids);
    }
    return ids.len == 0
               ? 0
               : clb_attrs_set(&ret->attrs, clb_field_find("AclId"), ccm_buf_str(&ids), false);
}

static int parse_listener(const cJSON *json, struct clb_state *ret)
{
    const int64_t port = ccm_json_i64(json, "ListenerPort", 0);
    struct clb_listener *listener = clb_state_new_listener(ret);

    if (listener == NULL) {
        return -ENOMEM;
    }
    listener->port = port < 0 || port > UINT16_MAX ? 0 : (uint16_t)port;
    listener->protocol = clb_protocol_parse(ccm_json_text(json, "ListenerProtocol"));
    listener->running = !ccm_text_equal(ccm_json_text(json, "Status"), "stopped");
    if (clb_text_set(&listener->description, ccm_json_text(json, "Description")) < 0 ||
        clb_text_set(&listener->group_id, ccm_json_text(json, "VServerGroupId")) < 0 ||
        parse_attrs(json, listener) < 0) {
        return -ENOMEM;
    }
    return parse_acl_ids(json, listener);
}

static int read_page(struct clb_call *call, struct clb_state *ret, char **token,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r = clb_api_listeners(call, ret->lb.id, *token == NULL ? "" : *token, &answer, err);

    if (r < 0) {
        return r;
    }
    if (!cJSON_IsArray(ccm_json_get(answer, "Listeners"))) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancerListeners: the answer has no list");
    }
    for (const cJSON *one = ccm_json_items(answer, "Listeners"); r == 0 && one != NULL;
         one = one->next) {
        r = parse_listener(one, ret);
    }
    if (r == 0) {
        r = clb_text_set(token, ccm_json_text(answer, "NextToken"));
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static int read_listeners(struct clb_call *call, struct clb_state *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *token = NULL;

    for (size_t page = 0; page < PAGES_MAX; page++) {
        const int r = read_page(call, ret, &token, err);

        if (r < 0) {
            return ccm_error_wrap(err, r, "get lb listeners from cloud");
        }
        if (token == NULL) {
            return 0;
        }
    }
    return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                         "DescribeLoadBalancerListeners: more than %d pages", PAGES_MAX);
}

/* --- groups --- */

static int parse_backend(struct clb_call *call, const struct ccm_service *service,
                         const cJSON *json, struct clb_group *group)
{
    const char *description = ccm_json_text(json, "Description");
    const enum ccm_owner owner =
        ccm_owner_parse(description, false, &service->meta, ccm_ali_cluster_id(call->clb->ali));
    const int64_t port = ccm_json_i64(json, "Port", 0);
    const int64_t weight = ccm_json_i64(json, "Weight", 0);
    const bool renamed = !ccm_text_equal(description, group->name);
    const struct ccm_backend backend = {
        .server_id = (char *)(uintptr_t)ccm_json_text(json, "ServerId"), /* copied by put */
        .server_ip = (char *)(uintptr_t)ccm_json_text(json, "ServerIp"),
        .port = port < 0 || port > UINT16_MAX ? 0 : (uint16_t)port,
        .weight = weight < 0 || weight > 100 ? 0 : (uint8_t)weight,
        .type = ccm_text_equal(ccm_json_text(json, "Type"), "ecs") ||
                        ccm_json_text(json, "Type")[0] == '\0'
                    ? CCM_BACKEND_ECS
                    : CCM_BACKEND_ENI,
        .flags = owner != CCM_OWNER_OURS ? CCM_BACKEND_FOREIGN
                 : renamed               ? CCM_BACKEND_RENAMED
                                         : 0,
    };

    return ccm_backends_put(&group->backends, &backend);
}

static int read_group(struct clb_call *call, const struct ccm_service *service,
                      struct clb_group *group, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const cJSON *list;
    int r = clb_api_group(call, group->id, &answer, err);

    if (r < 0) {
        return r;
    }
    list = ccm_json_get(answer, "BackendServers");
    if (!cJSON_IsArray(ccm_json_get(list, "BackendServer"))) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeVServerGroupAttribute: the answer has no list");
    }
    for (const cJSON *one = ccm_json_items(list, "BackendServer"); r == 0 && one != NULL;
         one = one->next) {
        r = parse_backend(call, service, one, group);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static int take_group(struct clb_call *call, const struct ccm_service *service, const cJSON *json,
                      struct clb_state *ret, struct ccm_error *err)
{
    const char *name = ccm_json_text(json, "VServerGroupName");
    struct clb_group *group = NULL;

    if (ccm_owner_parse(name, false, &service->meta, ccm_ali_cluster_id(call->clb->ali)) !=
        CCM_OWNER_OURS) {
        return 0;
    }
    group = clb_state_new_group(ret);
    if (group == NULL || clb_text_set(&group->name, name) < 0 ||
        clb_text_set(&group->id, ccm_json_text(json, "VServerGroupId")) < 0) {
        return ccm_error_nomem(err);
    }
    return read_group(call, service, group, err);
}

static int read_groups(struct clb_call *call, const struct ccm_service *service,
                       struct clb_state *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const cJSON *list;
    int r = clb_api_groups(call, ret->lb.id, &answer, err);

    if (r < 0) {
        return r;
    }
    list = ccm_json_get(answer, "VServerGroups");
    if (!cJSON_IsArray(ccm_json_get(list, "VServerGroup"))) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeVServerGroups: the answer has no list");
    }
    for (const cJSON *one = ccm_json_items(list, "VServerGroup"); r == 0 && one != NULL;
         one = one->next) {
        r = take_group(call, service, one, ret, err);
    }
    return r;
}

int clb_read(struct clb_call *call, const struct ccm_service *service, struct clb_state *ret,
             struct ccm_error *err)
{
    int r = clb_read_lb(call, service, &ret->lb, err);

    if (r < 0 || ret->lb.id == NULL) {
        return r;
    }
    r = read_listeners(call, ret, err);
    return r < 0 ? r : read_groups(call, service, ret, err);
}
