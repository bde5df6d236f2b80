/*
 * One pass over a Service, and what its parts share. What a product hands in: controller.h.
 *
 * A pass that ensures:
 *   hash -> annotations that cannot be used (model/refusal.h), advice about fields -> finalizer,
 *   mark -> snapshot of nodes and slices -> readiness look -> lbc_pass_sync(): model, reads, plan,
 *   apply -> pods are told -> labels and status -> EnsuredLoadBalancer, events of the product ->
 *   additional tags remembered -> invalid backends fail it.
 *   What cannot be used ends the pass only where nothing was made yet; else the pass goes on
 *   without it and fails at its end.
 * A pass that releases:
 *   the load balancer goes (unless nothing is left) -> labels, status, condition, finalizer taken
 *   away.
 *
 * One thread per pass. Functions may block where said.
 */
#ifndef CCM_LBC_PASS_H
#define CCM_LBC_PASS_H

#include "lbc/apply/executor.h"
#include "lbc/controller.h"
#include "lbc/model/problem.h"
#include "lbc/service/hash.h"
#include "lbc/service/readiness.h"

/* Reasons and beginnings of the events; people search for them. Shared by all controllers. */
#define LBC_PASS_SYNC_FAILED  "SyncLoadBalancerFailed"
#define LBC_PASS_SYNC_WHAT    "Error syncing load balancer"
#define LBC_PASS_CLEAN_FAILED "CleanLoadBalancerFailed"
#define LBC_PASS_CLEAN_WHAT   "Error deleting load balancer"

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
    struct lbc_model *model;        /* the product's begins so. Valid during sync and release */
    bool releases;                  /* nothing of the Service's is to be left */
    bool last_user;                 /* a release: nobody else uses somebody else's load balancer */

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

/* --- facts; pass.c --- */

/* What the cloud holds of the load balancer, and what of it is desired. */
static inline struct lbc_lb *lbc_pass_lb(const struct lbc_pass *pass)
{
    return lbc_state_lb(pass->entry->state);
}
const struct lbc_tags *lbc_pass_desired_tags(const struct lbc_pass *pass);
/* Id of the load balancer as far as it is known, by the label at last; "" else. */
const char *lbc_pass_lb_id(const struct lbc_pass *pass);
/* Whether there may be something that the extra label tells of, see needs_mark(). */
bool lbc_pass_is_marked(const struct lbc_pass *pass);
/* What ids of the account its namespace may name, as configured now. */
struct lbc_allow lbc_pass_allow(const struct lbc_pass *pass);
/* Priority of a call. An ordinary one goes first in a release, and falls back behind those of other
 * Services in a second look, or after a node event; others stay. */
enum lbc_priority lbc_pass_priority(const struct lbc_pass *pass, enum lbc_priority wanted);
/* Whose the name of a group, or the description of a listener, is: 0 or -ENOMEM. */
CCM_NODISCARD int lbc_pass_owner_of(const struct lbc_pass *pass, const char *text, bool listener,
                                    enum lbc_owner *ret);
/* Whether a listener of the Service is there; port: see taken.h. */
bool lbc_pass_has_listener(const struct lbc_pass *pass, const char *port);
/* Whether what is in the mirror may be used: 0 when the load balancer of that id is the Service's
 * own, LBC_LOOKUP_NOT_OURS with err, or what else went wrong. Changes nothing. Blocks. */
CCM_NODISCARD int lbc_pass_check_owner(struct lbc_pass *pass, const char *lb_id,
                                       struct ccm_error *err);
/* Id of the Service's own load balancer, by its tags; heap, NULL when there is none. Blocks. */
CCM_NODISCARD int lbc_pass_find_own_id(struct lbc_pass *pass, char **ret, struct ccm_error *err);
/* The Service is to go, or not ours any more. */
bool lbc_pass_is_unwanted(const struct lbc_instance *lbc, const struct ccm_service *service);

/* --- events about failures; pass.c --- */

/* An event, if it is news on its topic; "" = the topic is over. */
void lbc_pass_emit_event(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                         const char *text);
/* "{what} [{id}]: {message} ({remedy})" as a Warning event, if that is news. Returns r. */
int lbc_pass_fail(struct lbc_pass *pass, const char *reason, const char *what, int r,
                  struct ccm_error *err);
/* The same for an answer of the API server: there is no remedy but what it says. */
int lbc_pass_fail_kube(struct lbc_pass *pass, const char *reason, const char *what, int r,
                       struct ccm_error *err);
/* The same for the collected problems; -EIO with the sum in err. */
int lbc_pass_fail_all(struct lbc_pass *pass, const char *reason, const char *what,
                      struct ccm_error *err);

/* --- what is no failure; advice.c --- */

/*
 * As lbc_pass_emit_event() for what follows from the Service as it is and does not fail: a person
 * who left it so was told then. The first pass after a restart that finds such a Service and
 * changes nothing for it keeps it to itself.
 */
void lbc_pass_advise(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                     const char *text);
/* Advice about what the manifest says: unknown annotations, those without effect (hint.h), fields
 * that nothing acts on (unserved.h). */
void lbc_pass_advise_manifest(struct lbc_pass *pass);
/* There is a load balancer, and whether it will be kept. */
void lbc_pass_advise_preserve(struct lbc_pass *pass);
/* Endpoints that name no node. */
void lbc_pass_advise_nameless(struct lbc_pass *pass, const struct lbc_candidates *sets,
                              size_t count);
/* Backends that are left out, as resolved for the groups of the model, and what is left undone
 * because of that. */
void lbc_pass_emit_backends(struct lbc_pass *pass, const struct lbc_resolved_list *resolved);
/* Groups as they will be. none: one has no backends; or what they keep because of `frozen_by`. */
void lbc_pass_emit_group_events(struct lbc_pass *pass, bool none, enum lbc_frozen_by frozen_by);
/* What was held back is said, or not. complete: the pass came to its end. */
void lbc_pass_end_advice(struct lbc_pass *pass, bool complete);

/* --- parts of a pass that ensures; ensure.c, sync.c --- */

CCM_NODISCARD int lbc_pass_ensure(struct lbc_pass *pass, struct ccm_error *err);
/*
 * Work out the desired state from pass->nodes, ->slices and ->readiness.accepted, find or read what
 * is there (the mirror), make the cloud match. Blocks. Sets entry->valid and ->used, pass->writes,
 * pass->invalid. Failures of single ports go to pass->problems; 0 then. Negative with err: it could
 * not go on at all; the caller tells.
 */
CCM_NODISCARD int lbc_pass_sync(struct lbc_pass *pass, struct ccm_error *err);
/* Whether a port of the Service is served, whatever else went wrong. */
bool lbc_pass_lb_serves(const struct lbc_pass *pass);
/* What a plan is made from. fresh: the mirror was read in this pass. */
struct lbc_plan_input lbc_pass_plan_input(const struct lbc_pass *pass, bool fresh);
/* A plan's way into the cloud, or in a dry run to whoever reads it. fresh: the mirror was read in
 * this pass. Blocks. Failures are in pass->problems; negative with err: it had to be given up. */
CCM_NODISCARD int lbc_pass_run_plan(struct lbc_pass *pass, struct lbc_plan *plan,
                                    const struct lbc_plan_input *in, enum lbc_priority priority,
                                    struct ccm_error *err);
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

/* --- a pass that releases; release.c --- */

CCM_NODISCARD int lbc_pass_release(struct lbc_pass *pass, struct ccm_error *err);

#endif
