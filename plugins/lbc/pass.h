/*
 * What every controller of load balancers for Services does in every pass, whatever the product
 * behind it: events on change, failures, finalizer, labels and status, readiness of pods, second
 * look, inventory, release. The product's part is a table of functions.
 *
 * How a plugin uses it:
 *   1. Its instance begins with a struct lbc_instance: `struct nlb { struct lbc_instance lbc; ...
 * };`. In create(): zeroed memory, lbc_init(), its own options; in destroy(): lbc_fini().
 *   2. reconcile() is lbc_reconcile() (reconcile.h); map() functions are those of mapping.h
 * with
 *      `&lbc->mapping`; lint() is lbc_lint_service() (lint.h).
 *   3. It fills in a struct lbc_ops. Its functions get the pass; the instance is
 *      `(struct nlb *)pass->lbc`, the mirror `(struct nlb_state *)pass->entry->state`, the desired
 *      state `(struct nlb_model *)pass->model`.
 *
 * A pass that ensures:
 *   hash -> annotations that cannot be used (refusal.h), advice about fields -> finalizer,
 *   mark -> snapshot of nodes and slices -> readiness look -> ops->sync -> pods are told ->
 * ops->publish, labels and status -> EnsuredLoadBalancer -> ops->tell -> additional tags remembered
 * -> invalid backends fail it What cannot be used ends the pass only where nothing was made yet;
 * else the pass goes on without it and fails at its end. A pass that releases: ops->release (unless
 * nothing is left) -> labels, status, condition, finalizer taken away
 *
 * One thread per pass. Functions may block where said.
 */
#ifndef CCM_LBC_PASS_H
#define CCM_LBC_PASS_H

#include "lbc/apply/executor.h"
#include "lbc/audit.h"
#include "lbc/inventory.h"
#include "lbc/look.h"
#include "lbc/lookup.h"
#include "lbc/mapping.h"
#include "lbc/mirror.h"
#include "lbc/model/absence.h"
#include "lbc/model/allow.h"
#include "lbc/model/annotation.h"
#include "lbc/model/cloud.h"
#include "lbc/model/hint.h"
#include "lbc/model/problem.h"
#include "lbc/model/refusal.h"
#include "lbc/model/resolve.h"
#include "lbc/model/unserved.h"
#include "lbc/service/hash.h"
#include "lbc/service/lifecycle.h"
#include "lbc/service/readiness.h"

struct lbc_instance;
struct lbc_pass;

/* Reasons and beginnings of the events; people search for them. Shared by all controllers. */
#define LBC_PASS_SYNC_FAILED  "SyncLoadBalancerFailed"
#define LBC_PASS_SYNC_WHAT    "Error syncing load balancer"
#define LBC_PASS_CLEAN_FAILED "CleanLoadBalancerFailed"
#define LBC_PASS_CLEAN_WHAT   "Error deleting load balancer"

struct lbc_ops {
    /* --- what it is about; pure, every thread --- */

    const struct lbc_cloud_ops *cloud;
    bool (*is_ours)(const struct ccm_service *service); /* by its class */
    /* Id in the annotation that names somebody else's load balancer, "" = none. */
    const char *(*reused_id)(const struct ccm_service *service);
    const struct lbc_state_type *mirror;
    const struct lbc_anno_table *annotations;
    const struct lbc_unserved *unserved;       /* ends with a NULL topic */
    const struct lbc_hint *hints;              /* beside lbc_hints; ends with a NULL key */
    const struct lbc_inventory_ops *inventory; /* NULL = there is none */
    /* What a pass ends with when backends could not be attached ("has invalid ..."). */
    const char *invalid_text;
    /* What is said about pods that no network interface has: before and behind their addresses. */
    const char *missing_text[2];

    /*
     * Whether something may be made for the Service that only the extra label of struct
     * lbc_names tells of: then it is written first, and lbc_pass_is_marked() from then on. It
     * goes when publish() says that nothing is left, and with the release. NULL = never. Pure.
     */
    bool (*needs_mark)(const struct lbc_instance *lbc, const struct ccm_service *service);

    /* --- a pass that ensures --- */

    const struct lbc_lint_rules *rules; /* what annotations may say */
    /* What else cannot be used, as this instance is configured, by lbc_refusals_add(): 0 or
     * -ENOMEM. Pure. NULL = nothing. */
    int (*refuse)(const struct lbc_instance *lbc, struct lbc_refusals *refusals);

    size_t model_size; /* of the desired state; zeroed when sync begins */
    void (*model_fini)(void *model);
    /*
     * Work out the desired state from pass->nodes, ->slices and ->readiness.accepted, find or read
     * what is there (the mirror), make the cloud match. Blocks. Sets entry->valid and ->used,
     * pass->writes, pass->invalid (lbc_pass_resolve() does). Failures of single ports go to
     * pass->problems; 0 then. Negative with err: it could not go on at all; the caller tells.
     */
    int (*sync)(struct lbc_pass *pass, struct ccm_error *err);
    /* What the Service should say: lb_id, addresses or hostname, extra label; the hash is not its
     * business. False: nothing serves yet, leave alone. May block. */
    bool (*publish)(struct lbc_pass *pass, struct lbc_life_state *state);
    /* After a complete success: what a person should know that is no failure, by
     * lbc_pass_emit_event(). */
    void (*emit_events)(struct lbc_pass *pass);
    /* Whether a listener of the Service is there; port: see taken.h. */
    bool (*has_listener)(const struct lbc_pass *pass, const char *port);
    /* The additional tags of the desired state. */
    const struct lbc_tags *(*tags)(const void *model);

    /* --- a pass that releases --- */

    /*
     * Take everything that is ours out of the cloud, or let go of it (entry->reused says whose load
     * balancer it is). Blocks. Whose a load balancer of its own is by now is read before: another's
     * goes to lbc_pass_leave_alone(). 0: nothing is left. Negative: told already, with
     * lbc_pass_fail().
     */
    int (*release)(struct lbc_pass *pass, struct ccm_error *err);
    /* Read the load balancer of that id: 0 when it is the Service's own, LBC_LOOKUP_NOT_OURS with
     * err, or what else went wrong. Changes nothing. Blocks. */
    int (*check_owner)(struct lbc_pass *pass, const char *lb_id, struct ccm_error *err);
    /*
     * What is to be released when the annotation that names a load balancer and the label with the
     * last one differ. false: its own, found by its tags. true: the entry is claimed with what the
     * label says (lbc_entry_acquired_id()), so that release() can take out of it what a Service
     * left there whose annotation is gone; whether it is its own after all is for release() to find
     * out.
     */
    bool release_by_label;
};

/* The instance. Fixed after create() but for what its parts guard. Shared by all workers. */
struct lbc_instance {
    const struct ccm_host *host;
    const struct lbc_ops *ops;
    struct lbc_cloud cloud;
    struct lbc_mirrors *mirrors;
    struct lbc_inventory *inventory; /* NULL: there is none */
    struct lbc_absence *absence;     /* what went from the API server */
    struct lbc_audit audit;
    struct lbc_life life;
    struct lbc_mapping mapping;
    bool default_eni;
    bool dry;            /* host->dry_run() */
    bool loose;          /* see struct lbc_lint_rules */
    unsigned extras;     /* options that serve more of the specification; bits of the plugin */
    const char *ip_mode; /* of the status; NULL or "" = not told */
    const char *type;    /* see struct lbc_names, as the next */
    const char *verb;
    const char *public_option;
    const char *plugin;
    atomic_llong released_until_ms; /* monotonic: until then a person lets everything go */
    atomic_bool conditions;         /* Services say how they are */
    atomic_bool disable_public;     /* no load balancer with a public address is made */
    atomic_int reuse; /* enum lbc_reuse: whether load balancers that a person made are used */
};

/* Who it is in Kubernetes. */
struct lbc_names {
    const char *finalizer;
    const char *component;   /* of events */
    const char *extra_label; /* a third label that it keeps, NULL = none */
    const char *type;        /* in metrics: "CLBType", "NLBType" */
    /* In metrics: verb under which all passes that went well are measured once more, as the
     * reference does for this type. NULL = none. */
    const char *verb;
    const char
        *public_option; /* the plugin's own, BOOL: see disable_public of struct lbc_instance */
    const char *plugin; /* its name, for people */
};

/*
 * Fill a zeroed instance: store, inventory, account (acquired, not started). The caller
 * sets the members that come from options (audit.interval_ms, default_eni with mapping.default_eni,
 * extras, ip_mode, conditions). 0 or negative with err; lbc_fini() in any case. No I/O.
 */
CCM_NODISCARD int lbc_init(struct lbc_instance *lbc, const struct ccm_host *host,
                           const struct lbc_ops *ops, const struct lbc_names *names,
                           struct ccm_error *err);
void lbc_fini(struct lbc_instance *lbc);
/* Of the cluster: everything we own is marked with it. Valid once the account is started. */
const char *lbc_cluster_id(const struct lbc_instance *lbc);

/* An event that waits for the end of the pass; topic and reason are constants. */
struct lbc_advice {
    bool warning;
    const char *topic;
    const char *reason;
    char *text;
};

struct lbc_pass {
    struct lbc_instance *lbc;
    const struct ccm_request *req;
    const struct ccm_service *service;
    const struct ccm_service *view; /* the same without annotations that cannot be used: what the
                                       desired state is built from. Valid during sync */
    struct lbc_refusals refused;    /* those annotations; of a pass that ensures */
    struct lbc_life life;           /* that of the instance; in a dry run it writes to `steps` */
    struct lbc_entry *entry;        /* claimed */
    void *model;                    /* the plugin's; NULL in a pass that releases */

    /* In: valid during sync. */
    const struct ccm_object *const *nodes;
    size_t node_count;
    const struct ccm_object *const *slices; /* of this Service */
    size_t slice_count;
    struct lbc_readiness readiness; /* of pods that are not ready yet */
    bool audit;                     /* a second look, see audit.h: whatever was not read by it is
                                       not to be believed, an inventory neither */
    bool dry; /* a dry run: sync and release read and plan as ever, but print what they would do to
                 `steps` instead of doing it */
    bool known; /* the hash label says the same: it was once complete with this specification */
    char hash[LBC_HASH_TEXT]; /* of the Service as it is; of a pass that ensures */
    bool looked;     /* an edit by a person: the mirror was put aside, and nothing that was read
                        before is to be believed, as with `audit` */
    bool put_off;    /* an edit by a person that is looked after later, see look.h */
    bool remembered; /* it goes by a mirror that an earlier pass has left */
    bool returning;  /* known, and nobody was advised in this process yet: it has been restarted */

    /* Out. */
    struct lbc_problems problems;
    struct lbc_advice *advice; /* what is held back, see lbc_pass_advise() */
    size_t advice_count;
    size_t advice_cap;
    struct ccm_buf invalid; /* addresses of pods that could not be attached, "a,b" */
    size_t writes;          /* to the cloud */
    bool fresh;             /* of sync and release: the load balancer was read in this pass */
    struct ccm_buf steps;   /* of a dry run: one line per step, "what: from -> to" */
    uint64_t requeue_ms;    /* 0 = no need to come again */
    bool unfinished; /* the cloud still works on it: nothing failed, nothing is complete, nothing is
                        published; come again after requeue_ms */
    bool unverified; /* nothing was published, because nothing was asked of the cloud: a look
                        follows */
    bool hashed;  /* the hash label was written: the Service is done for the first time, or again */
    bool cleaned; /* nothing of ours is left, neither in the cloud nor at the Service, for the first
                     time */
};

/* --- for the plugin's part --- */

/* Id of the load balancer as far as it is known; "" else. */
const char *lbc_pass_lb_id(const struct lbc_pass *pass);
/* Whether there may be something that the extra label tells of, see needs_mark(). */
bool lbc_pass_is_marked(const struct lbc_pass *pass);
/* What ids of the account its namespace may name, as configured now. */
struct lbc_allow lbc_pass_allow(const struct lbc_pass *pass);
/* Priority of a call: that of an ordinary read or write falls back behind those of other Services
 * in a second look, or after a node event; others stay. */
enum lbc_priority lbc_pass_priority(const struct lbc_pass *pass, enum lbc_priority wanted);
/* An event, if it is news on its topic; "" = the topic is over. */
void lbc_pass_emit_event(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                         const char *text);
/*
 * The same for what follows from the Service as it is and does not fail: a person who left it so
 * was told then. The first pass after a restart that finds such a Service and changes nothing for
 * it keeps it to itself.
 */
void lbc_pass_advise(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                     const char *text);
/* Advice about what the manifest says: unknown annotations, those without effect (hint.h), fields
 * that nothing acts on (unserved.h). */
void lbc_pass_advise_manifest(struct lbc_pass *pass);
/* There is a load balancer, and whether it will be kept. */
void lbc_pass_advise_preserve(struct lbc_pass *pass, bool preserve);
/* "{what} [{id}]: {message} ({remedy})" as a Warning event, if that is news. Returns r. */
int lbc_pass_fail(struct lbc_pass *pass, const char *reason, const char *what, int r,
                  struct ccm_error *err);
/* The same for an answer of the API server: there is no remedy but what it says. */
int lbc_pass_fail_kube(struct lbc_pass *pass, const char *reason, const char *what, int r,
                       struct ccm_error *err);
/* The same for the collected problems; -EIO with the sum in err. */
int lbc_pass_fail_all(struct lbc_pass *pass, const char *reason, const char *what,
                      struct ccm_error *err);
/* lbc_resolve() into an empty list, which the caller finishes in any case; and pass->invalid.
 * Blocks. */
CCM_NODISCARD int lbc_pass_resolve(struct lbc_pass *pass, const struct lbc_candidates *sets,
                                   size_t count, struct lbc_resolved_list *ret,
                                   struct ccm_error *err);
/* Events about backends that are left out (per set, as resolved). */
void lbc_pass_emit_backends(struct lbc_pass *pass, const struct lbc_resolved_list *resolved);
/* The same about groups as they will be. none: the text when one has no backends, "" when they all
 * have some; or what they keep because of `hold`. */
void lbc_pass_emit_group_events(struct lbc_pass *pass, const char *none,
                                enum lbc_frozen_by frozen_by);
/* Somebody has changed the load balancer beside us, and the steps (one text; "" = none) repaired
 * it. */
void lbc_pass_emit_repair(const struct lbc_pass *pass, const char *steps);
/* Whether this pass can tell what somebody else has changed: the mirror was put aside, and
 * entry->aside is that of the same load balancer. */
bool lbc_pass_can_show_repair(const struct lbc_pass *pass);
/*
 * A release found that the load balancer is not the Service's (LBC_LOOKUP_NOT_OURS; err says
 * whose it is): it stays as it is, a Warning tells so, and nothing is left for the Service to wait
 * for. Clears err.
 */
void lbc_pass_leave_alone(struct lbc_pass *pass, struct ccm_error *err);
/*
 * The load balancer of the Service, which has these tags, is about to be deleted: nobody is shown
 * its address, id and hash any longer. Only when its owner's tag leads to it without the label;
 * the finalizer and the plugin's own label stay until the end. A failure is left to the end.
 * Blocks.
 */
void lbc_pass_withdraw(struct lbc_pass *pass, const struct lbc_tags *tags);
/* Whether a missing load balancer may be made: not when the status shows one that was there, nor
 * without what a person asks for. 0, or a CCM_ERROR_TERMINAL: -ENOENT, -EINVAL, or
 * LBC_LOOKUP_NOT_OURS when that of the label is there, but is not the Service's any more, which is
 * read. */
CCM_NODISCARD int lbc_pass_check_create(struct lbc_pass *pass, struct ccm_error *err);
/*
 * The additional tags that are on the load balancer because of us: NULL = not known. To be asked
 * before planning; present: all that it has. After a restart the hash label tells that all that is
 * wanted was done, and the label of marks.h which of those present are ours; the latter not on
 * somebody else's load balancer, since whoever edits the Service can write to it.
 */
const struct lbc_tags *lbc_pass_applied_tags(struct lbc_pass *pass, const struct lbc_tags *present);
/* What a run of the executor needs of the pass: the caller adds what is the product's. fresh: the
 * mirror was read in this pass. */
struct lbc_apply lbc_pass_begin_apply(struct lbc_pass *pass, bool fresh);
/* What came of it for the pass and the entry. */
void lbc_pass_end_apply(struct lbc_pass *pass, const struct lbc_apply *apply);
/*
 * A plan refused something (ports that clash, what cannot be changed), going by a mirror that was
 * not read in this pass: it may be old. Drops its validity, so that the next pass reads, if the
 * problems are news or some time has passed; else every second pass of a standing refusal would
 * read everything again.
 */
void lbc_pass_invalidate_mirror(struct lbc_pass *pass);
/* The Service is to go, or not ours any more. */
bool lbc_pass_is_unwanted(const struct lbc_instance *lbc, const struct ccm_service *service);

/* --- parts of the pass: ensure.c, release.c, advice.c --- */

CCM_NODISCARD int lbc_pass_ensure(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int lbc_pass_release(struct lbc_pass *pass, struct ccm_error *err);
/* What was held back is said, or not. complete: the pass came to its end. */
void lbc_pass_end_advice(struct lbc_pass *pass, bool complete);

#endif
