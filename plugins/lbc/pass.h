/*
 * One pass over a Service, and what its parts share. What a product hands in: controller.h.
 *
 * A pass that ensures: lbc_pass_ensure() in ensure.c has its parts in order.
 *   Unusable annotations end it only while nothing has been made yet; else it goes on without them
 *   and fails at its end. When it is annotation id, only backends follow: keep.h. The same holds
 *   while the API server does not take what the Service has to show before something is created.
 * A pass that releases:
 *   the load balancer goes (unless nothing is left) -> labels, status, condition, finalizer go.
 *
 * One thread per pass. Functions may block where said.
 */
#ifndef CCM_LBC_PASS_H
#define CCM_LBC_PASS_H

#include "lbc/apply/executor.h"
#include "lbc/controller.h" /* a pass leads to its instance and its tables */
#include "lbc/lookup.h"
#include "lbc/model/problem.h"
#include "lbc/service/hash.h"
#include "lbc/service/readiness.h"
#include "util/retry_text.h"

/* What the caches hold of nodes and slices, as far as the Service needs it; see snapshot.c. */
struct lbc_snapshot {
    const struct ccm_object *const *nodes; /* all where all are backends; those that endpoints name
                                              where nodes with pods are; else none */
    const struct ccm_object **named;       /* the second of these; NULL = not */
    size_t node_count;
    const struct ccm_object *const *slices; /* of this Service */
    size_t slice_count;
};

enum lbc_silence {
    LBC_SILENCE_NONE,
    LBC_SILENCE_UNVERIFIED, /* success, but the cloud was not asked: a look follows */
    LBC_SILENCE_MUTE,       /* failure: the status, where it would be, could not be written */
};

/* The next pass. */
struct lbc_again_now {
    uint64_t ms;     /* until then; 0 = none is needed */
    const char *why; /* of an unfinished pass, a constant; NULL = for the cloud's work on it */
};

struct lbc_pass {
    struct lbc_instance *lbc;
    const struct ccm_request *req;
    const struct ccm_service *service;
    struct lbc_refusals refused; /* what cannot be used of the Service; of a pass that ensures */
    struct lbc_life life;        /* that of the instance; in a dry run all steps go to its `plan` */
    struct lbc_entry *entry;     /* claimed */
    struct lbc_model *model;     /* the product's begins so. Valid during sync and release */
    const char *kept; /* annotation id cannot be used, so the load balancer that serves is worked on
                         (keep.h): its id where it is a person's, "" = it is its own, or not known
                         yet; NULL = annotation id counts */
    bool releases;    /* nothing of the Service's is to be left there */

    struct lbc_snapshot snapshot;   /* of the cluster; valid during sync */
    struct lbc_readiness readiness; /* of pods that are not ready yet */
    bool audit; /* believe only what this pass has read, not the inventory either; audit.h */
    struct lbc_hash_seen hash; /* of a pass that ensures */

    /* Out. */
    struct lbc_problems problems;
    struct lbc_look_now look;
    struct lbc_release_now release;
    struct lbc_empty_ports empty;
    struct ccm_buf invalid;       /* addresses of pods that could not be attached, "a,b" */
    struct lbc_left_out left_out; /* backends that the cloud does not take */
    size_t writes;                /* to the cloud */
    bool fresh;                   /* the load balancer was read in this pass */
    struct lbc_again_now again;
    bool unfinished; /* the cloud still works on it: no failure, not complete, nothing is published;
                        come again after again.ms */
    enum lbc_silence silence; /* publish.c: why the condition says nothing of how it went */
    bool hashed; /* the hash label was written, or all was taken away: the Service is done, for the
                    first time or again */
};

/* --- facts; pass.c --- */

/* Free the model; NULL is fine. */
void lbc_pass_drop_model(struct lbc_pass *pass);
/* The Service without unusable annotations: what the desired state is built from. */
static inline const struct ccm_service *lbc_pass_view(const struct lbc_pass *pass)
{
    return pass->refused.annotations == NULL ? pass->service : &pass->refused.view;
}
/* The actual load balancer, and the desired one's tags. */
static inline struct lbc_lb *lbc_pass_lb(const struct lbc_pass *pass)
{
    return lbc_state_lb(pass->entry->state);
}
const struct lbc_tags *lbc_pass_desired_tags(const struct lbc_pass *pass);
/* Id of the load balancer: of the mirror, else of the label, else "". */
const char *lbc_pass_lb_id(const struct lbc_pass *pass);
/* Whether there may be something that only the extra label tells of, see needs_mark(). */
bool lbc_pass_is_marked(const struct lbc_pass *pass);
/* A restart: the Service was complete before this process, and no pass of it has ended yet. */
static inline bool lbc_pass_is_returning(const struct lbc_pass *pass)
{
    return lbc_hash_may_hold(pass->hash.verdict) && !pass->entry->completed;
}
/* Whether something may be created for the Service that only the extra label leads to. */
bool lbc_pass_needs_mark(const struct lbc_pass *pass);
/* What the desired state is made from; borrowed. */
struct lbc_model_input lbc_pass_model_input(const struct lbc_pass *pass);
/* Which ids of the account the namespace may name, as configured now. */
struct lbc_allow lbc_pass_allow(const struct lbc_pass *pass);
/* Priority of a call: an ordinary one goes first in a release, and last in an audit or after a node
 * event; others stay as they are. All but removals of backends come behind everybody else's when
 * the Service has failed more than once and nothing has changed since. */
enum lbc_priority lbc_pass_priority(const struct lbc_pass *pass, enum lbc_priority wanted);
/* Whose the name of a group, or the description of a listener, is: 0 or -ENOMEM. */
CCM_NODISCARD int lbc_pass_owner_of(const struct lbc_pass *pass, const char *text, bool listener,
                                    enum lbc_owner *ret);
/* Whether a listener of the Service is there; port: as lbc_taken_format_port() writes it. */
bool lbc_pass_has_listener(const struct lbc_pass *pass, const char *port);
/* Whose the load balancer of the mirror is, which was read by its id: 0 when it is the Service's
 * own, or there is none; LBC_LOOKUP_NOT_OURS with err. No call. */
CCM_NODISCARD int lbc_pass_check_own(const struct lbc_pass *pass, struct ccm_error *err);
/* Whether the cloud says that it does not exist. One read, which leaves the mirror alone; when it
 * fails, nothing is known and the answer is false. Blocks. */
bool lbc_pass_is_gone(struct lbc_pass *pass, const char *lb_id);
/* Whether a list by tags may not show yet what was created for the Service: by an earlier process a
 * moment before this one began, or by a call of this one that seemed to fail. */
bool lbc_pass_is_early(const struct lbc_pass *pass);
/* The same, or there are other reasons for doubt. */
bool lbc_pass_may_lack_parts(const struct lbc_pass *pass);
/* Whether lbc_pass_is_early() was true when the mirror was read. */
bool lbc_pass_was_read_early(const struct lbc_pass *pass);
/* None was found: whether another one may be created, as lbc_creation_judge() says; at once in a
 * dry run. */
enum lbc_creation_verdict lbc_pass_judge_creation(struct lbc_pass *pass, uint64_t *ret_wait_ms);
/* The pass ends, and comes again then to look for it. */
void lbc_pass_await_created(struct lbc_pass *pass, uint64_t wait_ms);
/* Id of the Service's own load balancer, by its tags; heap, NULL when there is none. Blocks. */
CCM_NODISCARD int lbc_pass_find_own_id(struct lbc_pass *pass, char **ret, struct ccm_error *err);
/* A look for the Service's own load balancer by its tag, for the `lb` of struct lbc_read_ops: begin
 * it, ask the cloud for those with tag `look->name`, offer them (lookup.h), end it with what was
 * read of the one that was taken. One of several is taken where the Service tells which, and all
 * of them go with it. Of what is none of the Service's nothing stays in `state`. 0, or what
 * lbc_lookup_end() says, or -ENOMEM. The caller finishes the look in any case. */
void lbc_pass_begin_own(const struct lbc_pass *pass, struct lbc_lookup *look);
CCM_NODISCARD int lbc_pass_end_own(struct lbc_pass *pass, const struct lbc_lookup *look,
                                   struct lbc_state *state, struct ccm_error *err);
/* The same for providers that look by name, too: how the load balancer is to be looked for, and,
 * with what came of it (id: what was found or NULL; r: the result), what the next look has to know;
 * frees how->several. */
struct lbc_lookup_how lbc_pass_begin_lookup(const struct lbc_pass *pass);
void lbc_pass_end_lookup(struct lbc_pass *pass, struct lbc_lookup_how *how, const char *id, int r);
/* Its class was ours when it was served, as its hash proves, and no option names that class any
 * more: it was the configuration that has changed, not the Service, so nothing is taken away. */
bool lbc_pass_is_disowned(const struct lbc_instance *lbc, const struct ccm_service *service);
/* It is of another type and still has our condition, which no finalizer of a product will remove.
 */
bool lbc_pass_has_old_condition(const struct lbc_instance *lbc, const struct ccm_service *service);
/* The Service is to go, or not ours any more. */
bool lbc_pass_is_unwanted(const struct lbc_instance *lbc, const struct ccm_service *service);
/* A first pass was interrupted on another load balancer than the desired one, before it served the
 * Service: on the one that the label of reuse names, or without that label on its own. */
bool lbc_pass_must_leave(const struct lbc_instance *lbc, const struct ccm_service *service);

/* --- events about failures; pass.c --- */

/* A Warning about what holds until it is reported as over (text "" or NULL). Each pass that finds
 * it reports it: the core decides whether it is news, and writes it again before events expire. */
void lbc_pass_emit_standing(const struct lbc_pass *pass, const char *topic, const char *reason,
                            const char *text);
/* The same about what is no failure. In the first pass after a restart over a Service that was
 * complete it is not written at once: the event of the process before is there. */
void lbc_pass_advise(const struct lbc_pass *pass, bool warning, const char *topic,
                     const char *reason, const char *text);
/* The same for all kinds of it; what->text "" = it is over. */
void lbc_pass_stand(const struct lbc_pass *pass, const struct lbc_life_standing *what);
/* What the condition says when all is well. */
#define LBC_PASS_SERVES_TEXT 600

#define LBC_PASS_AGAIN_MS 1 /* the next pass begins with what this one has written */
void lbc_pass_format_serves(const struct lbc_pass *pass, char ret[static LBC_PASS_SERVES_TEXT]);
/* --- what takes long without failing; progress.c --- */

/* Before a pass: an event when the first address of the Service takes seconds. */
void lbc_progress_begin(struct lbc_pass *pass);
/* After it: it waits for its turn, and why. */
void lbc_progress_wait(struct lbc_pass *pass, const struct ccm_error *err);
/* After it, for the status page: why NULL = nothing of it waits for a turn. */
void lbc_progress_publish(const struct lbc_pass *pass, const struct ccm_error *err);
/* No pass of the Service runs for ms. */
void lbc_progress_rest(const struct lbc_instance *lbc, const char *key, uint64_t ms);
/* Nothing is left of the Service. */
void lbc_progress_forget(const struct lbc_instance *lbc, const char *key);
/* After it: it has ended, well or not. */
void lbc_progress_end(struct lbc_pass *pass);

/* --- events about what is no failure; advice.c --- */

/* The manifest: unknown annotations; those without effect, and fields that nothing acts on
 * (rule.h).
 */
void lbc_pass_advise_manifest(struct lbc_pass *pass);
/* A load balancer would break fields that it does not serve: 0, or -EINVAL with a
 * CCM_ERROR_TERMINAL.
 */
CCM_NODISCARD int lbc_pass_check_fields(const struct lbc_pass *pass, struct ccm_error *err);
/* Whether the load balancer, which is there, will be kept. */
void lbc_pass_advise_preserve(struct lbc_pass *pass);
/* Endpoints that name no node. */
void lbc_pass_advise_nameless(struct lbc_pass *pass, const struct lbc_candidates *sets,
                              size_t count);
/* Endpoints with the address of a node that are no backends (service/hosted.h). Of those that are,
 * event BackendsFrozen says so: the model's groups have what is frozen. */
void lbc_pass_advise_node_addresses(struct lbc_pass *pass);
/* Pods that could be backends where nodes are. The load balancer has been read. */
void lbc_pass_advise_direct(struct lbc_pass *pass);
/* Backends of the model's groups that were left out, and what is left undone because of that. */
void lbc_pass_emit_backends(struct lbc_pass *pass, const struct lbc_resolved_list *resolved);
/* Backends that the plan's run has left out; pods among them count as not attached. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_pass_emit_left_out(struct lbc_pass *pass);
/* frozen_by: why groups keep what they have. */
void lbc_pass_emit_frozen(struct lbc_pass *pass, enum lbc_frozen_by frozen_by);

/* --- the cluster as the pass sees it; snapshot.c --- */

/* Nodes and slices, as far as the Service needs them: no walk over all nodes unless all are
 * backends. 0 or -ENOMEM with err; lbc_snapshot_drop() in any case. */
CCM_NODISCARD int lbc_snapshot_take(struct lbc_pass *pass, struct ccm_error *err);
void lbc_snapshot_drop(struct lbc_pass *pass);
/* The node whose instance or address that is; NULL: none, or out of memory. host->release() it. */
const struct ccm_node *lbc_snapshot_find_server(const struct lbc_pass *pass, const char *server);

/* --- a pass that ensures; ensure.c, its parts are in ensure.h --- */

/* All of it. Blocks. 0 or negative with err. */
CCM_NODISCARD int lbc_pass_ensure(struct lbc_pass *pass, struct ccm_error *err);
/* Whether a port of the Service is served, whatever else went wrong. */
bool lbc_pass_lb_serves(const struct lbc_pass *pass);

/* --- from what is there to what is desired; change.c --- */

/* What a plan is made from. fresh, here and below: the mirror was read in this pass. */
struct lbc_plan_input lbc_pass_plan_input(const struct lbc_pass *pass, bool fresh);
/* In a dry run, a warning each: backends that serve are removed; nodes of the control plane become
 * backends of groups that are there. rehearse.c. */
void lbc_pass_rehearse(struct lbc_pass *pass, const struct lbc_plan *plan);
/* Carry a plan out, or in a dry run print it. Blocks. Failures are in pass->problems; negative with
 * err: it was given up. */
CCM_NODISCARD int lbc_pass_run_plan(struct lbc_pass *pass, struct lbc_plan *plan,
                                    const struct lbc_plan_input *in, enum lbc_priority priority,
                                    struct ccm_error *err);
/*
 * Which of the `present` tags additional-resource-tags has put there: NULL = not known. To be asked
 * before planning. After a restart the hash label says that all wanted ones were, and the label of
 * marks.h which are ours; not on somebody else's load balancer, as whoever edits the Service can
 * write labels.
 */
const struct lbc_tags *lbc_pass_applied_tags(struct lbc_pass *pass, const struct lbc_tags *present);
/* Whether the load balancer that was read takes changes: 0; pass->unfinished: it is being made, and
 * the next pass reads it again; negative with err: it is broken, or was not ready for too long. No
 * call. */
CCM_NODISCARD int lbc_pass_check_ready(struct lbc_pass *pass, struct ccm_error *err);
/* A plan made from a mirror that may be old refused something: have the next pass read, if the
 * problems are news or some time has passed; a standing refusal must not read again every time. */
void lbc_pass_invalidate_mirror(struct lbc_pass *pass);
/* A run of the executor, to which the caller adds what is the product's; and what came of it for
 * pass and entry. */
struct lbc_apply lbc_pass_begin_apply(struct lbc_pass *pass, bool fresh);
void lbc_pass_end_apply(struct lbc_pass *pass, const struct lbc_apply *apply);
/* Before anything else: what came of jobs that an earlier pass has left. Negative: some have
 * failed, which was reported. While they run the pass is unfinished. Blocks. */
CCM_NODISCARD int lbc_pass_settle_jobs(struct lbc_pass *pass, struct ccm_error *err);
/* --- listeners that were taken over; taken_pass.c, see apply/taken.h --- */

/* Whether they are put back, as configured now. */
bool lbc_taken_restores(const struct lbc_instance *lbc);
/* Before they are taken over: report it, and keep what they were where they are to be put back.
 * Blocks. 0, or negative with err: then nothing must be taken over. */
CCM_NODISCARD int lbc_taken_remember(struct lbc_pass *pass, const struct lbc_taken_list *list,
                                     struct ccm_error *err);
/* Drop what is kept about listeners that are not ours, as `holds` says; report those that are.
 * Blocks. */
CCM_NODISCARD int lbc_taken_forget(struct lbc_pass *pass,
                                   bool (*holds)(const struct lbc_pass *pass, const char *port),
                                   struct ccm_error *err);

/* --- a pass that releases; release.c --- */

/* All of it. Blocks. 0 or negative with err. */
CCM_NODISCARD int lbc_pass_release(struct lbc_pass *pass, struct ccm_error *err);
/* What is known, noted and counted of the load balancer of that Service: there is none any more. */
void lbc_release_forget(struct lbc_instance *lbc, const char *key);
/* For lbc_pass_must_leave(): remove our part of a person's load balancer, and the label of reuse;
 * or delete the Service's own. Blocks. 0, or negative after the failure was reported. */
CCM_NODISCARD int lbc_pass_leave(struct lbc_pass *pass, struct ccm_error *err);

/* Who calls the cloud for the pass. */
static inline struct lbc_cloud_caller lbc_pass_caller(const struct lbc_pass *pass)
{
    return (struct lbc_cloud_caller){ pass->lbc->cloud.account, pass->lbc->host, pass->req };
}

#endif
