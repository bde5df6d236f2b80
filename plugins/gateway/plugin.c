/* Descriptor and life cycle of the plugin `gateway`. */
#include "alicloud/options.h"
#include "alilb/account.h"
#include "alilb/uploads.h"
#include "controller.h"
#include "lbc/instance.h"
#include "mapping.h"
#include "memory.h"
#include "nlb/controller.h"
#include "nlb/lint.h"
#include "reconcile.h"
#include "secret.h"
#include "view.h"

#include <stdlib.h>

static const struct ccm_option *const options[] = {
    ALI_OPTIONS,       &gateway_opt_controller,
    LBC_OPTIONS,       NLB_QUOTA_OPTIONS,
    &nlb_opt_batch,    &gateway_opt_disable_public,
    &alilb_opt_upload, &gateway_opt_keep_ports,
    &nlb_opt_loose,    NULL,
};

static void plugin_destroy(void *arg)
{
    struct gateway *self = arg;

    if (self->lbc != NULL) {
        lbc_plugin_destroy(self->lbc);
    }
    lbc_custom_front_fini(&self->front);
    alilb_uploads_free(self->uploads);
    gateway_past_free(self->past);
    free(self->mark);
    free(self);
}

static int plugin_create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    struct gateway *self = calloc(1, sizeof(*self));
    void *lbc = NULL;
    int r = 0;

    if (self == NULL) {
        return ccm_error_nomem(err);
    }
    self->host = host;
    self->controller = host->option_string(host, NULL, gateway_opt_controller.name);
    gateway_controller_init(self);
    self->uploads = alilb_uploads_new();
    self->past = gateway_past_new();
    r = self->uploads == NULL || self->past == NULL ||
                lbc_custom_front_init(&self->front, &gateway_views, self->finalizer, host,
                                      sizeof(struct gateway_memory)) < 0
            ? ccm_error_nomem(err)
            : lbc_plugin_create(&self->front.relay.host, &self->ops, NULL, &lbc, err);
    self->lbc = lbc;
    if (r == 0 && gateway_secrets_init(self) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r < 0) {
        plugin_destroy(self);
        return r;
    }
    *ret_self = self;
    return 0;
}

static int plugin_start(void *self, struct ccm_error *err)
{
    return lbc_plugin_start(((struct gateway *)self)->lbc, err);
}

static int64_t plugin_allow_removals(void *self)
{
    return lbc_plugin_allow_removals(((struct gateway *)self)->lbc);
}

static uint64_t plugin_resync(void *self, const char *key)
{
    alilb_uploads_forget_list(((struct gateway *)self)->uploads);
    return lbc_plugin_resync(((struct gateway *)self)->lbc, key);
}

static int plugin_describe(void *self, const char *key, const struct ccm_view_sink *sink)
{
    return lbc_plugin_describe(((struct gateway *)self)->lbc, key, sink);
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "gateway",
    .flags = CCM_PLUGIN_PLANS,
    .options = options,
    .watches = gateway_watches,
    .create = plugin_create,
    .start = plugin_start,
    .reconcile = gateway_reconcile,
    .destroy = plugin_destroy,
    .batch_max = 1,
    .allow_removals = plugin_allow_removals,
    .resync = plugin_resync,
    .rights = gateway_rights,
    .describe = plugin_describe,
    .check = alilb_check,
    .metrics = lbc_metrics,
    .version = "0.1.0",
    .summary = "Gateways of the Gateway API with TCP, UDP and TLS routes as Alibaba Cloud NLB "
               "instances",
};
