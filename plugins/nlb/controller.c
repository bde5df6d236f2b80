/* How plugins/lbc gets at all that is NLB's. */
#include "controller.h"

#include "alilb/read.h"
#include "annotation_text.h"
#include "apply.h"
#include "lbc/model/annotation.h"
#include "lint.h"
#include "owner_key.h"
#include "read.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* --- what it is --- */

const struct ccm_option nlb_opt_batch =
    CCM_OPTION_RETIRED_ROW(NULL, "backends_per_call", "it is 200");

/* A security group for spec.loadBalancerSourceRanges. */
static bool needs_mark(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    (void)lbc;
    return service->source_range_count > 0 && !lbc_setting_is_reused(service);
}

/* What is no annotation's fault. */
static int refuse_ranges(const struct lbc_instance *lbc, struct lbc_refusals *refusals)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)lbc; /* it holds for all */
    return nlb_check_source_ranges(refusals->service, &err) < 0
               ? lbc_refusals_add(refusals, NULL, &err)
               : 0;
}

static const struct lbc_product product = {
    .name = "nlb",
    .finalizer = NLB_FINALIZER,
    .component = NLB_COMPONENT,
    .extra_label = NLB_SECURITY_GROUP_LABEL,
    .reused_label = LBC_LIFE_REUSED_LABEL "nlb",
    .type = "NLBType",
    .quotas = nlb_quotas,
    .invalid_text = "has invalid server in server groups",
    .missing_text = { "Not sync pods whose eni is invalid: ", "" },
    .kept_text = { "Skip delete and update servers to servergroup ", " due to invalid servers: " },
    .no_backends_text = "There are no available nodes for NetworkLoadBalancer",
    .console = "nlb",
    .probes_from = "the addresses of the load balancer in its vSwitches",
    .vswitch_from = "annotation zone-maps",
    .traits = LBC_NEEDS_PORT | LBC_CREATES_ONCE | LBC_FORGIVES_REUSED | LBC_MEASURES_AGAIN,
    .needs_mark = needs_mark,
    .refuse = refuse_ranges,
};

/* --- what it does --- */

static const struct lbc_read_ops read_ops = {
    .lb = alilb_read_pass_lb,
    .address = nlb_sync_address,
    .holds_shown = alilb_read_shown,
    .parts = nlb_sync_read_parts,
    .health = nlb_sync_read_health,
    .vswitches = nlb_sync_vswitches,
    .vswitch = alilb_read_vswitch,
    .release = nlb_release_read,
};

static const struct lbc_change_ops change_ops = {
    .rules = &nlb_plan_ops,
    .steps = &nlb_apply_ops.lbc,
    .apply = alilb_apply_plan,
    .record = nlb_sync_record,
};

static const struct lbc_status_ops status_ops = {
    .publish = nlb_sync_publish,
    .emit_events = nlb_emit_events,
};

const struct lbc_ops nlb_ops = {
    .product = &product,
    .cloud = &alilb_cloud_ops,
    .mirror = &nlb_state_type,
    .inventory = &nlb_inventory_ops,
    .model = &nlb_model_ops,
    .read = &read_ops,
    .change = &change_ops,
    .status = &status_ops,
};
