/* How plugins/lbc gets at all that is CLB's. */
#include "controller.h"

#include "alilb/read.h"
#include "apply.h"
#include "clb.h"
#include "lbc/model/owner.h"
#include "lint.h"
#include "model_listeners.h"
#include "read.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

/* --- what it is --- */

const struct ccm_option clb_opt_batch = CCM_OPTION_RETIRED_ROW(
    NULL, "backends_per_call", "it is 40, and 20 once the cloud refuses more");

/* An access list for spec.loadBalancerSourceRanges: once no listener is bound to it nothing tells
 * that there is one. */
static bool needs_mark(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return (lbc->extras & CLB_EXTRA_RANGES) != 0 && lbc_setting_limits_sources(service);
}

/* spec.loadBalancerSourceRanges, which is no annotation's fault. */
static int refuse_acl(const struct lbc_instance *lbc, struct lbc_refusals *refusals)
{
    CCM_CLEANUP(clb_state_fini) struct clb_state ignored = { .lb = { .lbc.id = NULL } };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = clb_model_acl(&ignored, refusals->service, lbc->extras, &err);

    return r == -EINVAL ? lbc_refusals_add(refusals, NULL, &err) : r;
}

static const struct lbc_product product = {
    .name = "clb",
    .finalizer = CLB_FINALIZER,
    .component = CLB_COMPONENT,
    .extra_label = CLB_ACL_LABEL,
    .reused_label = LBC_LIFE_REUSED_LABEL "clb",
    .type = "CLBType",
    .quotas = clb_quotas,
    .invalid_text = "has invalid backend in vservergroups",
    .missing_text = { "Not sync pods [", "] whose eni is invalid" },
    .no_backends_text = "There are no available nodes for LoadBalancer",
    .console = "slb",
    .probes_from = "100.64.0.0/10",
    .vswitch_from = "annotation vswitch-id, option vswitch_ids of group alicloud",
    .traits = LBC_FINDS_SHOWN | LBC_MUST_RUN | LBC_RELEASES_BY_LABEL | LBC_CREATES_ONCE |
              LBC_COUNTS_PROBLEMS,
    .needs_mark = needs_mark,
    .refuse = refuse_acl,
};

/* --- what it does --- */

static const struct lbc_read_ops read_ops = {
    .lb = alilb_read_pass_lb,
    .address = clb_sync_address,
    .holds_shown = clb_sync_holds_shown,
    .parts = clb_sync_read_parts,
    .details = clb_sync_read_details,
    .health = clb_sync_read_health,
    .vswitches = clb_sync_vswitches,
    .vswitch = alilb_read_vswitch,
    .release = clb_release_read,
};

static const struct lbc_change_ops change_ops = {
    .rules = &clb_plan_ops,
    .steps = &clb_apply_ops.lbc,
    .apply = alilb_apply_plan,
    .release_rest = clb_release_acl,
};

static const struct lbc_status_ops status_ops = {
    .publish = clb_sync_publish,
    .emit_events = clb_emit_events,
};

const struct lbc_ops clb_ops = {
    .product = &product,
    .cloud = &alilb_cloud_ops,
    .mirror = &clb_state_type,
    .inventory = &clb_inventory_ops,
    .model = &clb_model_ops,
    .read = &read_ops,
    .change = &change_ops,
    .status = &status_ops,
};
