/* The actions on the load balancer itself. */
#include "api.h"

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
    ccm_jsonw_str(&w, "TagKey", LBC_TAG_OWNER);
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
const struct alilb_action clb_api_health = {
    .name = "DescribeHealthStatus",
    .texts = { "LoadBalancerId" },
    .list = "BackendServers",
    .item = "BackendServer",
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

const struct alilb_action clb_api_create_lb = {
    .name = "CreateLoadBalancer",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "VpcId", "ModificationProtectionReason", "ClientToken" },
};

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
