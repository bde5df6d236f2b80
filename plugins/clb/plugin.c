/* Descriptor and life cycle of the plugin `clb`. */
#include "alicloud/client.h"
#include "clb.h"
#include "inventory.h"
#include "lint.h"
#include "mirror.h"
#include "model_listeners.h"
#include "reconcile.h"
#include "service/class.h"

#include <stdlib.h>
#include <string.h>

/* Node events come in bursts; this lets one pass serve several of them. */
#define NODE_DELAY_MS 50

static const struct ccm_option opt_backend_type = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = "default_backend_type",
    .fallback = "ecs",
    .values = "ecs|eni",
    .help = "What serves Services that do not say: ecs (nodes, by node port) or eni (pods, by "
            "their own address; needs a network where pods have interfaces).",
};
static const struct ccm_option opt_batch = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .name = "backends_per_call",
    .fallback = "40",
    .min = 1,
    .max = 40,
    .help = "Most backends in one call; lowered to 20 by itself when the cloud refuses more.",
};
static const struct ccm_option opt_disable_public = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "disable_public_slb",
    .fallback = "false",
    .help = "Refuse to create load balancers with a public address.",
};
static const struct ccm_option opt_source_ranges = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "source_ranges",
    .fallback = "false",
    .help = "Let spec.loadBalancerSourceRanges decide who may connect, through an access list that "
            "is made, kept and deleted with the Service.",
};
static const struct ccm_option opt_affinity = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "session_affinity",
    .fallback = "false",
    .help = "Let spec.sessionAffinity ClientIP keep a client on its backend for up to an hour, on "
            "tcp ports without annotation persistence-timeout.",
};
static const struct ccm_option opt_node_check = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "node_port_health_check",
    .fallback = "false",
    .help = "Check the nodes of Services with externalTrafficPolicy Local by their "
            "healthCheckNodePort instead of by the port that serves; annotations go first.",
};
static const struct ccm_option opt_audit = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .name = "audit_interval_s",
    .fallback = "3600",
    .min = 0,
    .max = 86400,
    .help = "How often each load balancer is compared with its Service although nothing changed in "
            "Kubernetes, to repair what somebody changed in the cloud; every Service at its own "
            "time, up to a fifth earlier or later. 0 = never.",
};
static const struct ccm_option opt_ip_mode = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = "status_ip_mode",
    .fallback = "",
    .values = "VIP|Proxy",
    .help = "ipMode of the addresses in the status of Services, for Kubernetes 1.30 or later: VIP "
            "(nodes may send traffic to them straight to the pods) or Proxy (it has to pass the "
            "load balancer). Empty = not written.",
};
static const struct ccm_option opt_conditions = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "service_conditions",
    .fallback = "false",
    .help =
        "Keep condition ccm.alibabacloud.com/LoadBalancerReady in the status of Services: True, "
        "or False with the reason.",
};
static const struct ccm_option *const options[] = {
    CCM_ALI_OPTIONS,
    &opt_backend_type,
    &opt_batch,
    &opt_disable_public,
    &opt_source_ranges,
    &opt_affinity,
    &opt_node_check,
    &opt_audit,
    &opt_ip_mode,
    &opt_conditions,
    NULL,
};

static void map_service(void *self, const struct ccm_change *change)
{
    ccm_mapping_service(&((struct clb *)self)->mapping, change);
}

static void map_slice(void *self, const struct ccm_change *change)
{
    ccm_mapping_slice(&((struct clb *)self)->mapping, change);
}

static void map_node(void *self, const struct ccm_change *change)
{
    ccm_mapping_node(&((struct clb *)self)->mapping, change, NODE_DELAY_MS);
}

static const struct ccm_watch watch_service = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = map_service,
};
static const struct ccm_watch watch_slice = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_ENDPOINT_SLICE,
    .map = map_slice,
};
static const struct ccm_watch watch_node = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = map_node,
};
static const struct ccm_watch *const watches[] = { &watch_service, &watch_slice, &watch_node,
                                                   NULL };

static void destroy(void *self)
{
    struct clb *clb = self;

    clb_inventory_free(clb->inventory);
    clb_store_free(clb->store);
    if (clb->ali != NULL) {
        ccm_ali_release(clb->ali);
    }
    free(clb);
}

static void configure(struct clb *clb, const struct ccm_host *host)
{
    const char *type = host->option_string(host, NULL, opt_backend_type.name);

    clb->host = host;
    clb->default_eni = strcmp(type, "eni") == 0;
    clb->disable_public = host->option_int(host, NULL, opt_disable_public.name) != 0;
    clb->extras =
        (host->option_int(host, NULL, opt_source_ranges.name) != 0 ? CLB_EXTRA_RANGES : 0) |
        (host->option_int(host, NULL, opt_affinity.name) != 0 ? CLB_EXTRA_AFFINITY : 0) |
        (host->option_int(host, NULL, opt_node_check.name) != 0 ? CLB_EXTRA_HEALTH : 0);
    atomic_init(&clb->batch, (unsigned)host->option_int(host, NULL, opt_batch.name));
    clb->audit_ms = host->option_int(host, NULL, opt_audit.name) * 1000;
    clb->ip_mode = host->option_string(host, NULL, opt_ip_mode.name);
    clb->conditions = host->option_int(host, NULL, opt_conditions.name) != 0;
    atomic_init(&clb->audits, 0);
    clb->life = (struct ccm_life){ host, CLB_FINALIZER, CLB_COMPONENT };
    clb->mapping = (struct ccm_mapping){
        .host = host,
        .finalizer = CLB_FINALIZER,
        .component = CLB_COMPONENT,
        .default_eni = clb->default_eni,
        .is_ours = ccm_class_is_clb,
    };
}

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    struct clb *clb = calloc(1, sizeof(*clb));
    int r;

    if (clb == NULL) {
        return ccm_error_nomem(err);
    }
    configure(clb, host);
    if (atomic_load(&clb->batch) < 1 || atomic_load(&clb->batch) > CLB_BATCH_DEFAULT) {
        atomic_store(&clb->batch, CLB_BATCH_DEFAULT);
    }
    clb->store = clb_store_new();
    clb->inventory = clb_inventory_new();
    r = clb->store == NULL || clb->inventory == NULL ? ccm_error_nomem(err)
                                                     : ccm_ali_acquire(host, &clb->ali, err);
    if (r < 0) {
        destroy(clb);
        return r;
    }
    *ret_self = clb;
    return 0;
}

/* Everything we own is marked with the cluster's id: without one, two clusters would own the same.
 */
static int start(void *self, struct ccm_error *err)
{
    struct clb *clb = self;
    const int r = ccm_ali_start(clb->ali, clb->host, err);

    if (r == 0 && ccm_ali_cluster_id(clb->ali)[0] == '\0') {
        return ccm_error_set(
            err, -EINVAL, CCM_ERROR_TERMINAL,
            "option cluster_id of group alicloud is not set: it marks what belongs "
            "to this cluster and must be unique");
    }
    return r;
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    return clb_reconcile(self, req, ret, err);
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "clb",
    .options = options,
    .watches = watches,
    .create = create,
    .start = start,
    .reconcile = reconcile,
    .destroy = destroy,
    .batch_max = 1,
    .version = "0.1.0",
    .summary = "Services of type LoadBalancer as Alibaba Cloud CLB instances",
    .lint = clb_lint,
};
