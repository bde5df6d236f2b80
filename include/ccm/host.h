/*
 * What the daemon offers to a plugin. A table of functions, handed to create(); the plugin keeps
 * the pointer, which stays valid until destroy() has returned. Nothing else of the daemon is linked
 * or looked up.
 *
 * The table grows at its end. Before you call a member that is newer than ABI 1.0, test
 * `host->struct_size > offsetof(struct ccm_host, member)`.
 *
 * Several instances of the daemon may run, of which one leads. Caches are filled and map() is
 * called in all of them; start() and reconcile() run in the leader only. In an instance that does
 * not lead, or does no longer, the core drops what event() is given and refuses patch() and http()
 * with CCM_ERROR_CANCELLED, right before the sending too; what is under way is given up. So a
 * plugin need not care which one it is in.
 *
 * What the role of the daemon has to allow for a call; --rbac of `ccmd plugins` prints such a role:
 *
 *   a watch                                        list, watch of the resource
 *   event()                                        create, patch of events: has it
 *   fetch() of a Service, EndpointSlice, Node      get of services, endpointslices, nodes: has it
 *   fetch() of a Pod                               get of pods: has it
 *   patch() of a Service, its "status"             patch of services, services/status: has it
 *   patch() of a Node                              patch of nodes: to be added
 *   patch() of "status" of a Node, a Pod           patch of nodes/status, pods/status: has it
 *   patch() of a Pod                               patch of pods: to be added
 *   fetch_raw(), create_raw(), update_raw(),       get, create, update, patch, delete of the
 *   patch_raw(), delete_raw()                      resource, with "/SUBRESOURCE": to be added
 *   get(), list(), get_raw(), list_raw(), ...      none: from the caches
 *
 * ("has it": the ClusterRole that is shipped, etc/kubernetes/base/rbac.yaml, and the chart.)
 * Without the right the call fails with CCM_ERROR_AUTH.
 *
 * Unless said otherwise: any thread may call; nothing blocks; strings are borrowed for the call;
 * strings handed to the plugin live as long as the object they hang on; `err` may not be NULL;
 * return values are 0 or a negative errno.
 */
#ifndef CCM_HOST_H
#define CCM_HOST_H

#include "ccm/error.h"
#include "ccm/object.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ccm_request; /* plugin.h */

#define CCM_LEVEL_ERROR UINT64_C(0)
#define CCM_LEVEL_WARN  UINT64_C(1)
#define CCM_LEVEL_INFO  UINT64_C(2)
#define CCM_LEVEL_DEBUG UINT64_C(3)

/* Queue lanes: a busy lane never starves another. */
#define CCM_LANE_URGENT   UINT64_C(0) /* new objects */
#define CCM_LANE_SPEC     UINT64_C(1) /* the object's own specification changed */
#define CCM_LANE_BACKENDS UINT64_C(2) /* endpoints changed */
#define CCM_LANE_BULK     UINT64_C(3) /* fan-out of node events, audits */
/* Deletions, before all others. Since ABI 1.1: an older core takes it for BULK. */
#define CCM_LANE_REMOVE UINT64_C(4)

#define CCM_PATCH_MERGE     UINT64_C(1) /* RFC 7386 */
#define CCM_PATCH_STRATEGIC UINT64_C(2) /* strategic merge patch, built-in kinds only */
#define CCM_PATCH_JSON      UINT64_C(3) /* RFC 6902; patch_raw() only. Since ABI 1.1 */

/* Of a call to a cloud: it failed; it was to change something. Since ABI 1.1. */
#define CCM_CALL_FAILED  UINT64_C(1)
#define CCM_CALL_CHANGES UINT64_C(2)

struct ccm_patch {
    uint64_t struct_size;
    uint64_t kind; /* CCM_KIND_SERVICE, _NODE or _POD */
    uint64_t type; /* CCM_PATCH_* */
    const char *namespace_;
    const char *name;
    const char *subresource; /* "status" or "" */
    const char *body; /* JSON text; put metadata.resourceVersion or uid in it as a precondition */
};

/* An object of any API group, and what is wanted of it. Since ABI 1.1. Members that a call does not
 * name below have no effect on it. */
struct ccm_raw_call {
    uint64_t struct_size;
    const char *api_version; /* "v1", "apps/v1" */
    const char *resource;    /* as in paths: "deployments" */
    const char *namespace_;  /* NULL or "" for a resource without namespaces */
    const char *name;        /* create_raw: only with a subresource; else the body has it */
    const char *subresource; /* "status", ...; NULL or "" = the object itself */
    const char *body; /* create_raw, update_raw: the object; patch_raw: the patch. JSON text */
    uint64_t patch;   /* patch_raw: CCM_PATCH_* */

    /* Preconditions, NULL or "" = none: the write fails with CCM_ERROR_CONFLICT when the object has
     * another uid (it was deleted and made anew), or another version (somebody has written it).
     * update_raw, patch_raw (not with CCM_PATCH_JSON, which has "test") and delete_raw. update_raw
     * needs resource_version for most resources, here or in the body. */
    const char *uid;
    const char *resource_version;

    const char *propagation; /* delete_raw: "Background", "Foreground", "Orphan"; NULL or "" = as
                                the resource has it */
};

#define CCM_EVENT_ALL_TOPICS "*"

struct ccm_event {
    uint64_t struct_size;
    const struct ccm_object *object; /* whom it is about */
    const char *component;           /* source.component, such as "service-controller" */
    const char *reason;              /* CamelCase, for machines */
    const char *message;             /* for people; cut at 1,024 bytes */
    uint64_t warning;                /* 0 = Normal, 1 = Warning */

    /*
     * Since ABI 1.1; all three belong together. With a topic it lasts: the core says it again
     * every half hour, before servers forget it, also after a restart, until the next event of that
     * component about that object on that topic. One with the message "" ends it and is not
     * written. As long as its cause is the same its words are only kept for the next
     * time, so hand it in as often as it is found to hold. It also ends with its object.
     * CCM_EVENT_ALL_TOPICS with the message "" ends all of that component about that object.
     */
    const char *topic;
    const char *cause; /* what makes it the same although words differ, such as ids of requests;
                          NULL = the message */
    uint64_t after_ms; /* said only if it has not ended by then */
};

struct ccm_http_request {
    uint64_t struct_size;
    const char *method;
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated; NULL = none */
    const char *body;           /* NULL = none */
    uint64_t body_len;
    uint64_t timeout_ms;     /* whole exchange; 0 = 20,000 */
    uint64_t max_body_bytes; /* of the answer; 0 = 4 MiB; more is an error */
    const char *ca_file;     /* PEM bundle; NULL = the system's */
    uint64_t insecure_tls; /* 1 = do not verify the peer: only on an operator's explicit setting */
};

struct ccm_http_response {
    uint64_t struct_size;
    uint64_t status;  /* 100..599 */
    const char *body; /* NUL-terminated, never NULL */
    uint64_t body_len;
    const char *const *headers; /* "name: value", names in small letters, NULL-terminated */
};

/*
 * How an exchange failed (ret_phase of http): before anything was sent (a repeat is safe), or after
 * (the other side may have acted). Set on failure only.
 */
#define CCM_HTTP_NOT_SENT  UINT64_C(1)
#define CCM_HTTP_MAYBE_RUN UINT64_C(2)

/* Kinds of metrics. */
#define CCM_METRIC_COUNTER   UINT64_C(1) /* value is added; never negative */
#define CCM_METRIC_GAUGE     UINT64_C(2) /* value is what holds now */
#define CCM_METRIC_HISTOGRAM UINT64_C(3) /* value is one observation */

/* A metric in the words of Prometheus. Constant; the same for all its uses. */
struct ccm_metric {
    uint64_t struct_size;
    uint64_t type;             /* CCM_METRIC_* */
    const char *name;          /* [a-zA-Z_][a-zA-Z0-9_]*, with the unit at its end */
    const char *help;          /* one line */
    const char *const *labels; /* names, NULL-terminated, at most 8; NULL = none */
    const double *buckets;     /* HISTOGRAM: upper bounds, rising, without infinity */
    uint64_t bucket_count;     /* at most 64 */
};

struct ccm_host {
    uint32_t abi_major;
    uint32_t struct_size;

    /* --- log, time --- */

    /* One line; `object` (such as "default/web") may be NULL. Never pass a secret. */
    void (*log)(const struct ccm_host *host, uint64_t level, const char *object, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
    bool (*log_enabled)(const struct ccm_host *host, uint64_t level);

    /* Monotonic milliseconds; wall-clock milliseconds since the epoch (UTC). */
    int64_t (*now_ms)(const struct ccm_host *host);
    int64_t (*wall_ms)(const struct ccm_host *host);

    /* Fill with random bytes from the system. */
    int (*random)(const struct ccm_host *host, void *bytes, size_t len);

    /* Wait, for the rate governor of a cloud client only: a plugin never sleeps to retry a
     * reconcile. Blocks up to `ms`. 0, or -ECANCELED at once when the request is cancelled or its
     * deadline comes first. req may be NULL: then only shutdown cancels. */
    int (*wait)(const struct ccm_host *host, const struct ccm_request *req, uint64_t ms);

    /* Whether the request should be given up: shutdown or deadline. */
    bool (*cancelled)(const struct ccm_host *host, const struct ccm_request *req);

    /* --- configuration --- */

    /* Value of an option that the plugin lists in its descriptor (group NULL = its own). Never
     * fails for a listed option: defaults are filled in. For an option that is not listed: "" / 0 /
     * NULL. The strings live as long as the host, also when the configuration is read again: then
     * rows with CCM_OPTION_LIVE answer the new value. The list of option_strings is
     * NULL-terminated. BOOL is read with option_int (0, 1). */
    const char *(*option_string)(const struct ccm_host *host, const char *group, const char *name);
    int64_t (*option_int)(const struct ccm_host *host, const char *group, const char *name);
    const char *const *(*option_strings)(const struct ccm_host *host, const char *group,
                                         const char *name);

    /* --- cluster state, from the caches (no I/O) --- */

    /* Snapshot of one object, or NULL. release() it. (Raw objects: get_raw(), list_raw().) NULL
     * also for a kind that nobody watches, which is logged as an error, once. */
    const struct ccm_object *(*get)(const struct ccm_host *host, uint64_t kind, const char *key);

    /* Snapshots of all objects of a kind (index NULL), or of an index: "service"
     * (CCM_KIND_ENDPOINT_SLICE; value "namespace/service"), "server" (CCM_KIND_NODE; value: the
     * last part of spec.providerID behind "/" and ".", or an InternalIP in its shortest form; since
     * ABI 1.1). On success *ret_objects is an array of *ret_count pointers (NULL when
     * 0): hand both to release_list(). -ENOMEM, -ENOTSUP (kind not watched, unknown index), which
     * is logged as an error, once. */
    int (*list)(const struct ccm_host *host, uint64_t kind, const char *index, const char *value,
                const struct ccm_object *const **ret_objects, size_t *ret_count);
    void (*release)(const struct ccm_host *host, const struct ccm_object *object);
    void (*release_list)(const struct ccm_host *host, const struct ccm_object *const *objects,
                         size_t count);

    /* --- writes to the API server --- */

    /* Blocks until answered (or until the request's deadline). A 404 is CCM_ERROR_NOT_FOUND, a 409
     * or a failed precondition (resourceVersion, uid) CCM_ERROR_CONFLICT. No retry inside. When it
     * returns 0, get() and list() show the object as the server has answered, or newer, if they
     * hold it; the change is mapped when the watch shows it. The same holds for update_raw() and
     * patch_raw(). (Without memory, or after a list that began before, the watch shows it first.)
     */
    int (*patch)(const struct ccm_host *host, const struct ccm_request *req,
                 const struct ccm_patch *patch, struct ccm_error *err);

    /* Queue an event; written later by a thread of the core, merged with equal ones (count),
     * dropped (and logged) when too many wait. Call it on change only. One without an object is
     * refused, and logged. */
    void (*event)(const struct ccm_host *host, const struct ccm_event *event);

    /* --- scheduling --- */

    /* Have this plugin's reconcile called with the key, at once or after delay_ms. A key is any
     * text of 1 to 1,024 bytes; another is dropped, and logged. A key that waits
     * after CCM_ERROR_THROTTLED with retry_after_ms is not called before that time; after other
     * verdicts what is enqueued comes first. */
    void (*enqueue)(const struct ccm_host *host, const char *key, uint64_t lane, uint64_t delay_ms);

    /* --- HTTP --- */

    /* One exchange over the shared engine (kept-alive connections). Blocks until done, cancelled,
     * or out of time. An answer of any status is success: *ret is then owned by the caller until
     * http_free(). No redirect is followed, no retry is made. Errors: CCM_ERROR_TRANSIENT (connect,
     * TLS, timeout, answer too large), CCM_ERROR_CANCELLED. req may be NULL. */
    int (*http)(const struct ccm_host *host, const struct ccm_request *req,
                const struct ccm_http_request *http, struct ccm_http_response **ret,
                uint64_t *ret_phase, struct ccm_error *err);
    void (*http_free)(const struct ccm_host *host, struct ccm_http_response *response);

    /* --- cluster state, live --- */

    /* One GET past the caches, for decisions that must not rest on a cache that lags: a Service,
     * EndpointSlice, Node or Pod (namespace_ NULL or "" for a Node). Blocks until answered (or
     * until the request's deadline). On success release() *ret. Errors: as patch(), a 404 is
     * CCM_ERROR_NOT_FOUND. No retry inside. Use it rarely: each call is one request to the API
     * server. */
    int (*fetch)(const struct ccm_host *host, const struct ccm_request *req, uint64_t kind,
                 const char *namespace_, const char *name, const struct ccm_object **ret,
                 struct ccm_error *err);

    /* --- several keys per call (batch_max) --- */

    /* Verdict of one key of the running call, by its index in req->keys; the last word counts. err
     * NULL (or of kind 0): done, or again after requeue_after_ms. Else the key waits as a failed
     * reconcile of that kind would, with its own backoff but not longer than requeue_after_ms (0 =
     * no matter how long), and the message is logged with it. Keys without a verdict get what the
     * call returns. Only from inside of the call, any thread. */
    void (*settle)(const struct ccm_host *host, const struct ccm_request *req, uint64_t index,
                   uint64_t requeue_after_ms, const struct ccm_error *err);

    /* --- dry run (`ccmd plan`) --- */

    /* Whether nothing may be changed, neither in the cluster nor in a cloud; the same for the whole
     * life of the process. The core then refuses patch() with CCM_ERROR_CANCELLED and drops events;
     * the plugin makes no write to its cloud and tells by plan() what it would have done. Only a
     * plugin with the flag CCM_PLUGIN_PLANS is run at all then. */
    bool (*dry_run)(const struct ccm_host *host);

    /* In a dry run: what would be done for an object (its key), one line per step, "" = nothing.
     * Once per reconciled key, before the call returns; of several the last counts. The key then
     * counts as looked at, however soon it comes again (requeue_after_ms, enqueue()); one that
     * comes again within 3 s without it is waited for, and named if time runs out. Not in a dry
     * run: nothing. What cannot be planned is a failure of the reconcile, as always. */
    void (*plan)(const struct ccm_host *host, const char *object, const char *steps);

    /* --- metrics --- */

    /* Record a value for /metrics; `values` belong to metric->labels, one each (NULL = no labels);
     * label `plugin` with the name of the instance comes by itself. Labels are for kinds of things,
     * not for things: what comes after 2,000 combinations of one metric is dropped (and counted). A
     * name that is in use with another type or other labels, or that belongs to the daemon
     * (ccmd_..., workqueue_..., rest_client_..., controller_runtime_..., leader_election_...,
     * process_...), is dropped, which is logged as a warning, once. */
    void (*metric)(const struct ccm_host *host, const struct ccm_metric *metric,
                   const char *const *values, double value);

    /* --- cluster state of other resources, from the caches (no I/O) --- */

    /* As get() and list(), for what is watched as CCM_KIND_RAW: ("apps/v1", "deployments"). -ENOENT
     * (since ABI 1.1): an optional resource that the server does not have. */
    const struct ccm_object *(*get_raw)(const struct ccm_host *host, const char *api_version,
                                        const char *resource, const char *key);
    int (*list_raw)(const struct ccm_host *host, const char *api_version, const char *resource,
                    const struct ccm_object *const **ret_objects, size_t *ret_count);

    /* Private to the core; stands last in 1.0 and is not to be touched. Later members follow it. */
    void *core;

    /* --- since ABI 1.1: what is missing, and what is held back because of it --- */

    /* Since when (monotonic, as now_ms) one API server has answered consistently: no cache was
     * filled by a server that was replaced, restored from a backup or came back without its
     * objects. It does not move while this lasts. 0 = not at the moment: a watch broke and it is
     * not yet known who answers now, or a list is under way. A new value that is later than the one
     * before: it was another server in between, and what was missing before says nothing. */
    int64_t (*server_since_ms)(const struct ccm_host *host);

    /* How many removals of an object (such as a route table, or a Service) are held back because
     * they would go only since nodes are missing or not ready, and why, in words for people: for
     * the status page and ccmd_held_removals of /metrics. 0 = none any more. The last word counts;
     * call it on change. Of at most 10,000 objects. */
    void (*note_held)(const struct ccm_host *host, const char *object, uint64_t count,
                      const char *reason);

    /* How many ports of an object (such as a Service) nobody serves at the moment, and why, in
     * words for people: for the status page and ccmd_unserved_ports of /metrics. 0 = each has
     * somebody. The last word counts. Of at most 10,000 objects. */
    void (*note_unserved)(const struct ccm_host *host, const char *object, uint64_t count,
                          const char *reason);

    /* How long a key of the running call, by its index in req->keys, would wait at most if it
     * failed with err now; *ret_most_ms: and how long at most when it fails again and again. For
     * messages. Only from inside of the call, any thread. */
    uint64_t (*retry_ms)(const struct ccm_host *host, const struct ccm_request *req, uint64_t index,
                         const struct ccm_error *err, uint64_t *ret_most_ms);

    /* How much of a quota an object has used, once little of it is left: for the status page.
     * quota: in words for people ("backends of load balancer lb-x"). limit 0 = enough is left
     * again, or the object has gone. The last word about both counts; call it on change. Of at most
     * 10,000.
     */
    void (*note_quota)(const struct ccm_host *host, const char *object, const char *quota,
                       uint64_t used, uint64_t limit);

    /* --- objects of any resource, past the caches --- */

    /*
     * One request each over the daemon's own connection and with its credentials; block until
     * answered (or until the request's deadline); errors as patch(), and CCM_ERROR_BUG for a call
     * that cannot be sent. No retry inside. Only an instance that leads writes, and none in a dry
     * run: CCM_ERROR_CANCELLED. The daemon needs the right: see the table in docs/plugin-guide.md,
     * and `rights` of struct ccm_plugin.
     *
     * ret may be NULL where it is not wanted. What comes back is a struct ccm_raw as the server has
     * it now, whole: release() it. After a write *ret is NULL when the answer is no object, such as
     * that of a subresource that only does something.
     */

    /* Read one object: also a Secret or ConfigMap, whose name an object says. */
    int (*fetch_raw)(const struct ccm_host *host, const struct ccm_request *req,
                     const struct ccm_raw_call *call, const struct ccm_object **ret,
                     struct ccm_error *err);
    /* Make one. One of that name is there already: CCM_ERROR_CONFLICT and -EEXIST. */
    int (*create_raw)(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_raw_call *call, const struct ccm_object **ret,
                      struct ccm_error *err);
    /* Put another state in place of the present one. */
    int (*update_raw)(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_raw_call *call, const struct ccm_object **ret,
                      struct ccm_error *err);
    int (*patch_raw)(const struct ccm_host *host, const struct ccm_request *req,
                     const struct ccm_raw_call *call, const struct ccm_object **ret,
                     struct ccm_error *err);
    /* Delete one. It stays, with deleted_ms, while it has finalizers. */
    int (*delete_raw)(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_raw_call *call, struct ccm_error *err);

    /* As list_raw(), of one of the indexes of this plugin's watches of that resource: the objects
     * with this value. -ENOTSUP: not watched by this plugin, or no such index. */
    int (*list_raw_by)(const struct ccm_host *host, const char *api_version, const char *resource,
                       const char *index, const char *value,
                       const struct ccm_object *const **ret_objects, size_t *ret_count);

    /* What an object (such as a Service) waits for that has not failed, in words for people (a call
     * that is throttled, a job, a load balancer that is busy), and in how many ms it goes on: for
     * the status page. 0 = it does not wait any more. The last word counts. Of at most 10,000. */
    void (*note_waiting)(const struct ccm_host *host, const char *object, uint64_t ms,
                         const char *what);

    /* --- since ABI 1.1: pauses --- */

    /* The other side asks for a pause, until a monotonic time (now_ms), at most 10 minutes from
     * now. name NULL: of this plugin, no reconcile call begins before; calls that run go on. A
     * name, such as that of an account or an action: nothing happens by itself, ask paused_until()
     * before you call. Names are shared by all instances of a plugin in this process. Of several
     * the latest counts; a time that is over, such as 0, ends it. */
    void (*throttle)(const struct ccm_host *host, const char *name, int64_t until_ms);
    /* Until when the name is paused; 0: it is not. Return CCM_ERROR_THROTTLED with the rest as
     * retry_after_ms. */
    int64_t (*paused_until)(const struct ccm_host *host, const char *name);

    /* Take back what enqueue() was asked for with a delay that is not over yet. A retry that waits
     * after a verdict stays. */
    void (*withdraw)(const struct ccm_host *host, const char *key);

    /* A call to a cloud was made for an object (a key), with what came of it: for the page of that
     * object ("CreateLoadBalancer: ok, 210 ms"). flags: CCM_CALL_*. text is cut at 400 bytes. Of
     * all objects together some hundred KB are kept, the latest. */
    void (*note_call)(const struct ccm_host *host, const char *object, uint64_t flags,
                      const char *text);

    /* --- since ABI 1.1: several HTTP exchanges at once --- */

    /*
     * The two halves of http(). http_begin() returns at once with a number, never 0, that
     * http_end() takes once; in between others can be begun, at most 32 of one request (-EBUSY,
     * CCM_ERROR_BUG). What the arguments point to is copied. Deadline, cancellation and limits are
     * those of http(), and count from the beginning; req may not be NULL. Negative: as http(),
     * nothing was sent and there is nothing to end.
     *
     * http_end() waits for that exchange and returns what http() would. ret NULL: nobody wants the
     * answer, the exchange is given up, 0. A number that is not under way: -ENOENT, CCM_ERROR_BUG.
     * What is left when the call of reconcile() returns is given up, which is logged as an error,
     * once.
     */
    int (*http_begin)(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_http_request *http, uint64_t *ret_number,
                      struct ccm_error *err);
    int (*http_end)(const struct ccm_host *host, uint64_t number, struct ccm_http_response **ret,
                    uint64_t *ret_phase, struct ccm_error *err);
};

/* A Normal event about the object, by event(). Texts as there. */
CCM_FUNCTION void ccm_event_emit(const struct ccm_host *host, const struct ccm_object *object,
                                 const char *component, const char *reason, const char *message);

#ifndef CCM_EXTERN_FUNCTIONS

CCM_FUNCTION void ccm_event_emit(const struct ccm_host *host, const struct ccm_object *object,
                                 const char *component, const char *reason, const char *message)
{
    struct ccm_event event;

    memset(&event, 0, sizeof(event));
    event.struct_size = sizeof(event);
    event.object = object;
    event.component = component;
    event.reason = reason;
    event.message = message;
    host->event(host, &event);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
