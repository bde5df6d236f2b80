/* Descriptor and life cycle of the plugin `nlb`. */
#include "alicloud/options.h"
#include "alilb/class.h"
#include "controller.h"
#include "lbc/instance.h"
#include "lint.h"

static const struct ccm_option opt_batch = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .name = "backends_per_call",
    .fallback = "200",
    .min = 1,
    .max = NLB_BATCH_MAX,
    .help = "Most backends in one call.",
};
static const struct ccm_option opt_disable_public = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = NLB_PUBLIC_OPTION,
    .fallback = "false",
    .help = "Refuse to create load balancers with a public address.",
};
static const struct ccm_option *const options[] = {
    ALI_OPTIONS,         &alilb_opt_type, LBC_OPTIONS, &opt_batch,
    &opt_disable_public, &nlb_opt_loose,  NULL,
};

static void instance_configure(void *self)
{
    struct nlb *nlb = self;
    const struct ccm_host *host = nlb->lbc.host;
    const int64_t batch = host->option_int(host, NULL, opt_batch.name);

    lbc_configure(&nlb->lbc);
    if (host->option_int(host, alilb_opt_type.group, alilb_opt_type.name) != 0) {
        nlb->lbc.is_ours = alilb_class_is_typed_nlb;
    }
    nlb->lbc.loose = host->option_int(host, NULL, nlb_opt_loose.name) != 0;
    nlb->batch = batch < 1 || batch > NLB_BATCH_MAX ? NLB_BATCH_MAX : (size_t)batch;
    atomic_init(&nlb->jobs_reported, false);
}

static int instance_create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    return lbc_plugin_create(host, sizeof(struct nlb), &nlb_ops, instance_configure, ret_self, err);
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "nlb",
    .flags = CCM_PLUGIN_PLANS,
    .options = options,
    .watches = lbc_watches,
    .create = instance_create,
    .start = lbc_plugin_start,
    .reconcile = lbc_plugin_reconcile,
    .destroy = lbc_plugin_destroy,
    .batch_max = 1,
    .version = "0.1.0",
    .summary = "Services of type LoadBalancer with class alibabacloud.com/nlb as Alibaba Cloud "
               "NLB instances",
    .lint = nlb_lint,
    .allow_removals = lbc_plugin_allow_removals,
};
