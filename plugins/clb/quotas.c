/* The limits of CLB that are seen ahead: published defaults. */
#include "controller.h"

#include "lbc/quota.h"

const struct ccm_option clb_opt_quota_backends =
    LBC_QUOTA_OPTION("backends", "200", "Backends of one load balancer, in all its server groups");
const struct ccm_option clb_opt_quota_listeners =
    LBC_QUOTA_OPTION("listeners", "50", "Listeners of one load balancer");
const struct ccm_option clb_opt_quota_attachments =
    LBC_QUOTA_OPTION("attachments", "50", "Server groups that one instance may be in");
const struct ccm_option clb_opt_quota_load_balancers = LBC_QUOTA_OPTION(
    "load_balancers", "60", "Load balancers of the account; those are counted that Services have");

const struct ccm_option *const clb_quotas[LBC_QUOTA_COUNT] = {
    [LBC_QUOTA_BACKENDS] = &clb_opt_quota_backends,
    [LBC_QUOTA_LISTENERS] = &clb_opt_quota_listeners,
    [LBC_QUOTA_SERVERS] = &clb_opt_quota_attachments,
    [LBC_QUOTA_LBS] = &clb_opt_quota_load_balancers,
};
