/* Descriptor and life cycle of the plugin `clb`. */
#include "alicloud/options.h"
#include "alilb/account.h"
#include "alilb/class.h"
#include "ccm/version.h"
#include "controller.h"
#include "lbc/instance.h"
#include "lbc/rules/inside.h"
#include "lint.h"
#include "model_listeners.h"

static const struct ccm_option opt_disable_public = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = CLB_PUBLIC_OPTION,
    .fallback = "false",
    .help = "Refuse to create load balancers with a public address.",
};
static const struct ccm_option opt_node_check = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "node_port_health_check",
    .fallback = "false",
    .help = "Check the nodes of Services with externalTrafficPolicy Local by their "
            "healthCheckNodePort instead of by the port that serves; annotations go first. On any "
            "other Service annotations or defaults replace an http check of /healthz at a port "
            "that no annotation names. Switched off, they replace such a check where that port is "
            "the Service's healthCheckNodePort, or 30000 to 32767.",
};
static const struct ccm_option opt_ip_mode = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = LBC_IP_MODE_OPTION,
    .fallback = LBC_IP_MODE_AUTO,
    .values = "auto|VIP|Proxy|off",
    .help = "ipMode of the addresses in the status of Services, for Kubernetes 1.30 or later: VIP "
            "(nodes may send traffic to them straight to the pods) or Proxy (it has to pass the "
            "load balancer). auto: Proxy for Services with http or https listeners or proxy "
            "protocol, where the API server knows the field; the rest stays VIP, as on tcp and udp "
            "listeners a node cannot be client and backend at once. off: not written.",
};
static const struct ccm_option *const options[] = {
    ALI_OPTIONS,
    ALILB_CLASS_OPTIONS,
    LBC_OPTIONS,
    CLB_QUOTA_OPTIONS,
    &clb_opt_batch,
    &opt_disable_public,
    &clb_opt_ranges,
    &clb_opt_affinity,
    &opt_node_check,
    &opt_ip_mode,
    NULL,
};

static void instance_configure(struct lbc_instance *lbc)
{
    const struct ccm_host *host = lbc->host;

    lbc->extras =
        (host->option_int(host, NULL, clb_opt_ranges.name) != 0 ? CLB_EXTRA_RANGES : 0) |
        (host->option_int(host, NULL, clb_opt_affinity.name) != 0 ? CLB_EXTRA_AFFINITY : 0) |
        (host->option_int(host, NULL, opt_node_check.name) != 0 ? CLB_EXTRA_HEALTH : 0);
    lbc->ip_mode = host->option_string(host, NULL, opt_ip_mode.name);
}

LBC_PLUGIN_ENTRIES(clb_ops, instance_configure)

const struct ccm_plugin ccm_plugin = {
    LBC_PLUGIN,
    .name = "clb",
    .options = options,
    .check = alilb_check,
    .plain_metrics = 1,
    .version = CCM_VERSION,
    .summary = "Services of type LoadBalancer as Alibaba Cloud CLB instances",
};
