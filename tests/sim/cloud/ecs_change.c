/* Changes of instances and network interfaces. */
#include "families.h"
#include "plain.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>

static int dry_run(struct ccm_cloud_call *call)
{
    return ccm_text_equal(ccm_cloud_text(call, "DryRun", ""), "true")
               ? ccm_cloud_fail(call, 400, "DryRunOperation",
                                "Request validation has been passed with DryRun flag set.")
               : 0;
}

static bool routed_to(const struct ccm_cloud *cloud, const char *id)
{
    CCM_CLEANUP(ccm_freep) char *hop = ccm_text_format("Instance/%s/100", id);

    return hop != NULL && ccm_cloud_plain_count(cloud, CCM_CLOUD_ROUTE, "NextHops", hop) > 0;
}

/* It is a backend of a load balancer that is busy with its groups. */
static bool backend_in_change(const struct ccm_cloud *cloud, const char *id)
{
    const int64_t now = ccm_clock_now_ms();
    void *cursor = NULL;
    const char *group_id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(cloud->vgroups, &cursor, &group_id, &value) != 0) {
        const struct ccm_cloud_vgroup *group = value;

        for (size_t i = 0; group->lb->busy.until_ms > now && i < group->len; i++) {
            if (group->lb->busy.change == CCM_CLOUD_CHANGE_GROUP &&
                ccm_text_equal(group->backends[i].server_id, id)) {
                return true;
            }
        }
    }
    return false;
}

/* What the state of the instance and of its surroundings forbids. */
static int check_delete(struct ccm_cloud_call *call, const struct ccm_cloud_obj *instance)
{
    const char *status = ccm_cloud_attr(instance, "Status");
    const bool force = ccm_text_equal(ccm_cloud_text(call, "Force", ""), "true");

    if (ccm_text_equal(ccm_cloud_attr(instance, "LockReason"), "security")) {
        return ccm_cloud_fail(call, 403, "InstanceLockedForSecurity",
                              "The specified operation is denied as your instance is locked for "
                              "security reasons.");
    }
    if (ccm_text_equal(ccm_cloud_attr(instance, "InstanceChargeType"), "PrePaid") &&
        !ccm_text_equal(ccm_cloud_text(call, "TerminateSubscription", ""), "true")) {
        return ccm_cloud_fail(call, 403, "ChargeTypeViolation",
                              "The operation is not permitted due to charge type of the instance.");
    }
    /* Force ends one that runs, not one that is on its way. */
    if (!ccm_text_equal(status, "Stopped") &&
        !(force && (ccm_text_equal(status, "Running") || ccm_text_empty(status)))) {
        return ccm_cloud_fail(call, 403, "IncorrectInstanceStatus",
                              "The current status of the resource does not support this "
                              "operation.");
    }
    if (routed_to(call->cloud, instance->id)) {
        return ccm_cloud_fail(call, 400, "DependencyViolation.RouteEntry",
                              "Specified instance is used by route entry.");
    }
    return backend_in_change(call->cloud, instance->id)
               ? ccm_cloud_fail(call, 400, "DependencyViolation.SLBConfiguring",
                                "Specified operation is denied as your instance is using by "
                                "another product.")
               : 0;
}

static int delete_instance(struct ccm_cloud_call *call)
{
    const char *id = ccm_cloud_text(call, "InstanceId", "");
    const struct ccm_cloud_instance *instance = ccm_strmap_get(call->cloud->instances, id);
    int r = 0;

    if (instance == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidInstanceId.NotFound",
                              "The specified InstanceId does not exist.");
    }
    if (ccm_text_equal(ccm_cloud_attr(&instance->obj, "DeletionProtection"), "true")) {
        return ccm_cloud_fail(call, 403, "InvalidOperation.DeletionProtection",
                              "The instance is protected from deletion.");
    }
    r = check_delete(call, &instance->obj);
    r = r < 0 ? r : dry_run(call);
    if (r == 0) {
        ccm_cloud_instance_del(call->cloud, id);
    }
    return r;
}

/* ---- network interfaces ---- */

/* The groups exist and lie in the interface's VPC; *ret is their comma list. */
static int groups_read(struct ccm_cloud_call *call, const struct ccm_cloud_eni *eni,
                       struct ccm_buf *ret)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    int r = ccm_cloud_list(call, "SecurityGroupId", &ids);

    for (size_t i = 0; i < ids.len && r == 0; i++) {
        const char *id = ids.items[i].value;
        const struct ccm_cloud_obj *group =
            ccm_cloud_plain_get(call->cloud, CCM_CLOUD_SECURITY_GROUP, id);

        if (group == NULL) {
            return ccm_cloud_fail(call, 404, "InvalidSecurityGroupId.NotFound",
                                  "The specified SecurityGroupId does not exist.");
        }
        if (!ccm_text_equal(ccm_cloud_attr(group, "VpcId"), ccm_cloud_attr(&eni->obj, "VpcId"))) {
            return ccm_cloud_fail(call, 403, "InvalidOperation.VpcMismatch",
                                  "The security group is in another VPC.");
        }
        if (ccm_cloud_list_has(ccm_buf_str(ret), id)) {
            return ccm_cloud_fail(call, 404, "InvalidParameter.SecurityGroupIdRepeated",
                                  "The specified security group ids has repeated.");
        }
        ccm_buf_addf(ret, "%s%s", ret->len == 0 ? "" : ",", id);
    }
    return r < 0 ? r : ccm_buf_error(ret);
}

/* What may be changed of a primary interface, too, is name, description and SourceDestCheck. */
static int check_primary(struct ccm_cloud_call *call, const struct ccm_cloud_eni *eni)
{
    static const char *const refused[] = { "DeleteOnRelease", "QueueNumber", "RxQueueSize",
                                           "SecurityGroupId.1", "TxQueueSize" };

    if (!ccm_text_equal(ccm_cloud_attr(&eni->obj, "Type"), "Primary")) {
        return 0;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(refused); i++) {
        if (ccm_cloud_has(call, refused[i])) {
            return ccm_cloud_fail(call, 404,
                                  "InvalidOperation.PrimaryEniOnlySupportModifyNameAndDesc",
                                  "Primary NetworkInterface is only allowed to modify name and "
                                  "description.");
        }
    }
    return 0;
}

static int modify_eni(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "DeleteOnRelease",      "Description",
                                         "NetworkInterfaceName", "QueueNumber",
                                         "SourceDestCheck",      NULL };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf groups = { 0 };
    struct ccm_cloud_eni *eni =
        ccm_strmap_get(call->cloud->enis, ccm_cloud_text(call, "NetworkInterfaceId", ""));

    if (eni == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidEniId.NotFound",
                              "The specified NetworkInterfaceId does not exist.");
    }

    const char *status = ccm_cloud_attr(&eni->obj, "Status");

    if (!ccm_text_equal(status, "Available") && !ccm_text_equal(status, "InUse")) {
        return ccm_cloud_fail(call, 400, "InvalidOperation.InvalidEniState",
                              "The state of the network interface does not allow the operation.");
    }

    if (ccm_text_equal(ccm_cloud_attr(&eni->obj, "ServiceManaged"), "true")) {
        return ccm_cloud_fail(call, 403, "InvalidOperation.EniServiceManaged",
                              "The network interface is managed by another service.");
    }

    int r = check_primary(call, eni);

    r = r < 0 ? r : groups_read(call, eni, &groups);
    r = r < 0 ? r : ccm_cloud_copy_params(call, &eni->obj, names);
    if (r == 0 && groups.len > 0) {
        const struct ccm_cloud_pair pair = { "SecurityGroupId", ccm_buf_str(&groups) };

        r = ccm_cloud_attrs_set(&eni->obj, &pair, 1);
    }
    return r;
}

static const struct ccm_cloud_param delete_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "Force", .type = CCM_CLOUD_BOOL },
    { .name = "ForceStop", .type = CCM_CLOUD_BOOL },
    { .name = "InstanceId", .required = true },
    { .name = "TerminateSubscription", .type = CCM_CLOUD_BOOL },
    { 0 },
};

static const struct ccm_cloud_param modify_params[] = {
    { .name = "ConnectionTrackingConfiguration.TcpClosedAndTimeWaitTimeout",
      .type = CCM_CLOUD_INT,
      .min = 3,
      .max = 15 },
    { .name = "ConnectionTrackingConfiguration.TcpEstablishedTimeout", .type = CCM_CLOUD_INT },
    { .name = "ConnectionTrackingConfiguration.UdpTimeout", .type = CCM_CLOUD_INT },
    { .name = "DeleteOnRelease", .type = CCM_CLOUD_BOOL },
    { .name = "Description", .min = 2, .max = 255 },
    { .name = "EnablePrimaryIPv6", .type = CCM_CLOUD_BOOL },
    { .name = "EnhancedNetwork.EnableExpress", .type = CCM_CLOUD_BOOL },
    { .name = "EnhancedNetwork.EnableRss", .type = CCM_CLOUD_BOOL },
    { .name = "EnhancedNetwork.EnableSriov", .type = CCM_CLOUD_BOOL },
    { .name = "EnhancedNetwork.VirtualFunctionQuantity", .type = CCM_CLOUD_INT },
    { .name = "EnhancedNetwork.VirtualFunctionTotalQueueNumber", .type = CCM_CLOUD_INT },
    { .name = "NetworkInterfaceId", .required = true },
    { .name = "NetworkInterfaceName",
      .min = 2,
      .max = 128,
      .invalid = "InvalidParams.NetworkInterfaceName" },
    { .name = "NetworkInterfaceTrafficConfig.NetworkInterfaceTrafficMode",
      .type = CCM_CLOUD_ENUM,
      .values = "Standard|HighPerformance" },
    { .name = "NetworkInterfaceTrafficConfig.QueueNumber", .type = CCM_CLOUD_INT },
    { .name = "NetworkInterfaceTrafficConfig.QueuePairNumber", .type = CCM_CLOUD_INT },
    { .name = "NetworkInterfaceTrafficConfig.RxQueueSize", .type = CCM_CLOUD_INT },
    { .name = "NetworkInterfaceTrafficConfig.TxQueueSize", .type = CCM_CLOUD_INT },
    { .name = "QueueNumber", .type = CCM_CLOUD_INT, .min = 1, .max = 2048 },
    { .name = "RxQueueSize", .type = CCM_CLOUD_INT },
    { .name = "SecurityGroupId.N", .items = 50 },
    { .name = "SourceDestCheck", .type = CCM_CLOUD_BOOL },
    { .name = "TxQueueSize", .type = CCM_CLOUD_INT },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_ecs_change_actions[] = {
    { .name = "DeleteInstance", .params = delete_params, .run = delete_instance },
    { .name = "ModifyNetworkInterfaceAttribute",
      .params = modify_params,
      .region = true,
      .run = modify_eni },
    { 0 },
};
