#include "api_lb.h"

#include "alicloud/params.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>

/* --- reads --- */

int clb_api_find_lb(struct alilb_call *call, const char *tag_value, const char *name,
                    alilb_item_fn fn, void *arg, struct ccm_error *err)
{
    static const struct alilb_action find = {
        .name = "DescribeLoadBalancers",
        .texts = { "Tags", "LoadBalancerName" },
        .list = "LoadBalancers",
        .item = "LoadBalancer",
    };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf tags = { .max = 1024 };
    struct ccm_jsonw w = { .buf = &tags };

    if (tag_value == NULL) {
        return alilb_list(call, &find, ALILB_TEXTS(NULL, name), fn, arg, err);
    }
    ccm_jsonw_open(&w, NULL, '[');
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "TagKey", CLB_TAG_OWNER);
    ccm_jsonw_str(&w, "TagValue", tag_value);
    ccm_jsonw_close(&w, '}');
    ccm_jsonw_close(&w, ']');
    return ccm_buf_error(&tags) < 0
               ? ccm_error_nomem(err)
               : alilb_list(call, &find, ALILB_TEXTS(ccm_buf_str(&tags)), fn, arg, err);
}

const struct alilb_action clb_api_tagged_lbs = {
    .name = "DescribeLoadBalancers",
    .texts = { "Tag.1.Key", "Tag.1.Value" },
    .list = "LoadBalancers",
    .item = "LoadBalancer",
    .paging = ALILB_PAGES_NUMBER,
    .page = 100,
};
const struct alilb_action clb_api_lb = {
    .name = "DescribeLoadBalancerAttribute",
    .texts = { "LoadBalancerId" },
};
const struct alilb_action clb_api_vswitch = {
    .name = "DescribeVSwitches",
    .product = ALI_VPC,
    .texts = { "VSwitchId" },
};
const struct alilb_action clb_api_eips = {
    .name = "DescribeEipAddresses",
    .product = ALI_VPC,
    .texts = { "AssociatedInstanceType", "AssociatedInstanceId" },
    .list = "EipAddresses",
    .item = "EipAddress",
    .paging = ALILB_PAGES_NUMBER,
    .page = 10,
};

/* --- creation --- */

static int create_tags(const struct alilb_call *call, const struct clb_create *create,
                       struct lbc_tags *ret)
{
    if (lbc_tags_copy(ret, &create->lb->lbc.tags) < 0 ||
        lbc_tags_put(ret, CLB_TAG_OWNER, create->owner_tag) < 0 ||
        lbc_tags_put(ret, CLB_TAG_CLUSTER, call->cluster_id) < 0) {
        return -1;
    }
    return 0;
}

static void create_params(const struct alilb_call *call, const struct clb_create *create,
                          struct ali_params *params)
{
    const struct clb_lb *lb = create->lb;

    alilb_param_lb(params, &clb_annotations, lb->lbc.texts);
    ali_param_opt(params, "VpcId", lb->lbc.vpc_id);
    ali_param_add(params, "DeleteProtection", lb->protect ? "on" : "off");
    if (ccm_text_equal(lb->lbc.texts[CLB_LB_MODIFICATION], "ConsoleProtection")) {
        ali_param_add(params, "ModificationProtectionReason", CLB_PROTECT_WHY);
    }
    ali_param_tag(params, 1, CLB_TAG_OWNER, create->owner_tag);
    ali_param_tag(params, 2, CLB_TAG_CLUSTER, call->cluster_id);
    alilb_param_tags(params, &lb->lbc.tags, 3);
    ali_param_add(params, "ClientToken", create->token);
}

static int lb_parse_created(const struct clb_create *create, const struct lbc_tags *tags,
                            const cJSON *answer, struct clb_lb *ret)
{
    if (clb_lb_copy(ret, create->lb) < 0 || lbc_tags_copy(&ret->lbc.tags, tags) < 0 ||
        lbc_text_set(&ret->lbc.id, ccm_json_text(answer, "LoadBalancerId")) < 0 ||
        lbc_text_set(&ret->lbc.texts[CLB_LB_ADDRESS], ccm_json_text(answer, "Address")) < 0) {
        return -1;
    }
    ret->partial = true;
    if (ccm_json_text(answer, "VSwitchId")[0] != '\0') {
        return lbc_text_set(&ret->lbc.texts[CLB_LB_VSWITCH], ccm_json_text(answer, "VSwitchId"));
    }
    return 0;
}

int clb_api_create_lb(struct alilb_call *call, const struct clb_create *create, struct clb_lb *ret,
                      struct ccm_error *err)
{
    static const struct alilb_action action = {
        .name = "CreateLoadBalancer",
        .repeat = ALI_IDEMPOTENT,
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    if (create_tags(call, create, &tags) < 0) {
        return ccm_error_nomem(err);
    }
    create_params(call, create, &params);
    r = alilb_send(call, &action, ALILB_PARAMS(&params), &answer, err);
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

const struct alilb_action clb_api_rename_lb = {
    .name = "SetLoadBalancerName",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "LoadBalancerName" },
};
const struct alilb_action clb_api_protect_lb = {
    .name = "SetLoadBalancerDeleteProtection",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "DeleteProtection" },
};
const struct alilb_action clb_api_protect_modification = {
    .name = "SetLoadBalancerModificationProtection",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "ModificationProtectionStatus", "ModificationProtectionReason" },
};
const struct alilb_action clb_api_charge_lb = {
    .name = "ModifyLoadBalancerInstanceChargeType",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "InstanceChargeType", "LoadBalancerSpec" },
};
const struct alilb_action clb_api_spec_lb = {
    .name = "ModifyLoadBalancerInstanceSpec",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "LoadBalancerSpec" },
};
const struct alilb_action clb_api_internet_lb = {
    .name = "ModifyLoadBalancerInternetSpec",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "InternetChargeType", "Bandwidth" },
};
const struct alilb_action clb_api_delete_lb = {
    .name = "DeleteLoadBalancer",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId" },
};
