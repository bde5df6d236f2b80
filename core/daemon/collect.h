/*
 * What the admin server tells, put together from the parts of a running daemon: probes, metrics,
 * the status page. Reads only, but for what an operator allows; every thread; nothing blocks but
 * for short locks.
 */
#ifndef CCM_DAEMON_COLLECT_H
#define CCM_DAEMON_COLLECT_H

#include "admin/server.h"
#include "config/load.h"
#include "daemon/caches.h"
#include "daemon/reload.h"
#include "daemon/runner.h"
#include "kube/lease.h"
#include "plugin/registry.h"
#include "util/buf.h"
#include "util/metrics.h"

#include <stdatomic.h>

/* Borrowed, as long as anybody asks. */
struct daemon_observed {
    const struct config_tree *config;
    struct plugin_registry *registry;
    struct daemon_runners *runners;
    struct daemon_watches *watches;
    struct kube_lease *lease; /* NULL: there is no election */
    struct daemon_host_services *services;
    struct ccm_metrics *metrics;
    const char *identity;
    const struct daemon_reload *reload;
    _Atomic(const struct admin_server *) admin; /* NULL: nobody listens, or not yet */
    int64_t started_ms;                         /* wall clock */
    int64_t begun_ms;                           /* the same by the boot clock */
    atomic_bool stopping;                       /* the daemon is on its way out */
    /* create() of the plugins runs: of the above only config, runners, services and metrics count.
     */
    atomic_bool creating;
};

/* As in struct admin_options; arg is a struct daemon_observed. */
void daemon_observe_live(void *arg, struct ccm_buf *wrong);
/* The part of it that is about calls into plugins, once they hang grace_ms longer than that. */
void daemon_observe_hung(struct daemon_observed *seen, int64_t grace_ms, struct ccm_buf *wrong);
void daemon_observe_ready(void *arg, struct ccm_buf *wrong);
void daemon_observe_metrics(void *arg, struct ccm_buf *text);
int daemon_observe_status(void *arg, const struct admin_status_request *request,
                          struct ccm_buf *text);
bool daemon_observe_idle(void *arg, int64_t horizon_ms, struct ccm_buf *json);

/* Those that act: allow_removals and resync of struct admin_options. */
int daemon_observe_allow(void *arg, const char *plugin, struct ccm_buf *text);
int daemon_observe_resync(void *arg, const char *key, struct ccm_buf *text);

#endif
