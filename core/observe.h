/*
 * What the admin server tells, put together from the parts of a running daemon: probes, metrics,
 * the status page. Reads only, but for what an operator allows; every thread; nothing blocks but
 * for short locks.
 */
#ifndef CCM_OBSERVE_H
#define CCM_OBSERVE_H

#include "config.h"
#include "kube/lease.h"
#include "plugin/registry.h"
#include "reload.h"
#include "runner.h"
#include "util/buf.h"
#include "util/metrics.h"
#include "watches.h"

#include <stdatomic.h>

/* Borrowed, as long as anybody asks. */
struct ccm_observed {
    const struct ccm_config *config;
    struct ccm_registry *registry;
    struct ccm_runners *runners;
    struct ccm_watches *watches;
    struct ccm_lease *lease; /* NULL: there is no election */
    struct ccm_host_services *services;
    struct ccm_metrics *metrics;
    const char *identity;
    const struct ccm_reload *reload;
    int64_t started_ms;   /* wall clock */
    int64_t begun_ms;     /* the same by the boot clock */
    atomic_bool stopping; /* the daemon is on its way out */
};

/* As in struct ccm_admin_options; arg is a struct ccm_observed. */
void ccm_observe_live(void *arg, struct ccm_buf *wrong);
void ccm_observe_ready(void *arg, struct ccm_buf *wrong);
void ccm_observe_metrics(void *arg, struct ccm_buf *text);
void ccm_observe_status(void *arg, struct ccm_buf *html);

/* The only one that acts: allow_removals of struct ccm_admin_options. */
int ccm_observe_allow(void *arg, const char *plugin, struct ccm_buf *text);

#endif
