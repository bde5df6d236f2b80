/*
 * What a load balancer controller is made of: the tables that its plugin hands in, and the
 * instance.
 *
 * How a plugin uses it:
 *   1. Its model begins with a struct lbc_model (apply/model.h), its state with a struct lbc_state.
 *   2. It fills in a struct lbc_ops. The functions get the pass (pass.h), or what is pure of it.
 *   3. Its descriptor is LBC_PLUGIN with name and options (instance.h).
 *
 * Functions may block where said. Those that take a pass are called by the one thread of that pass,
 * all others by any.
 */
#ifndef CCM_LBC_CONTROLLER_H
#define CCM_LBC_CONTROLLER_H

#include "lbc/apply/executor.h"
#include "lbc/apply/model.h"
#include "lbc/apply/plan.h"
#include "lbc/apply/unknown.h"
#include "lbc/audit.h"
#include "lbc/inventory.h"
#include "lbc/lost.h"
#include "lbc/mirror.h"
#include "lbc/model/absence.h"
#include "lbc/model/cloud.h"
#include "lbc/model/freeze.h"
#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "lbc/orphans.h"
#include "lbc/rules/lint.h"
#include "lbc/service/lifecycle.h"

struct lbc_pass;
struct lbc_health;      /* health.h */
struct lbc_vswitch_use; /* vswitch.h */
struct lbc_vswitches;

/* A limit of the account: its name in option account_quotas, and what is published. */
struct lbc_quota_limit {
    const char *name;
    uint64_t published;
};

/* What a product serves. */
struct lbc_served {
    char letter;          /* that uids begin with, see lbc_owner_is_lb_name(); 0 = Services */
    const char *noun;     /* for messages */
    const char *resource; /* for kubectl */
    const char *member;   /* of the status, with the addresses */
};

/* What a product does in another way than the engine does without the bit. */
enum lbc_trait {
    /* A load balancer that the status shows is missed before a message says that none is created.
     */
    LBC_FINDS_SHOWN = 1U << 0,
    /* A listener that was stopped serves no traffic. */
    LBC_MUST_RUN = 1U << 1,
    /* What is wrong before the first step of a plan counts as a failed step. */
    LBC_COUNTS_PROBLEMS = 1U << 2,
    /* Without any usable port no load balancer is created. */
    LBC_NEEDS_PORT = 1U << 3,
    /* When annotation id and the label with the last load balancer differ, the one that the label
     * names is released, so that a release can take out of it what a Service left there whose
     * annotation is gone. The release finds out whether it is its own. Without: its own, found by
     * its tags. */
    LBC_RELEASES_BY_LABEL = 1U << 4,
    /* A repeated creation creates no second load balancer: it carries the token of token.h, or a
     * name that only one may have. Without that the engine does not repeat one while a list by tags
     * may be late, see lbc/creation.h. */
    LBC_CREATES_ONCE = 1U << 5,
    /* A release succeeds although somebody else's load balancer is gone: see forgives_lb. */
    LBC_FORGIVES_REUSED = 1U << 6,
    /* Metrics have successful passes once more with the verb "reconcile", as the reference does. */
    LBC_MEASURES_AGAIN = 1U << 7,
};

/* What the product is, and how it is called: data and pure functions. */
struct lbc_product {
    const char *name;        /* of the plugin, for people */
    const char *finalizer;   /* of Services */
    const char *component;   /* of events */
    const char *extra_label; /* a third label that it keeps, NULL = none */
    /* LBC_LIFE_REUSED_LABEL with its name behind: no other plugin looks at it. */
    const char *reused_label;
    const char *type; /* in metrics: "CLBType", "NLBType" */
    /* What a pass ends with when backends could not be attached ("has invalid ..."). */
    const char *invalid_text;
    /* About pods whose address no network interface has: before and behind the addresses. */
    const char *missing_text[2];
    /* What is left undone because of them: before and behind the group's name; unset = nothing. */
    const char *kept_text[2];
    const char *no_backends_text;
    const char *console;      /* word for the cloud's console(); NULL = there is none */
    const char *probes_from;  /* where health checks come from; for products with health() */
    const char *vswitch_from; /* what says where new ones stand; for products with vswitch() */
    /* What it serves is no Service, but shown to the engine as one; NULL = Services. */
    const struct lbc_served *served;
    unsigned traits; /* enum lbc_trait */

    /* Whether something may be made for the Service that only the extra label tells of: the label
     * is written first then, and makes lbc_pass_is_marked() true. It goes when publish() says that
     * nothing is left, and with the release. NULL = never. */
    bool (*needs_mark)(const struct lbc_instance *lbc, const struct ccm_service *service);
    /* Limits of the account, by enum lbc_quota; NULL, as the name of one: not watched. */
    const struct lbc_quota_limit *quotas;
    /* Add what cannot be used of a Service beside annotations, by lbc_refusals_add(): 0 or -ENOMEM.
     * NULL = nothing. */
    int (*refuse)(const struct lbc_instance *lbc, struct lbc_refusals *refusals);
};

/* Services, or what else it serves. */
const struct lbc_served *lbc_product_served(const struct lbc_product *product);

/* From the cloud to the state (pass->entry->state). All or nothing: a failed read never looks like
 * an empty answer. They block. */
struct lbc_read_ops {
    /* The load balancer itself into `state`. id NULL: the Service's own, by its tags; none is no
     * failure. Else (text that is not in `state`) -ENOENT with CCM_ERROR_NOT_FOUND when it does not
     * exist; then there is none in `state`. */
    int (*lb)(struct lbc_pass *pass, const char *id, struct lbc_state *state,
              struct ccm_error *err);
    /* The address or name of the load balancer that the status of a Service shows; "" = not known,
     * NULL = the status shows another one. The function NULL: it is not compared with that of
     * somebody else's. No call. */
    const char *(*address)(const struct lbc_pass *pass);
    /* Whether a load balancer of the account, whoever owns it, may have an address or hostname that
     * the Service's status shows: 1 or 0, or negative with err. NULL = not known, so it may. */
    int (*holds_shown)(struct lbc_pass *pass, struct ccm_error *err);
    /* All else that the plan has to know and that is not known yet, of a load balancer that is
     * there or not. NULL = lb() has read it. */
    int (*parts)(struct lbc_pass *pass, struct ccm_error *err);
    /* The same once it is certain that one may be made; NULL = nothing more. */
    int (*details)(struct lbc_pass *pass, struct ccm_error *err);
    /* How the backends of each desired listener are, into zeroed memory; NULL = it is not known. */
    int (*health)(struct lbc_pass *pass, struct lbc_health *ret, struct ccm_error *err);
    /* Ids of the vSwitches that the load balancer stands in, borrowed, at most `max`; returns how
     * many. NULL = it is not asked. No call. */
    size_t (*vswitches)(const struct lbc_state *state, const char **ret, size_t max);
    /* How many addresses of one of them are used. */
    int (*vswitch)(struct lbc_pass *pass, const char *id, struct lbc_vswitch_use *ret,
                   struct ccm_error *err);
    /* What the way out has to know: with `empties` of the rules all listeners and groups; NULL =
     * lb() has read it. */
    int (*release)(struct lbc_pass *pass, struct ccm_error *err);
};

/* The way from the state to the model. */
struct lbc_change_ops {
    const struct lbc_plan_ops *rules;
    const struct lbc_apply_ops *steps; /* how they are carried out */
    /* Carry a plan out, between lbc_pass_begin_apply() and lbc_pass_end_apply(); NULL = calls need
     * nothing but what the pass gives. Blocks. Failures go to pass->problems; negative: it was
     * given up. */
    int (*apply)(struct lbc_pass *pass, struct lbc_plan *plan, enum lbc_priority priority,
                 bool fresh);
    /* Remember in the mirror what a person asks for at present; NULL = nothing. */
    void (*record)(struct lbc_pass *pass);
    /* Delete what is left behind a release; NULL = nothing. Blocks. 0 or negative with err. */
    int (*release_rest)(struct lbc_pass *pass, struct ccm_error *err);
};

/* What people see. */
struct lbc_status_ops {
    /* What the Service should say of a load balancer that serves: addresses or hostname, extra
     * label. False: leave alone. May block. */
    bool (*publish)(struct lbc_pass *pass, struct lbc_life_state *state);
    /* After a complete success: what a person should know that is no failure, by
     * lbc_pass_advise(). NULL = nothing. */
    void (*emit_events)(struct lbc_pass *pass);
};

struct lbc_ops {
    const struct lbc_product *product;
    const struct lbc_cloud_ops *cloud;
    const struct lbc_state_type *mirror;
    const struct lbc_inventory_ops *inventory; /* NULL = there is none */
    const struct lbc_model_ops *model;
    const struct lbc_read_ops *read;
    const struct lbc_change_ops *change;
    const struct lbc_status_ops *status;
};

/* The instance. Fixed after create() but for what its parts guard. Shared by all workers. */
struct lbc_instance {
    const struct ccm_host *host;
    const struct lbc_ops *ops;
    struct lbc_cloud cloud;
    struct lbc_mirrors *mirrors;
    struct lbc_inventory *inventory; /* NULL: there is none */
    struct lbc_orphans *orphans;     /* of the one key that looks for them */
    struct lbc_usage *usage;         /* what quotas count */
    struct lbc_vswitches *vswitches; /* how full they are */
    struct lbc_lost *lost;           /* Services whose load balancer is gone */
    struct lbc_unknown *unknown;     /* backends that the cloud does not take */
    struct lbc_absence *absence;     /* what went from the API server */
    struct lbc_figures *figures;     /* of all Services together */
    struct lbc_audit audit;
    struct lbc_life life;
    bool (*is_ours)(const struct ccm_service *service); /* ask lbc_owns(); NULL = by class_name */
    bool (*takes)(const struct ccm_service *service, const struct lbc_choice *choice);
    struct lbc_choice choice; /* for takes(), which goes before is_ours(); NULL = there is none */
    bool any_node;            /* of struct lbc_model_ops */
    bool pods_by_default;
    bool dry;             /* host->dry_run() */
    int64_t started_ms;   /* wall clock: since when this process makes anything; 0 = not yet */
    int64_t began_ms;     /* the same, monotonic */
    atomic_uint batch;    /* backends per call; only ever lowered; 0 = as the rules say */
    atomic_uint reported; /* events that are about no single Service, once; bits of the plugin */
    unsigned extras;      /* options that serve more of the specification; bits of the plugin */
    const char *ip_mode;  /* of the status; NULL or "" = not shown */
    atomic_llong
        unserved_wait_ms; /* so long a port may be without ready backend before it is reported */
    atomic_llong released_until_ms; /* monotonic: until then a person lets everything go */
    atomic_uint near; /* 1 << enum lbc_quota: it was reported that little of it is left */
    atomic_ullong quota_told[LBC_QUOTA_COUNT]; /* limit << 32 | used, as in the metrics */
    atomic_bool conditions;                    /* Services say how they are */
    atomic_bool pods_only;                     /* endpoints that are no pods are no backends */
    atomic_bool disable_public;                /* no load balancer with a public address is made */
    atomic_int reuse; /* enum lbc_reuse: whether load balancers that a person made are used */
};

static inline bool lbc_has_trait(const struct lbc_instance *lbc, enum lbc_trait trait)
{
    return (lbc->ops->product->traits & trait) != 0;
}

/* Whether a Service is the product's, as the options have it. */
static inline bool lbc_owns(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    if (lbc->takes != NULL) {
        return lbc->takes(service, &lbc->choice);
    }
    return lbc->is_ours != NULL ? lbc->is_ours(service)
                                : lbc_class_is(service, lbc->ops->model->rules->class_name);
}

/* The load balancer of a person that the Service names; "" = none, also where the provider's table
 * has no row for that. */
static inline const char *lbc_reused_id(const struct lbc_instance *lbc,
                                        const struct ccm_service *service)
{
    return lbc_setting_reused_id(lbc->ops->model->rules->annotations, service);
}

/* Of the cluster: everything we own is marked with it. Valid once the account is started. */
static inline const char *lbc_cluster_id(const struct lbc_instance *lbc)
{
    return lbc_cloud_site(&lbc->cloud).cluster_id;
}

#endif
