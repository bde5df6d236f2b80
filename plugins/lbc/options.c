/* Options that controllers of all kinds of load balancers have. */
#include "lbc/instance.h"

const struct ccm_option lbc_opt_endpoints = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_LIVE,
    .name = "endpoints",
    .fallback = "any",
    .values = "any|pods",
    .help = "Which endpoints become backends at their own address: any, or pods (only those whose "
            "targetRef is a pod of the Service's namespace, so that slices written by hand lead "
            "nowhere; the API server does not check a targetRef). The address of a node does only "
            "for a pod with hostNetwork. A new value counts for a Service from its next change "
            "on.",
};
const struct ccm_option lbc_opt_audit = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .name = "audit_interval_s",
    .fallback = "3600",
    .min = 0,
    .max = 86400,
    .help =
        "How often each load balancer is audited: compared with its Service although nothing "
        "changed in Kubernetes, to repair changes made in the cloud. Every Service has its own "
        "time, up to a fifth earlier or later. At this interval the cloud is also searched for "
        "what carries the cluster's mark and has no Service: one call per hundred load balancers, "
        "groups or lists. 0 = never. A new value counts for a Service from its next audit or "
        "change on.",
};
const struct ccm_option lbc_opt_unserved = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .name = "unserved_wait_s",
    .fallback = "10",
    .min = 0,
    .max = 3600,
    .help = "So long a port may be without any ready backend, as when pods start, before that is "
            "told: Warning UnAvailableLoadBalancer with the cause, and the condition. The metric "
            "ccmd_unserved_ports and /statusz show it at once.",
};
const struct ccm_option lbc_opt_lost = CCM_OPTION_RETIRED_ROW(NULL, "lost_period_s", "it is 60 s");
const struct ccm_option lbc_opt_health = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "backend_health",
    .fallback = "true",
    .help =
        "Read what health checks say with each second look (audit_interval_s) and half a minute "
        "after a load balancer was made, behind all other calls: Warning UnhealthyBackends names "
        "ports without any healthy backend, and the condition. While there are such they are "
        "read again after 1, 2, 4 and so on minutes. CLB: also when the certificates of https "
        "listeners end, one call each (CertificateExpires). With second looks also how many "
        "addresses vSwitches of load balancers have left, one call per vSwitch and interval "
        "(QuotaNear).",
};
const struct ccm_option lbc_opt_recreate = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "recreate_deleted",
    .fallback = "false",
    .help = "Create another load balancer, with another address, for a Service whose load balancer "
            "was deleted in the cloud. For a minute, the cloud must not have the id in the "
            "Service's label, and must list another load balancer of the cluster if there is any. "
            "Without this option, an event has the command that asks for one.",
};
const struct ccm_option lbc_opt_filter =
    CCM_OPTION_RETIRED_ROW(NULL, "filter_services_on_node_change",
                           "a change of a node is compared with all Services, which costs no call");
const struct ccm_option lbc_opt_orphan_period =
    CCM_OPTION_RETIRED_ROW(NULL, "orphan_period_s", "it is audit_interval_s");
const struct ccm_option lbc_opt_orphan_cleanup = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "orphan_cleanup",
    .fallback = "false",
    .help = "Delete what carries the cluster's mark and has had no Service in two looks and for "
            "missing_wait_s; of all that is ours at most removal_share_percent within "
            "removal_window_s. Else, and with cluster_id \"clusterid\", which other clusters may "
            "have too, it is only named: event OrphanLoadBalancers of the Lease.",
};
/* All plugins have to agree about it, hence the group. */

const struct ccm_option lbc_opt_allowed = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRINGS,
    .flags = CCM_OPTION_LIVE,
    .name = "allowed_ids",
    .help =
        "Which ids of the account the Services of a namespace may name in annotations: a list of "
        "namespace:kind:id, where each part may be * and namespace and id may end with it. Kinds: "
        "certificate, acl, security-group, bandwidth-package, eip (of zone-maps), server-group (of "
        "vgroup-port). What the list does not name is refused, and what the annotation is for "
        "stays as it is. Empty = everything is allowed. Load balancers: option reuse.",
};

const struct ccm_option lbc_opt_taken = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_LIVE,
    .name = "taken_listeners",
    .fallback = "restore",
    .values = "restore|delete",
    .help = "What becomes, at the end, of a person's listener that a Service took over with "
            "annotation force-override-listeners: restore (server group, description and the "
            "attributes that were changed are put back; they are kept in labels of the Service) or "
            "delete.",
};
