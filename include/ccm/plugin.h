/*
 * The plugin interface of ccmd, ABI 1.1.
 *
 * A plugin is a shared object in the plugin directory that exports exactly one symbol, the const
 * descriptor `ccm_plugin`. The daemon reads the descriptor as data and decides about compatibility
 * before it runs any function of the plugin. ELF constructors, which the runtimes of some languages
 * bring along, run before that. A plugin is never unloaded while the daemon runs.
 *
 * Life: create (no I/O) -> start -> reconcile ... -> stop -> (running calls drain) -> destroy.
 *
 * Versions: the major is equal or the plugin is refused. Within a major, structs only grow at their
 * end; a plugin that was built earlier simply lacks the newer members.
 */
#ifndef CCM_PLUGIN_H
#define CCM_PLUGIN_H

#include "ccm/error.h"
#include "ccm/host.h"
#include "ccm/object.h"
#include "ccm/option.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCM_ABI_MAJOR 1U
/* For people and build systems. Code never compares it: it tests sizes and NULL members. */
#define CCM_ABI_MINOR 1U

#define CCM_EXPORT __attribute__((visibility("default")))

/* Flags of the descriptor. An unknown bit refuses the plugin. */
#define CCM_PLUGIN_SERIAL UINT64_C(1) /* one reconcile call at a time, whatever `workers` says */
#define CCM_PLUGIN_PLANS  UINT64_C(2) /* heeds host->dry_run(); `ccmd plan` runs no others */

/*
 * One unit of work. Valid during the call only. Keys are what map() emitted; more than one only if
 * `batch_max` allows. A key is never in two calls at once.
 */
struct ccm_request {
    uint64_t struct_size;
    const char *const *keys;
    uint64_t key_count;
    int64_t deadline_ms; /* monotonic (host->now_ms); calls with this request end then */
    const char *id;      /* short text that ties the log lines of this call together */
    uint64_t lane;       /* CCM_LANE_*: the most urgent that a key of this call waited in */
    void *core;          /* private to the core */
};

/*
 * Flag of a result: work waits for its turn, which comes after requeue_after_ms; 0 = the plugin
 * enqueues the key when it does. That is no success: failures before it stay counted, and what is
 * known of them stays shown. Beside an error it is what else waits: the failure counts and has its
 * backoff by its kind, but the key comes again at that turn (not 0) where it is sooner.
 */
#define CCM_RESULT_WAITS UINT64_C(1)

/*
 * Verdict about the keys of the call that host->settle() was not told about. Zeroed before the
 * call, struct_size set. It is the core's memory: test struct_size before you write a member that
 * is newer than ABI 1.0.
 */
struct ccm_result {
    uint64_t struct_size;
    uint64_t requeue_after_ms; /* after success: call again then; 0 = only on change */

    /* Since ABI 1.1. */
    uint64_t flags; /* CCM_RESULT_* */
};

#define CCM_CHANGE_ADDED   UINT64_C(1) /* also each object of the first list */
#define CCM_CHANGE_UPDATED UINT64_C(2)
#define CCM_CHANGE_DELETED UINT64_C(3)

/*
 * Flag of a DELETED change: nobody said that the object was deleted. It is missing in a new list,
 * which may come from a server that was replaced or restored from a backup, or that was emptied.
 * Absence is no order to delete: whoever removes something because an object is gone waits until it
 * is still missing some time later (host->server_since_ms()). Without the flag the DELETED event of
 * a watch was seen, or an object of the same name and another uid took its place.
 */
#define CCM_CHANGE_MISSING UINT64_C(1)

/* A change of a watched object. Borrowed for the call of map(). */
struct ccm_change {
    uint64_t struct_size;
    uint64_t type;                   /* CCM_CHANGE_* */
    const struct ccm_object *before; /* NULL for ADDED */
    const struct ccm_object *after;  /* NULL for DELETED */

    /* Since ABI 1.1: test struct_size before you read it. */
    uint64_t flags; /* CCM_CHANGE_MISSING */
};

/*
 * EndpointSlices of every Service. Without it the caches hold, and map() sees, only those of
 * Services of type LoadBalancer and of Services with a finalizer: clusters have many others, which
 * then cost no memory. A slice whose Service is not known (yet) is held.
 */
#define CCM_WATCH_ALL_SLICES UINT64_C(1)
/*
 * CCM_KIND_RAW: the resource need not be there, such as one of a CustomResourceDefinition. While
 * the server does not know it (404) it holds nothing up: start(), reconcile(), /readyz; its objects
 * are none, and list_raw() says -ENOENT. It is looked for again every 10 s or sooner, and map()
 * then sees its objects. When it goes, so do they, with CCM_CHANGE_MISSING at the latest. Since
 * ABI 1.1.
 */
#define CCM_WATCH_OPTIONAL UINT64_C(2)

/*
 * CCM_KIND_NODE: the caches keep `info` of struct ccm_node, too: capacity, allocatable, nodeInfo.
 * That is more than all the rest of a Node (about a kilobyte each), so they do not unless a plugin
 * asks; then all plugins see it, and map() sees its changes. Since ABI 1.1.
 */
#define CCM_WATCH_NODE_INFO UINT64_C(4)

/* Value goes behind the namespace of the object: "namespace/value". */
#define CCM_INDEX_NAMESPACED UINT64_C(1)

/* By what raw objects are found: list_raw_by() of struct ccm_host. Either a label or a path. Since
 * ABI 1.1. */
struct ccm_index {
    uint64_t struct_size;
    const char *name;
    const char *label; /* key of a label: its value */
    /* Members of the JSON, with dots between: "spec.className". Of a list each item, as in
     * "metadata.ownerReferences.uid": at most 64 values of an object count. Text as it is, numbers,
     * true and false as JSON has them; what is absent, null, "" or an object has no value. */
    const char *path;
    uint64_t flags; /* CCM_INDEX_* */
};

/* What a plugin wants to see. */
struct ccm_watch {
    uint64_t struct_size;
    uint64_t kind;           /* CCM_KIND_* */
    const char *api_version; /* CCM_KIND_RAW only: "apps/v1" */
    const char *resource;    /* CCM_KIND_RAW only: "deployments" */

    /* Turn a change into keys by calling host->enqueue(). Runs in the reflector's thread of that
     * kind, in order, before the next change is looked at: never block, no I/O. The store already
     * holds `after`. Called from create() on, so before start() too (the first list fills the
     * caches), and no more once destroy() is called. Called in every instance of the daemon, also
     * in one that does not lead: see host.h. Mandatory. */
    void (*map)(void *self, const struct ccm_change *change);

    uint64_t flags; /* CCM_WATCH_* */

    /*
     * Since ABI 1.1, of CCM_KIND_RAW only: which objects; NULL or "" = all. The server selects, so
     * the others cost nothing. An object that ceases to be selected is DELETED for this watch. One
     * resource can be watched several times with different selections: map() is called for each,
     * get_raw() and list_raw() look into all of them that this plugin has. An object that goes over
     * from one selection to another is in none of them for a moment: ask fetch_raw() before you
     * take it for gone.
     */
    const char *namespace_;                 /* and the daemon needs its rights there only */
    const char *label_selector;             /* "app=web,tier in (a,b),!old" */
    const char *field_selector;             /* "metadata.name=settings" */
    const struct ccm_index *const *indexes; /* NULL-terminated, at most 4; NULL = none */

    /*
     * Since ABI 1.1, not of CCM_KIND_RAW. Both are NULL-terminated; NULL = none.
     * annotations, of CCM_KIND_NODE: annotations that the caches keep of Nodes. Others are left
     * out, except alpha.kubernetes.io/provided-node-ip. Every plugin sees what one of them names.
     * keys: beginnings of keys of labels, annotations and finalizers that the plugin uses: list all
     * of them. Of an object with more than the caches keep these stay first, then keys with a
     * domain of Kubernetes. Of a Service, only labels and annotations that a plugin lists make it
     * too large (`too_large` of its head); others are left out.
     */
    const char *const *annotations;
    const char *const *keys;
};

/* A right that a plugin needs of the API server besides `list` and `watch` of what it watches, and
 * besides events, which are the daemon's own affair. Since ABI 1.1. */
struct ccm_right {
    uint64_t struct_size;
    const char *api_version; /* "v1", "example.com/v1" */
    const char *resource;    /* "buckets", "buckets/status" */
    const char *verbs;       /* "get,create,update,patch,delete": see the table in host.h */
    const char *namespace_;  /* NULL or "" = in all, or of a resource without namespaces */
    const char *name;        /* NULL or "" = of all names; not with create */
};

/* Where lint() tells what it found. Valid during the call. */
struct ccm_lint_sink {
    uint64_t struct_size;

    /* One finding. level: CCM_LEVEL_ERROR (the Service would fail, or part of it would be ignored),
     * CCM_LEVEL_WARN, or, since ABI 1.1, CCM_LEVEL_INFO: a hint, with which all is well. place: the
     * key of an annotation of the Service, or the path of a field as in "spec.ports[1].port"
     * (counted from 0); NULL = the Service itself. A message without the name of that annotation
     * gets it in front. */
    void (*finding)(const struct ccm_lint_sink *sink, uint64_t level, const char *place,
                    const char *message);

    /* Options of this plugin as in struct ccm_host, of the configuration that the check goes with;
     * without one, the defaults. */
    const char *(*option_string)(const struct ccm_lint_sink *sink, const char *group,
                                 const char *name);
    int64_t (*option_int)(const struct ccm_lint_sink *sink, const char *group, const char *name);

    void *core; /* private to the core */
};

/* Where check() tells what it found. Valid during the call. Since ABI 1.1. */
struct ccm_check_sink {
    uint64_t struct_size;

    /* One finding. level: CCM_LEVEL_ERROR (with these options create() or start() would fail for
     * good), CCM_LEVEL_WARN. message: for people; it names the option. */
    void (*finding)(const struct ccm_check_sink *sink, uint64_t level, const char *message);

    /* Options answer those of the configuration that is checked; log, time and random are as
     * always. All others do nothing, have nothing, or fail. */
    const struct ccm_host *host;

    void *core; /* private to the core */
};

/* Where describe() tells what is known. Valid during the call. What is said before the first
 * table() is about the key; rows belong to the last table. Since ABI 1.1. */
struct ccm_view_sink {
    uint64_t struct_size;

    /* One fact, in words for people: ("load balancer", "lb-1"). link: an https URL where more is to
     * be seen, NULL = none. */
    void (*fact)(const struct ccm_view_sink *sink, const char *name, const char *value,
                 const char *link);

    /* A table begins. columns: their names, NULL-terminated, at most 12. */
    void (*table)(const struct ccm_view_sink *sink, const char *name, const char *const *columns);
    /* A row of it: a text for each column, NULL = "". What comes after 2,000 rows is counted. */
    void (*row)(const struct ccm_view_sink *sink, const char *const *cells);

    void *core; /* private to the core */
};

/*
 * An annotation of Services that a plugin acts on, in words for people. NULL = there is nothing to
 * say. Since ABI 1.1.
 */
struct ccm_annotation {
    uint64_t struct_size;
    const char *key;      /* "example.com/size"; mandatory */
    const char *old_key;  /* counts where `key` is absent */
    const char *name;     /* by which people call it, "size"; NULL = the key */
    const char *subject;  /* what has it, "NLB"; annotations of one name may have several */
    const char *heading;  /* under which it is listed, "Listeners" */
    const char *help;     /* what it means, in sentences; mandatory */
    const char *values;   /* "1 to 5000", "on, off" */
    const char *fallback; /* what holds without it */
    const char *example;  /* a value that is taken */
    const char *scope;    /* where it counts, "ports of https"; NULL = everywhere */
    const char *needs;    /* what else has to be there */
    const char *change;   /* what a change, or its end, does to what is there */
    const char *field;    /* what it is called by the system behind the plugin */
    const char *page;     /* where to read on: a URL, or a page that comes with the plugin */
};

/* Where annotations() tells them. Valid during the call. Since ABI 1.1. */
struct ccm_annotation_sink {
    uint64_t struct_size;

    /* One annotation. What it points to is not needed longer than the call. */
    void (*annotation)(const struct ccm_annotation_sink *sink,
                       const struct ccm_annotation *annotation);

    void *core; /* private to the core */
};

struct ccm_plugin {
    uint32_t abi_major;   /* CCM_ABI_MAJOR. These two never move, in any major */
    uint32_t struct_size; /* sizeof(struct ccm_plugin) as the plugin was built */
    const char *name;     /* [a-z0-9-]{1,32}, unique; also the name in the configuration, but for
                             one with `instances` */
    uint64_t flags;       /* CCM_PLUGIN_* */
    const struct ccm_option *const *options; /* NULL-terminated; NULL = none */
    const struct ccm_watch *const *watches;  /* NULL-terminated; at least one */

    /* Build the instance. No I/O, no threads. On failure set err; destroy() is not called then.
     * Mandatory. */
    int (*create)(const struct ccm_host *host, void **ret_self, struct ccm_error *err);

    /* The caches are filled, this instance leads, work begins: may do I/O (such as finding
     * credentials) and block up to 30 s; far beyond, /livez fails. A failure is logged and tried
     * again with backoff, unless its kind is CCM_ERROR_TERMINAL. NULL = nothing to do. */
    int (*start)(void *self, struct ccm_error *err);

    /* Make the world match for the keys of req. Called by several workers at once (see
     * CCM_PLUGIN_SERIAL). Returns 0 (done, see ret) or negative with err set: the kind decides
     * about the retry, which is never the plugin's own business. Mandatory. */
    int (*reconcile)(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err);

    /* Work ends: running calls will see host->cancelled(). Any thread; returns at once. NULL =
     * nothing to do. */
    void (*stop)(void *self);

    /* Last call, after every other has returned. Mandatory. */
    void (*destroy)(void *self);

    uint64_t batch_max;  /* most keys per reconcile call; 0 = 1 */
    const char *version; /* of the plugin, for people */
    const char *summary; /* one line for `ccmd plugins` */

    /* What is wrong with this Service, as far as it can be told from the manifest alone: what
     * reconcile would refuse or ignore. Pure: no instance, no I/O, any thread, without create(). A
     * Service that the plugin would not handle has no findings. Unset fields are as in a manifest:
     * no uid, no node ports. 0, or a negative errno when it could not look. NULL = not offered. */
    int (*lint)(const struct ccm_service *service, const struct ccm_lint_sink *sink);

    /* How long, in ms, a call with fewer than batch_max keys waits for more after the first became
     * ready; at most 10 s count. It delays every change by as much, so keep it short. 0 = a call
     * takes what is there. */
    uint64_t batch_wait_ms;

    /* Since ABI 1.1. An operator has looked and says that what this plugin holds back because nodes
     * are missing or not ready (host->note_held()) is to go: `ccmd allow-removals PLUGIN`. Let it
     * go for a time, and enqueue() what has to be done; what is removed later than that is held
     * again. Returns how long that time is, in ms, 0 or more. Between start() and destroy(), any
     * thread; returns at once, no I/O. NULL = not offered: nothing is held by floors. */
    int64_t (*allow_removals)(void *self);

    /* Since ABI 1.1. Values of spec.loadBalancerClass that this plugin takes, NULL-terminated:
     * while it is installed and does not work, Services with one of them are told so. NULL = none.
     */
    const char *const *classes;

    /* Since ABI 1.1. An operator asks for a second look: `ccmd resync KEY`. Believe nothing that is
     * remembered about the key, or with NULL about all, and enqueue() it. Returns how many keys
     * that are; 0: none of this plugin's. Between start() and destroy(), any thread; returns at
     * once, no I/O. NULL = not offered. */
    uint64_t (*resync)(void *self, const char *key);

    /* Since ABI 1.1. Whether a Service without spec.loadBalancerClass is this plugin's, as far as
     * its manifest tells: while the plugin is configured and does not work, such Services are told
     * so, too. Pure: no instance, no I/O, any thread, without create(). NULL = none is. */
    int (*takes_default)(const struct ccm_service *service);

    /* Since ABI 1.1. Nothing is left of the key: its last call succeeded, it waits for nothing, and
     * no object of that name is in the caches that this plugin watches. What is remembered per key
     * can go. In the thread of that call, before the key can be called again: never block. NULL =
     * nobody wants to know. */
    void (*forget)(void *self, const char *key);

    /* Since ABI 1.1. What is wrong with the options as a whole, beyond what their table says of
     * each: relations between them, forms that it has no words for. Asked by check-config, lint,
     * and before a changed configuration is taken over, also while an instance runs: no instance,
     * no I/O, any thread, without create(). 0, or a negative errno when it could not look. NULL =
     * not offered. */
    int (*check)(const struct ccm_check_sink *sink);

    /* Since ABI 1.1. What this plugin calls, NULL-terminated: for people, and for
     * `ccmd plugins --rbac FILE`, which prints roles with these rights and those of the watches.
     * Nothing is checked by it while the daemon runs. NULL = nothing, or not told. */
    const struct ccm_right *const *rights;

    /* Since ABI 1.1. Tell what is known of a key, or with NULL of the plugin as a whole (rates,
     * quotas): for the status page and `ccmd status`. From memory alone: no call to a cloud or to
     * the API server is made for a page. The names of a table and of its first two columns' values
     * say what a row is about; a row that another instance has told already is shown once. Between
     * start() and destroy(), any thread; returns at once. 0; -ENOENT: the key is not known; -EBUSY:
     * it is being worked on, ask again. NULL = nothing is told. */
    int (*describe)(void *self, const char *key, const struct ccm_view_sink *sink);

    /* Since ABI 1.1. 1: the configuration may list the file several times, each time under another
     * name and with options of its own, such as two regions or classes; create() then runs for each
     * with a host of its own. The file is loaded once, so its static variables are one for all of
     * them: what belongs to an instance stands in *ret_self. The instance's name, not `name`, is
     * what log, metrics, /statusz and commands show. Instances must not work on the same objects:
     * by an option they tell theirs apart. 0 = once, under its own name. */
    uint64_t instances;

    /* Since ABI 1.1. The annotations of Services that this plugin acts on, for `ccmd explain`.
     * Pure: no instance, no I/O, any thread, without create(). 0, or a negative errno when it could
     * not. NULL = there are none, or nothing is told. */
    int (*annotations)(const struct ccm_annotation_sink *sink);

    /* Since ABI 1.1. 1: the Service is this plugin's, as the options have it; 0: it is not. What
     * stands in the way of one that was perhaps to be its own is a finding at
     * spec.loadBalancerClass, as lint() has it. Where it is offered, `classes` and `takes_default`
     * only tell of a plugin of an older ccmd. Pure: no instance, no I/O, any thread, without
     * create(). NULL = not offered. */
    int (*takes)(const struct ccm_service *service, const struct ccm_lint_sink *sink);

    /* Since ABI 1.1. Beginnings of names of metrics that this plugin records although such names
     * are reserved for the daemon ("ccmd_route_"), NULL-terminated. NULL = none. */
    const char *const *metrics;

    /* Since ABI 1.1. 1: metrics of the instance that has the plugin's own name get no label
     * `plugin`: their names and labels tell them apart from those of other plugins. 0 = they get
     * it. */
    uint64_t plain_metrics;

    /* Members of later minors are appended here; NULL or 0 then means "not offered". */
};

/* The only symbol a plugin exports. */
extern CCM_EXPORT const struct ccm_plugin ccm_plugin;

#ifdef __cplusplus
}
#endif

#endif
