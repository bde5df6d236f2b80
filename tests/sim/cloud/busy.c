#include "busy.h"

#include "plain.h"
#include "store.h"
#include "util/clock.h"
#include "util/text.h"

/* The load balancer that the parameters name, directly or by something of it. NULL: none. */
static struct ccm_cloud_lb *lb_find(const struct ccm_cloud_call *call)
{
    const char *id = ccm_cloud_text(call, "LoadBalancerId", NULL);
    const char *group_id = ccm_cloud_text(call, "VServerGroupId", NULL);
    const char *extension_id = ccm_cloud_text(call, "DomainExtensionId", NULL);

    if (id == NULL && group_id != NULL) {
        struct ccm_cloud_vgroup *group = ccm_cloud_vgroup_get(call->cloud, group_id);

        return group == NULL ? NULL : group->lb;
    }
    if (id == NULL && extension_id != NULL) {
        struct ccm_cloud_obj *extension =
            ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EXTENSION, extension_id);

        id = extension == NULL ? NULL : ccm_cloud_attr(extension, "LoadBalancerId");
    }
    return id == NULL ? NULL : ccm_cloud_lb_get(call->cloud, id);
}

int ccm_cloud_busy_check(struct ccm_cloud_call *call)
{
    static const struct {
        const char *code;
        unsigned http;
        const char *message;
    } rows[] = {
        { "ServiceIsConfiguring", 400,
          "A previous configuration is pending; please try again later." },
        { "BackendServer.configuring", 409,
          "A previous configuration of the load balancer is pending; please try again later." },
        { "VServerGroupProcessing", 400,
          "A previous configuration of the VServer group is pending; please try again later." },
        { "DomainExtensionProcessing", 400,
          "A previous configuration of the DomainExtension is pending, please try again later." },
        { "OperationBusy", 400, "A previous operation is pending." },
        { "SystemBusy", 400, "The system is busy." },
    };

    if (call->action->busy == NULL || call->cloud->limits.slb_busy_ms == 0) {
        return 0;
    }

    const struct ccm_cloud_lb *lb = lb_find(call);

    /* What names it may be gone after the change: a deleted group. */
    ccm_text_copy(call->busy_lb, sizeof(call->busy_lb), lb == NULL ? "" : lb->obj.id);
    if (lb == NULL || ccm_clock_now_ms() >= lb->busy_until_ms) {
        return 0;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (ccm_text_equal(rows[i].code, call->action->busy)) {
            return ccm_cloud_fail(call, rows[i].http, rows[i].code, "%s", rows[i].message);
        }
    }
    return ccm_cloud_fail(call, 400, call->action->busy, "An earlier change is not finished.");
}

void ccm_cloud_busy_mark(struct ccm_cloud_call *call)
{
    if (call->action->busy == NULL || call->cloud->limits.slb_busy_ms == 0) {
        return;
    }

    struct ccm_cloud_lb *lb = ccm_cloud_lb_get(call->cloud, call->busy_lb);

    if (lb != NULL) {
        lb->busy_until_ms = ccm_clock_now_ms() + call->cloud->limits.slb_busy_ms;
    }
}
