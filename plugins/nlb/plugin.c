/* Descriptor and life cycle of the plugin `nlb`. */
#include "controller.h"
#include "lint.h"
#include "service/class.h"
#include "service/instance.h"

#include <stdlib.h>

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
    .name = "disable_public_nlb",
    .fallback = "false",
    .help = "Refuse to create load balancers with a public address.",
};
static const struct ccm_option *const options[] = {
    CCM_ALI_OPTIONS, CCM_LBC_OPTIONS, &opt_batch, &opt_disable_public, NULL,
};

static const struct ccm_lbc_names names = {
    .finalizer = NLB_FINALIZER,
    .component = NLB_COMPONENT,
    .extra_label = NLB_GUARD_LABEL,
    .type = "NLBType",
    .verb = "reconcile",
};

static void destroy(void *self)
{
    struct nlb *nlb = self;

    ccm_lbc_fini(&nlb->lbc);
    free(nlb);
}

/* Options that may change at any time. */
static void follow(struct nlb *nlb)
{
    const struct ccm_host *host = nlb->lbc.host;

    atomic_store(&nlb->disable_public, host->option_int(host, NULL, opt_disable_public.name) != 0);
}

static void configure(struct nlb *nlb, const struct ccm_host *host)
{
    const int64_t batch = host->option_int(host, NULL, opt_batch.name);

    ccm_lbc_configure(&nlb->lbc, ccm_class_is_typed_nlb);
    nlb->batch = batch < 1 || batch > NLB_BATCH_MAX ? NLB_BATCH_MAX : (size_t)batch;
    follow(nlb);
    atomic_init(&nlb->told_jobs, false);
}

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    struct nlb *nlb = calloc(1, sizeof(*nlb));

    if (nlb == NULL) {
        return ccm_error_nomem(err);
    }
    const int r = ccm_lbc_init(&nlb->lbc, host, &nlb_ops, &names, err);

    if (r < 0) {
        destroy(nlb);
        return r;
    }
    configure(nlb, host);
    *ret_self = nlb;
    return 0;
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    follow(self);
    return ccm_lbc_plugin_reconcile(self, req, ret, err);
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "nlb",
    .flags = CCM_PLUGIN_PLANS,
    .options = options,
    .watches = ccm_lbc_watches,
    .create = create,
    .start = ccm_lbc_plugin_start,
    .reconcile = reconcile,
    .destroy = destroy,
    .batch_max = 1,
    .version = "0.1.0",
    .summary = "Services of type LoadBalancer with class alibabacloud.com/nlb as Alibaba Cloud "
               "NLB instances",
    .lint = nlb_lint,
};
