/* Descriptor and life cycle of the plugin `nlb`. */
#include "alicloud/options.h"
#include "alilb/account.h"
#include "alilb/class.h"
#include "ccm/version.h"
#include "controller.h"
#include "lbc/instance.h"
#include "lint.h"

static const struct ccm_option opt_disable_public = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = NLB_PUBLIC_OPTION,
    .fallback = "false",
    .help = "Refuse to create load balancers with a public address.",
};
static const struct ccm_option *const options[] = {
    ALI_OPTIONS,    ALILB_CLASS_OPTIONS, LBC_OPTIONS,    NLB_QUOTA_OPTIONS,
    &nlb_opt_batch, &opt_disable_public, &nlb_opt_loose, NULL,
};

LBC_PLUGIN_ENTRIES(nlb_ops, NULL)

const struct ccm_plugin ccm_plugin = {
    LBC_PLUGIN,
    .name = "nlb",
    .options = options,
    .check = alilb_check,
    .plain_metrics = 1,
    .version = CCM_VERSION,
    .summary = "Services of type LoadBalancer with class alibabacloud.com/nlb as Alibaba Cloud "
               "NLB instances",
};
