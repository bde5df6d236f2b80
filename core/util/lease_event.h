/*
 * Events that are about no object in particular: they stand at the Lease, where operators look.
 * Every thread; blocks no longer than host->event().
 */
#ifndef CCM_UTIL_LEASE_EVENT_H
#define CCM_UTIL_LEASE_EVENT_H

#include "ccm/host.h"
#include "ccm/option.h"

#include <stdbool.h>

/* Options of a plugin that has such events: put CCM_LEASE_OPTIONS into its table. They are those of
 * the leader election. */
extern const struct ccm_option ccm_lease_opt_namespace;
extern const struct ccm_option ccm_lease_opt_name;

#define CCM_LEASE_OPTIONS &ccm_lease_opt_namespace, &ccm_lease_opt_name

void ccm_lease_emit_event(const struct ccm_host *host, const char *component, bool warning,
                          const char *reason, const char *message);

/* One that lasts, as struct ccm_event has it: to be said whenever it is found to hold. */
struct ccm_lease_standing {
    bool warning;
    const char *topic;   /* unique for the component */
    const char *reason;  /* "" with the message "" */
    const char *cause;   /* NULL = the message */
    const char *message; /* "" = it is over */
};
void ccm_lease_stand(const struct ccm_host *host, const char *component,
                     const struct ccm_lease_standing *what);

#endif
