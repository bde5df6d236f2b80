/* The limits of NLB that are seen ahead: published defaults. */
#include "controller.h"

#include "lbc/quota.h"

const struct ccm_option nlb_opt_quota_backends =
    LBC_QUOTA_OPTION("backends", "400", "Backends of one load balancer, in all its server groups");
const struct ccm_option nlb_opt_quota_listeners =
    LBC_QUOTA_OPTION("listeners", "50", "Listeners of one load balancer");
const struct ccm_option nlb_opt_quota_attachments =
    LBC_QUOTA_OPTION("attachments", "200", "Server groups that one instance may be in");
const struct ccm_option nlb_opt_quota_groups = LBC_QUOTA_OPTION(
    "groups", "3000",
    "Server groups of the account in the region; those are counted that Services have");
const struct ccm_option nlb_opt_quota_load_balancers = LBC_QUOTA_OPTION(
    "load_balancers", "60",
    "Load balancers of the account in the region; those are counted that Services have");

const struct ccm_option *const nlb_quotas[LBC_QUOTA_COUNT] = {
    [LBC_QUOTA_BACKENDS] = &nlb_opt_quota_backends,
    [LBC_QUOTA_LISTENERS] = &nlb_opt_quota_listeners,
    [LBC_QUOTA_SERVERS] = &nlb_opt_quota_attachments,
    [LBC_QUOTA_GROUPS] = &nlb_opt_quota_groups,
    [LBC_QUOTA_LBS] = &nlb_opt_quota_load_balancers,
};
