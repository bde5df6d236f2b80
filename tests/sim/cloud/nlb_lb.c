#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>

/* ---- creation ---- */

static int check_create(struct ccm_cloud_call *call, struct ccm_nlb_place *place)
{
    const struct ccm_cloud_vpc *vpc =
        ccm_strmap_get(call->cloud->vpcs, ccm_cloud_text(call, "VpcId", ""));
    const char *package = ccm_cloud_text(call, "BandwidthPackageId", NULL);

    place->internet = ccm_text_equal(ccm_nlb_enum(call, "AddressType", ""), "Internet");
    place->dual = ccm_text_equal(ccm_nlb_enum(call, "AddressIpVersion", "ipv4"), "DualStack");
    if (vpc == NULL) {
        return ccm_nlb_fail_absent(call, "Vpc");
    }
    place->vpc = vpc->obj.id;
    if (ccm_strmap_len(call->cloud->nlb->lbs) >= call->cloud->limits.nlb_load_balancers) {
        return ccm_nlb_fail_quota(call, "loadbalancers_num", ccm_strmap_len(call->cloud->nlb->lbs),
                                  call->cloud->limits.nlb_load_balancers);
    }
    if (package != NULL && !place->internet) {
        return ccm_nlb_fail_denied(call, "IntranetLoadBalancer");
    }
    return package == NULL ? 0 : ccm_nlb_package_check(call, package);
}

/* Protections are stored with the time they were switched on. */
static int protect(struct ccm_cloud_obj *obj, const char *deletion, const char *deletion_reason,
                   const char *modification, const char *modification_reason)
{
    char now[32];

    ccm_cloud_format_time(ccm_clock_wall_ms(), true, now, sizeof(now));

    bool deletes = ccm_text_equal(deletion, "true");
    bool changes = ccm_text_equal(modification, "ConsoleProtection");
    const struct ccm_cloud_pair off[] = {
        { "DeletionProtectionEnabled", deletion },
        { "DeletionProtectionReason", deletion == NULL || deletes ? deletion_reason : "" },
        { "DeletionProtectionTime", deletion == NULL ? NULL : (deletes ? now : "") },
        { "ModificationProtectionStatus", modification },
        { "ModificationProtectionReason",
          modification == NULL || changes ? modification_reason : "" },
        { "ModificationProtectionTime", modification == NULL ? NULL : (changes ? now : "") },
    };

    return ccm_cloud_attrs_set(obj, off, CCM_ARRAY_LEN(off));
}

static int lb_fill(const struct ccm_cloud_call *call, const struct ccm_nlb_place *place,
                   struct ccm_nlb_lb *lb)
{
    CCM_CLEANUP(ccm_freep)
    char *host = ccm_text_format("%s.%s.nlb.aliyuncs.com", lb->obj.id, call->cloud->region);
    char created[32];

    ccm_cloud_format_time(ccm_clock_wall_ms(), true, created, sizeof(created));

    const struct ccm_cloud_pair pairs[] = {
        { "AddressIpVersion", place->dual ? "DualStack" : "ipv4" },
        { "AddressType", place->internet ? "Internet" : "Intranet" },
        { "BandwidthPackageId", ccm_cloud_text(call, "BandwidthPackageId", "") },
        { "CreateTime", created },
        { "DNSName", host },
        { "Ipv6AddressType", place->dual ? "Intranet" : "" },
        { "LoadBalancerName", ccm_cloud_text(call, "LoadBalancerName", lb->obj.id) },
        { "LoadBalancerStatus", "Provisioning" },
        { "RegionId", call->cloud->region },
        { "ResourceGroupId", ccm_cloud_text(call, "ResourceGroupId", "rg-default") },
        { "VpcId", place->vpc },
    };
    int r = host == NULL ? -ENOMEM : ccm_cloud_attrs_set(&lb->obj, pairs, CCM_ARRAY_LEN(pairs));

    return r < 0 ? r
                 : protect(&lb->obj, ccm_cloud_text(call, "DeletionProtectionConfig.Enabled", NULL),
                           ccm_cloud_text(call, "DeletionProtectionConfig.Reason", NULL),
                           ccm_nlb_enum(call, "ModificationProtectionConfig.Status", NULL),
                           ccm_cloud_text(call, "ModificationProtectionConfig.Reason", NULL));
}

static int create_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (lb != NULL) {
        ccm_nlb_status_set(&lb->obj, "LoadBalancerStatus", ok ? "Active" : "CreateFailed");
    }
    return 0;
}

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    CCM_CLEANUP(ccm_nlb_zones_fini) struct ccm_nlb_zones checked = { 0 };
    struct ccm_nlb_place place = { 0 };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_lb *lb = NULL;
    int r = check_create(call, &place);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_nlb_zones_read(call, &place, &checked);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : ccm_nlb_lb_new(call->cloud, &lb);
    if (r < 0) {
        return r;
    }
    place.lb = lb->obj.id;
    r = ccm_nlb_zones_read(call, &place, &lb->zones);
    r = r < 0 ? r : lb_fill(call, &place, lb);
    r = r < 0 ? r : ccm_nlb_tags_put(call, &lb->obj, &tags);
    r = r < 0 ? r : ccm_cloud_job_start(call, lb->obj.id, create_end, &job);
    if (r < 0) {
        ccm_nlb_lb_del(call->cloud, lb);
        return r;
    }
    job->hidden = true; /* this action answers no JobId */
    ccm_jsonw_str(call->out, "LoadbalancerId", lb->obj.id);
    ccm_jsonw_i64(call->out, "OrderId", 0);
    return 0;
}

/* ---- deletion ---- */

static int delete_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (lb == NULL) {
        return 0;
    }
    if (ok) {
        ccm_nlb_lb_del(cloud, lb);
    } else {
        ccm_nlb_status_set(&lb->obj, "LoadBalancerStatus", ccm_cloud_attr(&job->obj, "Before"));
    }
    return 0;
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    /* What could not be created can be deleted as it is: no protection can be switched then. */
    const bool failed =
        ccm_text_equal(ccm_cloud_attr(&lb->obj, "LoadBalancerStatus"), "CreateFailed");

    r = failed ? 0 : ccm_nlb_lb_for_change(call, &lb);
    if (r < 0) {
        return r;
    }
    if (!failed && ccm_text_equal(ccm_cloud_attr(&lb->obj, "DeletionProtectionEnabled"), "true")) {
        return ccm_nlb_fail_denied(call, "DeletionProtectionEnabled");
    }
    if (ccm_nlb_lb_has_busy_listener(lb)) {
        return ccm_nlb_fail_lock(call, lb->obj.id);
    }
    r = ccm_nlb_dry_run(call);
    return r < 0 ? r
                 : ccm_nlb_job(call, &lb->obj, "LoadBalancerStatus", "Deleting", delete_end, &job);
}

/* ---- attributes ---- */

static int update_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (lb == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&lb->obj, "LoadBalancerStatus", ccm_cloud_attr(&job->obj, "Before"));
    return ok ? ccm_nlb_job_apply(job, &lb->obj) : 0;
}

static int update(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "Cps", "CrossZoneEnabled", "LoadBalancerName" };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r
              : ccm_nlb_job(call, &lb->obj, "LoadBalancerStatus", "Configuring", update_end, &job);
    for (size_t i = 0; i < CCM_ARRAY_LEN(names) && r == 0; i++) {
        const char *value = ccm_cloud_text(call, names[i], NULL);

        r = value == NULL ? 0 : ccm_sim_params_set(&job->set, names[i], value);
    }
    return r;
}

static int update_protection(struct ccm_cloud_call *call)
{
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    r = r < 0 ? r : ccm_nlb_dry_run(call);
    return r < 0 ? r
                 : protect(&lb->obj, ccm_cloud_text(call, "DeletionProtectionEnabled", NULL),
                           ccm_cloud_text(call, "DeletionProtectionReason", NULL),
                           ccm_nlb_enum(call, "ModificationProtectionStatus", NULL),
                           ccm_cloud_text(call, "ModificationProtectionReason", NULL));
}

#define LB_ROW                                                                                     \
    {                                                                                              \
        .name = "LoadBalancerId", .required = true                                                 \
    }

static bool is_ipv6(const char *value)
{
    struct in6_addr address;

    return inet_pton(AF_INET6, value, &address) == 1;
}

#define ZONE_ROW(member)                                                                           \
    {                                                                                              \
        .name = "ZoneMappings.N." member, .items = CCM_NLB_ZONES_MAX                               \
    }

static const struct ccm_cloud_param create_params[] = {
    { .name = "AddressIpVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|DualStack" },
    { .name = "AddressType",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = "Internet|Intranet" },
    { .name = "BandwidthPackageId" },
    CCM_NLB_WRITE_ROWS,
    { .name = "DeletionProtectionConfig.Enabled", .type = CCM_CLOUD_BOOL },
    { .name = "DeletionProtectionConfig.Reason",
      .min = 2,
      .max = 128,
      .fits = ccm_nlb_is_name,
      .invalid = "IllegalParam.DeletionProtectionConfig" },
    { .name = "LoadBalancerBillingConfig.PayType", .type = CCM_CLOUD_ENUM, .values = "PostPay" },
    { .name = "LoadBalancerName",
      .min = 2,
      .max = 128,
      .fits = ccm_nlb_is_name,
      .invalid = "IllegalParam.loadBalancerName" },
    { .name = "LoadBalancerType", .type = CCM_CLOUD_ENUM, .values = "network" },
    { .name = "ModificationProtectionConfig.Reason",
      .min = 2,
      .max = 128,
      .fits = ccm_nlb_is_name,
      .invalid = "IllegalParam.ModificationProtectionConfig" },
    { .name = "ModificationProtectionConfig.Status",
      .type = CCM_CLOUD_ENUM,
      .values = "NonProtection|ConsoleProtection" },
    { .name = "ResourceGroupId" },
    CCM_NLB_TAG_ROWS,
    { .name = "VpcId", .required = true },
    { .name = "ZoneMappings.N.VSwitchId", .required = true, .items = CCM_NLB_ZONES_MAX },
    { .name = "ZoneMappings.N.ZoneId", .required = true, .items = CCM_NLB_ZONES_MAX },
    ZONE_ROW("AllocationId"),
    { .name = "ZoneMappings.N.Ipv6Address", .items = CCM_NLB_ZONES_MAX, .fits = is_ipv6 },
    ZONE_ROW("PrivateIPv4Address"),
    { .name = "ZoneMappings.N.Ipv4LocalAddresses.N", .items = 8 },
    { .name = "ZoneMappings.N.Ipv6LocalAddresses.N", .items = 8 },
    { 0 },
};

static const struct ccm_cloud_param delete_params[] = { LB_ROW, CCM_NLB_WRITE_ROWS, { 0 } };

static const struct ccm_cloud_param update_params[] = {
    LB_ROW,
    CCM_NLB_WRITE_ROWS,
    { .name = "Cps", .type = CCM_CLOUD_INT, .min = 1, .max = 1000000 },
    { .name = "CrossZoneEnabled", .type = CCM_CLOUD_BOOL },
    { .name = "LoadBalancerName",
      .min = 2,
      .max = 128,
      .fits = ccm_nlb_is_name,
      .invalid = "IllegalParam.loadBalancerName" },
    { 0 },
};

static const struct ccm_cloud_param protection_params[] = {
    LB_ROW,
    CCM_NLB_WRITE_ROWS,
    { .name = "DeletionProtectionEnabled", .type = CCM_CLOUD_BOOL },
    { .name = "DeletionProtectionReason",
      .min = 2,
      .max = 128,
      .fits = ccm_nlb_is_name,
      .invalid = "IllegalParam.deletionProtectionReason" },
    { .name = "ModificationProtectionReason",
      .min = 2,
      .max = 128,
      .fits = ccm_nlb_is_name,
      .invalid = "IllegalParam.modificationProtectionReason" },
    { .name = "ModificationProtectionStatus",
      .type = CCM_CLOUD_ENUM,
      .values = "NonProtection|ConsoleProtection" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_lb_actions[] = {
    { .name = "CreateLoadBalancer",
      .params = create_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = create },
    { .name = "DeleteLoadBalancer",
      .params = delete_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = del },
    { .name = "UpdateLoadBalancerAttribute",
      .params = update_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update },
    { .name = "UpdateLoadBalancerProtection",
      .params = protection_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update_protection },
    { 0 },
};
