/* What a load balancer is joined with: security groups and a bandwidth package. */
#include "families.h"
#include "nlb.h"
#include "plain.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define GROUPS_MAX 4

/* ---- security groups ---- */

static int groups_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));
    int r = 0;

    if (lb == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&lb->obj, "LoadBalancerStatus", ccm_cloud_attr(&job->obj, "Before"));
    for (size_t i = 0; ok && i < job->set.len && r == 0; i++) {
        if (job->set.items[i].value[0] == '\0') {
            ccm_sim_params_del(&lb->security_groups, job->set.items[i].name);
        } else {
            r = ccm_sim_params_set(&lb->security_groups, job->set.items[i].name, "Joined");
        }
    }
    return r;
}

static bool is_enterprise(const struct ccm_cloud_obj *group)
{
    return ccm_text_equal(ccm_cloud_attr(group, "SecurityGroupType"), "enterprise");
}

static int check_join(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb, const char *id)
{
    const struct ccm_cloud_obj *group =
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_SECURITY_GROUP, id);

    if (group == NULL) {
        return ccm_nlb_fail_absent(call, "SecurityGroup");
    }
    if (!ccm_text_equal(ccm_cloud_attr(group, "VpcId"), ccm_cloud_attr(&lb->obj, "VpcId"))) {
        return ccm_cloud_fail(call, 400, "Mismatch.vpc", "The Vpc is mismatched for %s and %s.", id,
                              lb->obj.id);
    }
    if (ccm_sim_params_get(&lb->security_groups, id) != NULL) {
        return ccm_cloud_fail(call, 400, "Conflict.SecurityGroup",
                              "The SecurityGroup [%s] is conflict.", id);
    }
    for (size_t i = 0; i < lb->security_groups.len; i++) {
        const struct ccm_cloud_obj *joined = ccm_cloud_plain_get(
            call->cloud, CCM_CLOUD_SECURITY_GROUP, lb->security_groups.items[i].name);

        /* Normal and enterprise groups do not mix. */
        if (joined != NULL && is_enterprise(joined) != is_enterprise(group)) {
            return ccm_cloud_fail(call, 400, "Conflict.SecurityGroup",
                                  "The SecurityGroup [%s] is conflict.", id);
        }
    }
    return 0;
}

/* Distinct ids of the request. */
static int ids_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
    int r = ccm_cloud_list(call, "SecurityGroupIds", &list);

    for (size_t i = 0; i < list.len && r == 0; i++) {
        r = ccm_sim_params_set(ret, list.items[i].value, "");
    }
    return r;
}

static int groups_change(struct ccm_cloud_call *call, struct ccm_nlb_lb *lb,
                         const struct ccm_sim_params *ids, const char *value)
{
    struct ccm_cloud_job *job = NULL;
    int r = ccm_nlb_dry_run(call);

    r = r < 0 ? r
              : ccm_nlb_job(call, &lb->obj, "LoadBalancerStatus", "Configuring", groups_end, &job);
    for (size_t i = 0; i < ids->len && r == 0; i++) {
        r = ccm_sim_params_set(&job->set, ids->items[i].name, value);
    }
    return r;
}

static int join(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    r = r < 0 ? r : ids_read(call, &ids);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        r = check_join(call, lb, ids.items[i].name);
    }
    if (r == 0 && lb->security_groups.len + ids.len > GROUPS_MAX) {
        r = ccm_nlb_fail_quota(call, "loadbalancer_security_groups_num", lb->security_groups.len,
                               GROUPS_MAX);
    }
    return r < 0 ? r : groups_change(call, lb, &ids, "join");
}

static int leave(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    r = r < 0 ? r : ids_read(call, &ids);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        if (ccm_sim_params_get(&lb->security_groups, ids.items[i].name) == NULL) {
            r = ccm_nlb_fail_absent(call, "SecurityGroup");
        }
    }
    return r < 0 ? r : groups_change(call, lb, &ids, "");
}

/* ---- bandwidth package ---- */

int ccm_nlb_package_check(struct ccm_cloud_call *call, const char *id)
{
    return ccm_cloud_plain_get(call->cloud, CCM_CLOUD_BANDWIDTH_PACKAGE, id) == NULL
               ? ccm_nlb_fail_absent(call, "BandwidthPackageId")
               : 0;
}

static int package_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (lb == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&lb->obj, "LoadBalancerStatus", ccm_cloud_attr(&job->obj, "Before"));
    return ok ? ccm_nlb_job_apply(job, &lb->obj) : 0;
}

static int package_change(struct ccm_cloud_call *call, struct ccm_nlb_lb *lb, const char *id)
{
    struct ccm_cloud_job *job = NULL;
    int r = ccm_nlb_dry_run(call);

    r = r < 0 ? r
              : ccm_nlb_job(call, &lb->obj, "LoadBalancerStatus", "Configuring", package_end, &job);
    return r < 0 ? r : ccm_sim_params_set(&job->set, "BandwidthPackageId", id);
}

static int attach(struct ccm_cloud_call *call)
{
    const char *id = ccm_cloud_text(call, "BandwidthPackageId", "");
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    r = r < 0 ? r : ccm_nlb_package_check(call, id);
    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressType"), "Internet")) {
        return ccm_nlb_fail_denied(call, "IntranetLoadBalancer");
    }
    if (!ccm_text_empty(ccm_cloud_attr(&lb->obj, "BandwidthPackageId"))) {
        return ccm_cloud_fail(call, 400, "ResourceAlreadyAssociated.loadbalancer",
                              "The specified resource of loadbalancer is already associated.");
    }
    return package_change(call, lb, id);
}

static int detach(struct ccm_cloud_call *call)
{
    struct ccm_nlb_lb *lb = NULL;
    int r = ccm_nlb_lb_for_change(call, &lb);

    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ccm_cloud_attr(&lb->obj, "BandwidthPackageId"),
                        ccm_cloud_text(call, "BandwidthPackageId", ""))) {
        return ccm_cloud_fail(call, 400, "ResourceNotAssociated.loadbalancer",
                              "Thre resource is not associated with loadbalancer.");
    }
    return package_change(call, lb, "");
}

static const struct ccm_cloud_param group_params[] = {
    { .name = "LoadBalancerId", .required = true },
    CCM_NLB_WRITE_ROWS,
    { .name = "SecurityGroupIds.N", .required = true, .items = 10 },
    { 0 },
};

static const struct ccm_cloud_param package_params[] = {
    { .name = "LoadBalancerId", .required = true },
    { .name = "BandwidthPackageId", .required = true },
    CCM_NLB_WRITE_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_join_actions[] = {
    { .name = "LoadBalancerJoinSecurityGroup",
      .params = group_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = join },
    { .name = "LoadBalancerLeaveSecurityGroup",
      .params = group_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = leave },
    { .name = "AttachCommonBandwidthPackageToLoadBalancer",
      .params = package_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = attach },
    { .name = "DetachCommonBandwidthPackageFromLoadBalancer",
      .params = package_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = detach },
    { 0 },
};
