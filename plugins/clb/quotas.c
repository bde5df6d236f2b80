/* The limits of CLB that are seen ahead: what is published. */
#include "controller.h"

#include "lbc/quota.h"
#include "util/quota_use.h"

const struct ccm_option clb_opt_quotas =
    CCM_QUOTA_OPTION("backends|listeners|attachments|load_balancers",
                     "per load balancer backends=200 and listeners=50; per instance "
                     "attachments=50, the server groups "
                     "that it is in; of all Services load_balancers=60");
const struct ccm_option clb_opt_quota_backends = CCM_QUOTA_RETIRED_ROW("backends");
const struct ccm_option clb_opt_quota_listeners = CCM_QUOTA_RETIRED_ROW("listeners");
const struct ccm_option clb_opt_quota_attachments = CCM_QUOTA_RETIRED_ROW("attachments");
const struct ccm_option clb_opt_quota_load_balancers = CCM_QUOTA_RETIRED_ROW("load_balancers");

const struct lbc_quota_limit clb_quotas[LBC_QUOTA_COUNT] = {
    [LBC_QUOTA_BACKENDS] = { "backends", 200 },
    [LBC_QUOTA_LISTENERS] = { "listeners", 50 },
    [LBC_QUOTA_SERVERS] = { "attachments", 50 },
    [LBC_QUOTA_LBS] = { "load_balancers", 60 },
};
