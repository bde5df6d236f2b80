#include "api_lb.h"

#include "api_call.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

int clb_api_find_lb(struct clb_call *call, const char *tag_value, const char *name, cJSON **ret,
                    struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf tags = { .max = 1024 };

    if (tag_value != NULL) {
        struct ccm_jsonw w = { .buf = &tags };

        ccm_jsonw_open(&w, NULL, '[');
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "TagKey", CLB_TAG_OWNER);
        ccm_jsonw_str(&w, "TagValue", tag_value);
        ccm_jsonw_close(&w, '}');
        ccm_jsonw_close(&w, ']');
        if (ccm_buf_error(&tags) < 0) {
            return ccm_error_nomem(err);
        }
        ali_param_add(&params, "Tags", ccm_buf_str(&tags));
    } else {
        ali_param_add(&params, "LoadBalancerName", name);
    }
    return clb_api_slb(call, "DescribeLoadBalancers", &params, ALI_READ, ret, err);
}

int clb_api_lb(struct clb_call *call, const char *lb_id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    return clb_api_slb(call, "DescribeLoadBalancerAttribute", &params, ALI_READ, ret, err);
}

int clb_api_vswitch(struct clb_call *call, const char *vswitch_id, cJSON **ret,
                    struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "VSwitchId", vswitch_id);
    return clb_api_send(call, ALI_VPC, "DescribeVSwitches", &params, ALI_READ, ret, err);
}

int clb_api_eips(struct clb_call *call, const char *lb_id, int64_t page, cJSON **ret,
                 struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "AssociatedInstanceType", "SlbInstance");
    ali_param_add(&params, "AssociatedInstanceId", lb_id);
    ali_param_i64(&params, "PageNumber", page);
    ali_param_i64(&params, "PageSize", CLB_EIP_PAGE);
    return clb_api_send(call, ALI_VPC, "DescribeEipAddresses", &params, ALI_READ, ret, err);
}

/* --- creation --- */

static bool lb_field_is_sent(enum clb_lb_field_id id)
{
    return id != CLB_LB_NETWORK && clb_lb_fields[id].offset != SIZE_MAX;
}

static int create_tags(const struct clb *clb, const struct clb_create *create, struct lbc_tags *ret)
{
    if (lbc_tags_copy(ret, &create->lb->tags) < 0 ||
        lbc_tags_put(ret, CLB_TAG_OWNER, create->owner_tag) < 0 ||
        lbc_tags_put(ret, CLB_TAG_CLUSTER, lbc_cluster_id(&clb->lbc)) < 0) {
        return -1;
    }
    return 0;
}

static void tag_params(const struct lbc_tags *tags, size_t first, struct ali_params *params)
{
    for (size_t i = 0; i < tags->len; i++) {
        ali_param_tag(params, first + i, tags->items[i].key, tags->items[i].value);
    }
}

static void create_params(const struct clb *clb, const struct clb_create *create,
                          struct ali_params *params)
{
    const struct clb_lb *lb = create->lb;

    for (size_t i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const enum clb_lb_field_id id = (enum clb_lb_field_id)i;

        if (lb_field_is_sent(id)) {
            ali_param_opt(params, clb_lb_fields[id].name, clb_lb_get(lb, id));
        }
    }
    ali_param_opt(params, "VpcId", lb->vpc_id);
    ali_param_add(params, "DeleteProtection", lb->protect ? "on" : "off");
    if (ccm_text_equal(lb->modification, "ConsoleProtection")) {
        ali_param_add(params, "ModificationProtectionReason", CLB_PROTECT_WHY);
    }
    ali_param_tag(params, 1, CLB_TAG_OWNER, create->owner_tag);
    ali_param_tag(params, 2, CLB_TAG_CLUSTER, lbc_cluster_id(&clb->lbc));
    tag_params(&lb->tags, 3, params);
    ali_param_add(params, "ClientToken", create->token);
}

static int lb_parse_created(const struct clb_create *create, const struct lbc_tags *tags,
                            const cJSON *answer, struct clb_lb *ret)
{
    if (clb_lb_copy(ret, create->lb) < 0 || lbc_tags_copy(&ret->tags, tags) < 0 ||
        lbc_text_set(&ret->id, ccm_json_text(answer, "LoadBalancerId")) < 0 ||
        lbc_text_set(&ret->address, ccm_json_text(answer, "Address")) < 0) {
        return -1;
    }
    ret->partial = true;
    if (ccm_json_text(answer, "VSwitchId")[0] != '\0') {
        return lbc_text_set(&ret->vswitch_id, ccm_json_text(answer, "VSwitchId"));
    }
    return 0;
}

int clb_api_create_lb(struct clb_call *call, const struct clb_create *create, struct clb_lb *ret,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    if (create_tags(call->clb, create, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    create_params(call->clb, create, &params);
    r = clb_api_slb(call, "CreateLoadBalancer", &params, ALI_IDEMPOTENT, &answer, err);
    if (r < 0) {
        return r;
    }
    if (ccm_json_text(answer, "LoadBalancerId")[0] == '\0') {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "CreateLoadBalancer: the answer names no load balancer");
    }
    if (lb_parse_created(create, &tags, answer, ret) < 0) {
        call->uncertain = true;
        return ccm_error_nomem(err);
    }
    return 0;
}

/* --- changes --- */

int clb_api_tag_lb(struct clb_call *call, const char *lb_id, const struct lbc_tags *tags,
                   struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ResourceType", "instance");
    ali_param_add(&params, "ResourceId.1", lb_id);
    tag_params(tags, 1, &params);
    return clb_api_slb(call, "TagResources", &params, ALI_IDEMPOTENT, NULL, err);
}

int clb_api_untag_lb(struct clb_call *call, const char *lb_id, const struct lbc_tags *tags,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ResourceType", "instance");
    ali_param_add(&params, "ResourceId.1", lb_id);
    for (size_t i = 0; i < tags->len; i++) {
        char name[32];

        ccm_text_printf(name, sizeof(name), "TagKey.%zu", i + 1);
        ali_param_add(&params, name, tags->items[i].key);
    }
    return clb_api_slb(call, "UntagResources", &params, ALI_IDEMPOTENT, NULL, err);
}

/* One action with the id and up to two further parameters; those that are NULL are left out. */
static int api_change_lb(struct clb_call *call, const char *action, const char *lb_id,
                         const char *name, const char *value, const char *name2, const char *value2,
                         struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    if (name != NULL) {
        ali_param_opt(&params, name, value);
    }
    if (name2 != NULL) {
        ali_param_opt(&params, name2, value2);
    }
    return clb_api_slb(call, action, &params, ALI_IDEMPOTENT, NULL, err);
}

int clb_api_rename_lb(struct clb_call *call, const char *lb_id, const char *name,
                      struct ccm_error *err)
{
    return api_change_lb(call, "SetLoadBalancerName", lb_id, "LoadBalancerName", name, NULL, NULL,
                         err);
}

int clb_api_protect_lb(struct clb_call *call, const char *lb_id, const char *value,
                       struct ccm_error *err)
{
    return api_change_lb(call, "SetLoadBalancerDeleteProtection", lb_id, "DeleteProtection", value,
                         NULL, NULL, err);
}

int clb_api_protect_modification(struct clb_call *call, const char *lb_id, const char *status,
                                 struct ccm_error *err)
{
    const bool on = ccm_text_equal(status, "ConsoleProtection");

    return api_change_lb(call, "SetLoadBalancerModificationProtection", lb_id,
                         "ModificationProtectionStatus", status,
                         on ? "ModificationProtectionReason" : NULL, CLB_PROTECT_WHY, err);
}

int clb_api_charge_lb(struct clb_call *call, const char *lb_id, const char *type, const char *spec,
                      struct ccm_error *err)
{
    return api_change_lb(call, "ModifyLoadBalancerInstanceChargeType", lb_id, "InstanceChargeType",
                         type, "LoadBalancerSpec", spec, err);
}

int clb_api_spec_lb(struct clb_call *call, const char *lb_id, const char *spec,
                    struct ccm_error *err)
{
    return api_change_lb(call, "ModifyLoadBalancerInstanceSpec", lb_id, "LoadBalancerSpec", spec,
                         NULL, NULL, err);
}

int clb_api_internet_lb(struct clb_call *call, const char *lb_id, const char *charge,
                        const char *bandwidth, struct ccm_error *err)
{
    return api_change_lb(call, "ModifyLoadBalancerInternetSpec", lb_id, "InternetChargeType",
                         charge, "Bandwidth", bandwidth, err);
}

int clb_api_delete_lb(struct clb_call *call, const char *lb_id, struct ccm_error *err)
{
    return api_change_lb(call, "DeleteLoadBalancer", lb_id, NULL, NULL, NULL, NULL, err);
}
