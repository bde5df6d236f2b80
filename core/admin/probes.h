/* What /livez and /readyz judge by: the rules, one function each. daemon/collect.c applies them to
 * the running daemon (daemon_observe_live(), daemon_observe_ready()). Pure; every thread. */
#ifndef CCM_ADMIN_PROBES_H
#define CCM_ADMIN_PROBES_H

#include "kube/cache/reflector.h"
#include "kube/lease.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* One plugin. */
struct admin_probe_plugin {
    const char *name;
    bool failed;         /* it is left out */
    bool started;        /* its workers run */
    const char *error;   /* why not, "" = not known */
    uint64_t longest_ms; /* age of its oldest running call */
    const char *longest; /* what that is; NULL: "reconcile" */
    uint64_t limit_ms;   /* age of a call that hangs: see admin_probe_limit_ms() */
};

/*
 * Each appends one line when something is wrong. Times are monotonic.
 *
 * live: nothing but a new process helps: a call that heeds no cancellation long after its deadline,
 * a thread that does not show up any more.
 */
uint64_t admin_probe_limit_ms(uint64_t timeout_ms); /* of a call with this deadline */
void admin_probe_live_plugin(const struct admin_probe_plugin *plugin, struct ccm_buf *wrong);
/* A running map(): what = "services default/web"; limit_ms: as in struct admin_probe_plugin. */
void admin_probe_live_map(const char *plugin, const char *what, int64_t age_ms, uint64_t limit_ms,
                          struct ccm_buf *wrong);
/* A running "create()" or "start()". */
void admin_probe_live_stage(const char *plugin, const char *stage, int64_t age_ms,
                            uint64_t limit_ms, struct ccm_buf *wrong);
void admin_probe_live_cache(const char *name, const struct kube_reflector_status *status,
                            int64_t now_ms, struct ccm_buf *wrong);
void admin_probe_live_lease(const struct kube_lease_status *status, int64_t now_ms,
                            struct ccm_buf *wrong);

/*
 * ready: it works, or could at once when it is its turn: a standby is ready when its caches are
 * filled and it can see the Lease.
 */
void admin_probe_ready_process(bool stopping, struct ccm_buf *wrong);
void admin_probe_ready_plugin(const struct admin_probe_plugin *plugin, bool leads,
                              struct ccm_buf *wrong);
void admin_probe_ready_cache(const char *name, const struct kube_reflector_status *status,
                             struct ccm_buf *wrong);
void admin_probe_ready_lease(const struct kube_lease_status *status, struct ccm_buf *wrong);

#endif
