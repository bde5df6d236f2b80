/*
 * The host table of a plugin: struct ccm_host on top of the parts of the daemon. One per plugin,
 * because options, log lines and queue are its own.
 */
#ifndef CCM_DAEMON_HOST_H
#define CCM_DAEMON_HOST_H

#include "ccm/plugin.h"
#include "config/load.h"
#include "daemon/objects.h"
#include "daemon/plan_book.h"
#include "kube/cache/reflector.h"
#include "kube/cache/store.h"
#include "kube/client/client.h"
#include "kube/client/continuity.h"
#include "kube/event.h"
#include "net/http.h"
#include "sched/controller.h"
#include "util/attr.h"
#include "util/gate.h"
#include "util/metrics.h"

#define DAEMON_HOST_KINDS (CCM_KIND_RAW + 1)

/* A watch of a resource that has no type of its own, and its cache, which several may share. */
struct daemon_raw_store {
    const char *plugin; /* whose watch it is */
    const struct ccm_watch *watch;
    struct kube_store *store;
    struct kube_reflector *reflector;
};

struct daemon_journal;
struct daemon_pauses;
struct daemon_unserved;

/* What all plugins share. Owned by the daemon, outlives every host; unchanged once plugins run. */
struct daemon_host_services {
    struct net_http *http;
    struct kube_client *kube;
    struct kube_event_recorder *events;
    const struct config_tree *_Atomic config;             /* the newest snapshot, see reload.h */
    struct kube_store *stores[DAEMON_HOST_KINDS];         /* by kind; NULL = not watched */
    struct kube_reflector *reflectors[DAEMON_HOST_KINDS]; /* of these stores */
    const struct daemon_raw_store *raw;                   /* those of CCM_KIND_RAW */
    size_t raw_count;

    struct daemon_unserved *unserved; /* NULL in a dry run */
    struct daemon_pauses *pauses;     /* named ones */
    struct daemon_journal *journal;   /* what happened to objects; NULL in a dry run */

    struct kube_continuity continuity; /* whether it is one API server that answers */
    struct ccm_metrics *metrics;       /* NULL: nobody asks for any */
    struct sched_watchdog *watchdog;
    struct ccm_gate gate;          /* whether this instance leads: closed until somebody opens it */
    struct daemon_plan_book *plan; /* a dry run: nothing goes out, all is noted here; NULL = none */
};

/* The object of that key that the plugin watches, the first of several: kube_object_unref() it.
 * NULL: there is none. Any thread. */
const struct ccm_object *daemon_host_find_object(const struct daemon_host_services *services,
                                                 const struct ccm_plugin *desc, const char *key);

struct daemon_plugin_host;

/* objects: where notes of the plugin are kept. name: of the plugin as the configuration has it;
 * copied. plugin: its descriptor. All but the name are borrowed. NULL on ENOMEM. */
struct daemon_plugin_host *daemon_plugin_host_new(struct daemon_host_services *services,
                                                  struct daemon_objects *objects, const char *name,
                                                  const struct ccm_plugin *plugin);

/* After destroy() of the plugin. NULL is fine. */
void daemon_plugin_host_free(struct daemon_plugin_host *host);

/* What create() gets; valid until daemon_plugin_host_free(). */
const struct ccm_host *daemon_plugin_host_table(struct daemon_plugin_host *host);

/* Where enqueue() goes. Before any change is mapped; borrowed. */
void daemon_plugin_host_set_controller(struct daemon_plugin_host *host,
                                       struct sched_controller *controller);

/* The call of reconcile() with this request is over: end the HTTP exchanges that it left, and tell
 * that, once. In the thread of that call. */
void daemon_plugin_host_end_calls(struct daemon_plugin_host *host, const struct ccm_request *req);

/* Wake whoever waits in host->wait(), after a cancel flag was set. Any thread. */
void daemon_plugin_host_wake(struct daemon_plugin_host *host);

/* The daemon stops: calls without a request are cancelled too. Any thread; returns at once. */
void daemon_plugin_host_stop(struct daemon_plugin_host *host);

#endif
