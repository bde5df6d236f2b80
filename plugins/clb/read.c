#include "read.h"

#include "api_lb.h"
#include "lbc/lookup.h"
#include "lbc/model/owner.h"
#include "read_listeners.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- load balancer --- */

static int parse_field(const cJSON *json, enum clb_lb_field_id id, bool in_list, struct clb_lb *ret)
{
    const struct clb_lb_field *field = &clb_lb_fields[id];
    const char *value = "";
    char space[LBC_ATTR_NUMBER];

    if (field->offset == SIZE_MAX) {
        return 0;
    }
    if (in_list && field->list_name != NULL) {
        value = ccm_json_text(json, field->list_name);
    }
    if (value[0] == '\0') {
        value = lbc_attr_read(json, field->name, space);
    }
    return clb_lb_set(ret, id, value);
}

static int parse_tags(const cJSON *json, struct lbc_tags *ret)
{
    const cJSON *tag = ccm_json_items(ccm_json_get(json, "Tags"), "Tag");
    int r = 0;

    lbc_tags_fini(ret);
    for (; r == 0 && tag != NULL; tag = tag->next) {
        r = lbc_tags_put(ret, ccm_json_text(tag, "TagKey"), ccm_json_text(tag, "TagValue"));
    }
    return r;
}

static int parse_lb(const cJSON *json, bool in_list, struct clb_lb *ret)
{
    /* Not told counts as on: switching it off once too often is harmless. */
    ret->protect = !ccm_text_equal(ccm_json_text(json, "DeleteProtection"), "off");
    ret->partial = false;
    for (size_t i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        if (parse_field(json, (enum clb_lb_field_id)i, in_list, ret) < 0) {
            return -ENOMEM;
        }
    }
    if (lbc_text_set(&ret->id, ccm_json_text(json, "LoadBalancerId")) < 0 ||
        lbc_text_set(&ret->vpc_id, ccm_json_text(json, "VpcId")) < 0) {
        return -ENOMEM;
    }
    return parse_tags(json, &ret->tags);
}

int clb_read_parse_lb(const cJSON *json, struct clb_lb *ret)
{
    return parse_lb(json, true, ret);
}

static int lookup_offer_lb(struct lbc_lookup *look, const cJSON *json, struct clb_lb *ret)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    const char *id = ccm_json_text(json, "LoadBalancerId");
    const char *name = ccm_json_text(json, "LoadBalancerName");
    int r = parse_tags(json, &tags);

    if (r == 0 && lbc_lookup_offer(look, id, name, &tags)) {
        r = parse_lb(json, true, ret);
    }
    return r;
}

static int lookup_parse_page(struct lbc_lookup *look, const cJSON *answer, struct clb_lb *ret,
                             struct ccm_error *err)
{
    const cJSON *list = ccm_json_get(ccm_json_get(answer, "LoadBalancers"), "LoadBalancer");

    if (!cJSON_IsArray(list)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancers: the answer has no list");
    }
    for (const cJSON *one = list->child; one != NULL; one = one->next) {
        if (lookup_offer_lb(look, one, ret) < 0) {
            return ccm_error_nomem(err);
        }
    }
    return lbc_lookup_end(look, err);
}

static int find_lb(struct clb_call *call, const struct ccm_service *service, bool by_name,
                   struct clb_lb *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    CCM_CLEANUP(lbc_lookup_fini) struct lbc_lookup look;
    int r;

    lbc_lookup_init(&look, &service->meta, lbc_cluster_id(&call->clb->lbc), by_name);
    r = clb_api_find_lb(call, by_name ? NULL : look.name, by_name ? look.name : NULL, &answer, err);
    if (r < 0) {
        return by_name ? ccm_error_wrap(err, r, "[%s] find loadbalancer by name %s error",
                                        service->meta.key, look.name)
                       : ccm_error_wrap(err, r, "[%s] find loadbalancer by tag error",
                                        service->meta.key);
    }
    return lookup_parse_page(&look, answer, ret, err);
}

int clb_read_lb(struct clb_call *call, const struct ccm_service *service, struct clb_lb *ret,
                struct ccm_error *err)
{
    int r = find_lb(call, service, false, ret, err);

    if (r < 0 || ret->id != NULL || !lbc_lookup_by_name_too(service)) {
        return r;
    }
    r = find_lb(call, service, true, ret, err);
    ret->untagged = ret->id != NULL && lbc_tags_get(&ret->tags, CLB_TAG_OWNER) == NULL;
    return r;
}

int clb_read_check_owner(const struct clb_call *call, const struct ccm_service *service,
                         const struct clb_lb *lb, struct ccm_error *err)
{
    return lbc_lookup_check(&service->meta, lbc_cluster_id(&call->clb->lbc), lb->id, lb->name,
                            &lb->tags, err);
}

int clb_read_lb_by_id(struct clb_call *call, const struct ccm_service *service, const char *id,
                      struct clb_lb *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const char *got = NULL;
    int r = clb_api_lb(call, id, &answer, err);

    if (r < 0) {
        return ccm_error_wrap(err, err->kind == CCM_ERROR_NOT_FOUND ? -ENOENT : r,
                              "[%s] find loadbalancer by id error", service->meta.key);
    }
    got = ccm_json_text(answer, "LoadBalancerId");
    if (!ccm_text_equal(got, id)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TERMINAL,
                             "[%s] find loadbalancer by id error: loadbalancer id from API not "
                             "match, expect [%s], actual [%s]",
                             service->meta.key, id, got);
    }
    return parse_lb(answer, false, ret) < 0 ? ccm_error_nomem(err) : 0;
}

/* --- elastic addresses --- */

#define EIP_PAGES_MAX 10

static int read_parse_eips(const cJSON *answer, struct ccm_buf *ips, bool *ret_more,
                           struct ccm_error *err)
{
    const cJSON *list = ccm_json_get(ccm_json_get(answer, "EipAddresses"), "EipAddress");
    int64_t count = 0;

    if (!cJSON_IsArray(list)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeEipAddresses: the answer has no list");
    }
    for (const cJSON *one = list->child; one != NULL; one = one->next) {
        ccm_buf_addf(ips, "%s%s", ips->len == 0 ? "" : ",", ccm_json_text(one, "IpAddress"));
        count++;
    }
    *ret_more = count == CLB_EIP_PAGE;
    return 0;
}

int clb_read_eips(struct clb_call *call, struct clb_lb *lb, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ips = { .max = 4096 };
    bool more = true;

    for (int64_t page = 1; more && page <= EIP_PAGES_MAX; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        int r = clb_api_eips(call, lb->id, page, &answer, err);

        if (r == 0) {
            r = read_parse_eips(answer, &ips, &more, err);
        }
        if (r < 0) {
            return r;
        }
    }
    if (ccm_buf_error(&ips) < 0 || lbc_text_set(&lb->eips, ccm_buf_str(&ips)) < 0) {
        return ccm_error_nomem(err);
    }
    return 0;
}

/* --- groups --- */

static int parse_backend(const cJSON *json, struct lbc_group *group)
{
    const char *description = ccm_json_text(json, "Description");
    const int64_t port = ccm_json_i64(json, "Port", 0);
    const int64_t weight = ccm_json_i64(json, "Weight", 0);
    const bool usual = ccm_text_equal(description, group->name);
    const struct lbc_backend backend = {
        .server_id = (char *)(uintptr_t)ccm_json_text(json, "ServerId"), /* copied by put */
        .server_ip = (char *)(uintptr_t)ccm_json_text(json, "ServerIp"),
        .description = usual ? NULL : (char *)(uintptr_t)description,
        .port = port < 0 || port > UINT16_MAX ? 0 : (uint16_t)port,
        .weight = weight < 0 || weight > 100 ? 0 : (uint8_t)weight,
        .type = ccm_text_equal(ccm_json_text(json, "Type"), "ecs") ||
                        ccm_json_text(json, "Type")[0] == '\0'
                    ? LBC_BACKEND_ECS
                    : LBC_BACKEND_ENI,
    };

    return lbc_backends_put(&group->backends, &backend);
}

static int read_group(struct clb_call *call, struct lbc_group *group, struct ccm_error *err)
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
        r = parse_backend(one, group);
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }
    group->unread = false;
    return 0;
}

static int read_parse_group(const cJSON *json, struct clb_state *ret)
{
    struct lbc_group *group = clb_state_new_group(ret);

    if (group == NULL || lbc_text_set(&group->name, ccm_json_text(json, "VServerGroupName")) < 0 ||
        lbc_text_set(&group->id, ccm_json_text(json, "VServerGroupId")) < 0) {
        return -ENOMEM;
    }
    group->unread = true;
    return 0;
}

static int list_groups(struct clb_call *call, struct clb_state *ret, struct ccm_error *err)
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
        r = read_parse_group(one, ret);
    }
    ret->lbc.groups_known = r == 0;
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static bool needs_group(const struct clb_call *call, const struct ccm_service *service,
                        const struct clb_need *need, const struct lbc_group *group)
{
    const char *name = group->name == NULL ? "" : group->name;

    if (lbc_owner_parse(name, false, &service->meta, lbc_cluster_id(&call->clb->lbc)) ==
        LBC_OWNER_OURS) {
        return true;
    }
    if (need->want != NULL && lbc_state_group_by_id(&need->want->lbc, group->id) != NULL) {
        return true;
    }
    return need->scan && !lbc_owner_is_key(name);
}

int clb_read_parts(struct clb_call *call, const struct ccm_service *service,
                   const struct clb_need *need, struct clb_state *state, struct ccm_error *err)
{
    int r = 0;

    if (need->listeners && !state->lbc.listeners_known) {
        r = clb_read_listeners(call, state, err);
        state->lbc.listeners_known = r == 0;
    }
    if (r == 0 && !state->lbc.groups_known) {
        r = list_groups(call, state, err);
    }
    for (size_t i = 0; r == 0 && i < state->lbc.group_count; i++) {
        struct lbc_group *group = state->lbc.groups[i];

        if (group->unread && needs_group(call, service, need, group)) {
            r = read_group(call, group, err);
        }
    }
    return r;
}
