/*
 * The host table of a plugin: struct ccm_host on top of the parts of the daemon. One per plugin,
 * because options, log lines and queue are its own.
 */
#ifndef CCM_HOST_TABLE_H
#define CCM_HOST_TABLE_H

#include "ccm/plugin.h"
#include "config.h"
#include "held.h"
#include "kube/client.h"
#include "kube/continuity.h"
#include "kube/event.h"
#include "kube/store.h"
#include "net/http.h"
#include "plan.h"
#include "sched/controller.h"
#include "util/attr.h"
#include "util/gate.h"
#include "util/metrics.h"

#define CCM_HOST_KINDS (CCM_KIND_RAW + 1)

/* The cache of a resource that has no type of its own. */
struct ccm_raw_store {
    const char *api_version;
    const char *resource;
    struct ccm_store *store;
};

/* What all plugins share. Owned by the daemon, outlives every host; unchanged once plugins run. */
struct ccm_host_services {
    struct ccm_http *http;
    struct ccm_kube_client *kube;
    struct ccm_event_recorder *events;
    const struct ccm_config *_Atomic config;  /* the newest snapshot, see reload.h */
    struct ccm_store *stores[CCM_HOST_KINDS]; /* by kind; NULL = nobody watches it */
    const struct ccm_raw_store *raw;          /* those of CCM_KIND_RAW */
    size_t raw_count;

    struct ccm_continuity continuity; /* whether it is one API server that answers */
    struct ccm_metrics *metrics;      /* NULL: nobody asks for any */
    struct ccm_gate gate;       /* whether this instance leads: closed until somebody opens it */
    struct ccm_plan_book *plan; /* a dry run: nothing goes out, all is noted here; NULL = none */
};

struct ccm_plugin_host;

/* name: of the plugin, copied. NULL on ENOMEM. */
struct ccm_plugin_host *ccm_plugin_host_new(struct ccm_host_services *services, const char *name);

/* After destroy() of the plugin. NULL is fine. */
void ccm_plugin_host_free(struct ccm_plugin_host *host);

/* What create() gets; valid until ccm_plugin_host_free(). */
const struct ccm_host *ccm_plugin_host_table(struct ccm_plugin_host *host);

/* Where enqueue() goes. Before any change is mapped; borrowed. */
void ccm_plugin_host_set_controller(struct ccm_plugin_host *host,
                                    struct ccm_controller *controller);

/* What the plugin says that it holds back; lives as long as the host. */
struct ccm_held *ccm_plugin_host_held(struct ccm_plugin_host *host);

/* Wake whoever waits in host->wait(), after a cancel flag was set. Any thread. */
void ccm_plugin_host_wake(struct ccm_plugin_host *host);

/* The daemon stops: calls without a request are cancelled too. Any thread; returns at once. */
void ccm_plugin_host_stop(struct ccm_plugin_host *host);

#endif
