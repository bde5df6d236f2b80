#include "util/lease_event.h"

#include "ccm/object.h"
#include "util/text.h"

const struct ccm_option ccm_lease_opt_namespace = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "leader_election",
    .name = "namespace",
    .fallback = "kube-system",
    .help = "Namespace of the Lease.",
};
const struct ccm_option ccm_lease_opt_name = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .group = "leader_election",
    .name = "name",
    .fallback = "ccm",
    .help = "Name of the Lease.",
};

void ccm_lease_stand(const struct ccm_host *host, const char *component,
                     const struct ccm_lease_standing *what)
{
    const struct ccm_option *const space = &ccm_lease_opt_namespace;
    const struct ccm_option *const name = &ccm_lease_opt_name;
    char key[512];
    const struct ccm_raw lease = {
        .meta = { .struct_size = sizeof(lease),
                  .kind = CCM_KIND_RAW,
                  .key = key,
                  .namespace_ = host->option_string(host, space->group, space->name),
                  .name = host->option_string(host, name->group, name->name),
                  .uid = "",
                  .resource_version = "" },
        .api_version = "coordination.k8s.io/v1",
        .kind_name = "Lease",
        .json = "",
    };
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = &lease.meta,
        .component = component,
        .reason = what->reason,
        .message = what->message,
        .warning = what->warning ? 1 : 0,
        .topic = what->topic,
        .cause = what->cause,
    };

    ccm_text_printf(key, sizeof(key), "%.253s/%.253s", lease.meta.namespace_, lease.meta.name);
    host->event(host, &event);
}

void ccm_lease_emit_event(const struct ccm_host *host, const char *component, bool warning,
                          const char *reason, const char *message)
{
    const struct ccm_lease_standing once = { .warning = warning,
                                             .reason = reason,
                                             .message = message };

    ccm_lease_stand(host, component, &once);
}
