/* How load balancers are paid, and how big they are. */
#include "families.h"
#include "lb.h"
#include "plain.h"
#include "util/text.h"

static bool by_lcu(const struct ccm_cloud_lb *lb)
{
    return ccm_text_equal(ccm_cloud_attr(&lb->obj, "InstanceChargeType"), "PayByCLCU");
}

static int fail_by_lcu(struct ccm_cloud_call *call)
{
    return ccm_cloud_fail(call, 400, "OperationDenied.PayByCLCU",
                          "The operation is not allowed because the instanceChargeType of "
                          "loadbalancer is PayByCLCU.");
}

/* From a fixed bandwidth to traffic: what was ordered counts from the next day on. */
static bool is_for_tomorrow(const struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    return ccm_text_equal(ccm_cloud_attr(&lb->obj, "InternetChargeType"), "paybybandwidth") &&
           ccm_text_equal(ccm_cloud_text(call, "InternetChargeType", ""), "paybytraffic");
}

static int order_for_tomorrow(const struct ccm_cloud_call *call, struct ccm_cloud_lb *lb)
{
    const struct ccm_cloud_pair pairs[] = {
        { "TomorrowInternetChargeType", "paybytraffic" },
        { "TomorrowBandwidth", ccm_cloud_text(call, "Bandwidth", NULL) },
    };

    return ccm_cloud_attrs_set(&lb->obj, pairs, CCM_ARRAY_LEN(pairs));
}

static int lb_next_day(struct ccm_cloud_lb *lb)
{
    const char *charge = ccm_cloud_attr(&lb->obj, "TomorrowInternetChargeType");
    const char *bandwidth = ccm_cloud_attr(&lb->obj, "TomorrowBandwidth");
    const struct ccm_cloud_pair pairs[] = {
        { "InternetChargeType", charge[0] == '\0' ? NULL : charge },
        { "Bandwidth", bandwidth[0] == '\0' ? NULL : bandwidth },
        { "TomorrowInternetChargeType", "" },
        { "TomorrowBandwidth", "" },
    };

    return charge[0] == '\0' ? 0 : ccm_cloud_attrs_set(&lb->obj, pairs, CCM_ARRAY_LEN(pairs));
}

int ccm_cloud_lbs_next_day(struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    void *value = NULL;
    int r = 0;

    while (r == 0 && ccm_strmap_next(cloud->lbs, &cursor, NULL, &value)) {
        r = lb_next_day(value);
    }
    return r;
}

static int modify_internet(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "InternetChargeType", "Bandwidth", NULL };
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    if (by_lcu(lb)) {
        return fail_by_lcu(call);
    }
    if (ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressType"), "intranet")) {
        return ccm_cloud_fail(call, 400, "Instance.InternetChargeTypeNotAllowed",
                              "Illegal parameter. The specified InternetChargeType not allowed.");
    }
    ccm_jsonw_i64(call->out, "OrderId", 0);
    return is_for_tomorrow(call, lb) ? order_for_tomorrow(call, lb)
                                     : ccm_cloud_copy_params(call, &lb->obj, names);
}

static int modify_spec(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "LoadBalancerSpec", NULL };
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    if (by_lcu(lb)) {
        return fail_by_lcu(call);
    }
    ccm_jsonw_i64(call->out, "OrderId", 0);
    return ccm_cloud_copy_params(call, &lb->obj, names);
}

static int modify_charge(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "InstanceChargeType", "LoadBalancerSpec", "Bandwidth",
                                         "InternetChargeType", NULL };
    struct ccm_cloud_lb *lb = NULL;
    const char *charge = ccm_cloud_text(call, "InstanceChargeType", "");
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    if (by_lcu(lb) && ccm_text_equal(charge, "PayBySpec")) {
        return ccm_cloud_fail(call, 400, "Forbidden.LcuToSpec",
                              "User does not have permission modify InstanceChargeType to spec.");
    }
    if (by_lcu(lb)) {
        return fail_by_lcu(call);
    }
    if (ccm_text_equal(charge, "PayBySpec")) {
        return ccm_cloud_fail(call, 400, "OperationDenied.PayBySpec",
                              "The operation is not allowed because the instanceChargeType of "
                              "loadbalancer is PayBySpec.");
    }
    return ccm_cloud_copy_params(call, &lb->obj, names);
}

static const struct ccm_cloud_param internet_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "AutoPay", .type = CCM_CLOUD_BOOL },
    { .name = "Bandwidth", .type = CCM_CLOUD_INT, .min = -1, .max = 5120 },
    { .name = "InternetChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "paybytraffic|paybybandwidth" },
    { 0 },
};

static const struct ccm_cloud_param spec_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "AutoPay", .type = CCM_CLOUD_BOOL },
    { .name = "LoadBalancerSpec",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = CCM_CLOUD_LB_SPECS },
    { 0 },
};

static const struct ccm_cloud_param charge_params[] = {
    CCM_CLOUD_LB_ID_ROW,
    { .name = "Bandwidth",
      .type = CCM_CLOUD_INT,
      .min = -1,
      .max = 5120,
      .invalid = "InvalidParameterBandwidth" },
    { .name = "InstanceChargeType",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = "PayBySpec|PayByCLCU",
      .invalid = "IllegalParam.InstanceChargeType" },
    { .name = "InternetChargeType",
      .type = CCM_CLOUD_ENUM,
      .values = "paybytraffic",
      .invalid = "IllegalParam.InternetChargeType" },
    { .name = "LoadBalancerSpec", .type = CCM_CLOUD_ENUM, .values = CCM_CLOUD_LB_SPECS },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_lb_spec_actions[] = {
    { .name = "ModifyLoadBalancerInternetSpec",
      .params = internet_params,
      .run = modify_internet,
      .change = CCM_CLOUD_CHANGE_LB },
    { .name = "ModifyLoadBalancerInstanceSpec",
      .params = spec_params,
      .run = modify_spec,
      .change = CCM_CLOUD_CHANGE_LB },
    { .name = "ModifyLoadBalancerInstanceChargeType",
      .params = charge_params,
      .region = true,
      .run = modify_charge,
      .change = CCM_CLOUD_CHANGE_LB },
    { 0 },
};
