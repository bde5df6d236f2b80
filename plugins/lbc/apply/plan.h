/*
 * What the plans of all products have in common: whose something is, what becomes of the backends
 * of groups, whose port it is, what is not wanted any more, listeners of persons. A product decides
 * the order, and what is its own. Pure. One thread.
 */
#ifndef CCM_LBC_PLAN_H
#define CCM_LBC_PLAN_H

#include "ccm/object.h"
#include "lbc/apply/diff.h"
#include "lbc/apply/model.h"
#include "lbc/apply/pending_change.h"
#include "lbc/apply/step.h"
#include "lbc/apply/taken.h"
#include "lbc/model/freeze.h"
#include "lbc/model/owner.h"

struct lbc_work;

#define LBC_EMPTIES_LISTENERS (1U << 0)
#define LBC_EMPTIES_GROUPS    (1U << 1)

/* Appends the steps of a part of a plan; 0 or -ENOMEM. */
typedef int (*lbc_plan_fn)(struct lbc_work *work);

/* What a plan is for. */
enum lbc_way {
    LBC_WAY_ENSURE,   /* the way to what is desired */
    LBC_WAY_DROP,     /* delete the load balancer with all that is in it */
    LBC_WAY_PRESERVE, /* keep it with all that serves, and take our marks off it */
    LBC_WAY_LEAVE,    /* take what is ours out of somebody else's */
    LBC_WAY_COUNT,
};

enum lbc_plan_trait {
    /* Each step has a stage of its own. */
    LBC_PLAN_SERIAL = 1U << 0,
    /* On a load balancer of its own a listener that no port wants is deleted, whoever made it, and
     * so is one that has the port of a desired one. */
    LBC_PLAN_SWEEPS = 1U << 1,
    /* `have` has groups of others, whose backends are not read. */
    LBC_PLAN_LISTS_ALL = 1U << 2,
    /* A load balancer that somebody else made is tagged as one in use. */
    LBC_PLAN_TAGS_REUSED = 1U << 3,
    /* Steps carry what becomes different, and problems name a foreign listener by protocol and
     * port. */
    LBC_PLAN_NAMES_CHANGES = 1U << 4,
    /* A printed plan has present values. */
    LBC_PLAN_PRINTS_PRESENT = 1U << 5,
    /* A load balancer that has LBC_TAGS_MAX tags has no room for marks. */
    LBC_PLAN_LIMITS_TAGS = 1U << 6,
};

/* A product. */
struct lbc_plan_ops {
    const struct lbc_step_table *steps;
    /* The parts of each plan, in this order, NULL at the end. */
    const lbc_plan_fn *parts[LBC_WAY_COUNT];
    /* Whose key it is. as_listener: it describes a listener. 0, or -ENOMEM: it is a key. NULL: keys
     * are those of owner.h. */
    int (*parse_owner)(const char *text, bool as_listener, const struct ccm_object *service,
                       const char *cluster_id, enum lbc_owner *ret);

    /* --- may be NULL --- */

    /* Steps for attributes of a present group. */
    int (*update_group)(struct lbc_work *work, const struct lbc_group *want,
                        struct lbc_group *have);
    /* Steps from work->stage on for what a listener has beside its attributes; have NULL: it is
     * made. */
    int (*plan_more)(struct lbc_work *work, const struct lbc_listener *want,
                     struct lbc_listener *have);
    /* Steps for the attributes of a present listener and the group that it sends to (NULL: that is
     * still to be made). NULL: by the rows alone. */
    int (*update_listener)(struct lbc_work *work, const struct lbc_listener *want,
                           struct lbc_listener *have, struct lbc_group *group);
    /* Whether a listener cannot be changed into the desired one, but has to be made anew. */
    bool (*needs_rebuild)(const struct lbc_work *work, const struct lbc_listener *want,
                          const struct lbc_listener *have);
    /* Whether a listener that is put back may send to the group (NULL: it had none). */
    bool (*may_restore)(const struct lbc_work *work, const struct lbc_group *group);

    size_t batch; /* backends per call at most */
    /* Backends that the creation of a group takes, and any call once the cloud has refused a larger
     * one (LBC_REFUSAL_BATCH). 0: a group is created empty. */
    size_t create_batch;
    /* What lbc_plan_drop_lb() deletes first, one step each, because the cloud deletes no load
     * balancer that still has some: LBC_EMPTIES_*; 0: one step takes it with all that is in it.
     * They have to be known then, see release() of struct lbc_read_ops. */
    unsigned empties;
    unsigned traits; /* enum lbc_plan_trait */
};

/* What a plan is made from; borrowed. */
struct lbc_plan_input {
    const struct lbc_model *model; /* of the product */
    const struct lbc_state *have;  /* the product's */
    const struct ccm_service *service;
    const char *noun; /* of what is served, for people; NULL = "Service" */
    const char *cluster_id;
    const struct lbc_tags *applied; /* additional tags that we put on earlier; NULL = not known */
    const struct lbc_pending_change
        *pending;        /* a change that is not shown yet; NULL = there is none */
    int64_t now_ms;      /* monotonic; only with such a change */
    size_t batch;        /* backends per call; 0 = as many as the product takes */
    bool fresh;          /* `have` was read in this pass */
    bool last_user;      /* a release: nobody else uses the load balancer */
    bool restores;       /* listeners that were taken over are put back, or else not taken over */
    bool cannot_restore; /* the cloud refuses that */
};

/* A plan that is being made. */
struct lbc_work {
    const struct lbc_plan_ops *ops;
    const struct lbc_anno_table *annotations; /* attributes of listeners are rows of it */
    struct lbc_plan *plan;
    const struct lbc_plan_input *in;
    const struct lbc_model *model; /* of `in`, as the next */
    const struct lbc_state *have;
    const struct lbc_state *want;  /* of the model */
    const struct lbc_lb *lb;       /* as it is, or as it will be when it is made */
    struct lbc_problems *problems; /* what must not be done; NULL where nothing is refused */
    size_t batch;                  /* backends per call */
    unsigned stage;                /* the first one of the next part; parts before it end earlier */
    int error; /* -ENOMEM once it could not be told whose something is: such a plan is no good */
};

/*
 * The way from in->have to the model, into an empty plan. On somebody else's load balancer a
 * Service changes nothing but its own as long as one of its ports is refused (plan->blocked). What
 * must not be done (immutable attributes, a port that another Service holds) goes to `problems`,
 * the rest is planned. 0 or -ENOMEM. The caller finishes the plan in any case.
 */
CCM_NODISCARD int lbc_plan_ensure(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                                  const struct lbc_plan_input *in, struct lbc_problems *problems);
/* The same for the end of a Service, as the model says: delete the load balancer, keep it
 * (preserve), or leave somebody else's (reused). */
CCM_NODISCARD int lbc_plan_release(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                                   const struct lbc_plan_input *in);

/* What of a plan from `in` is there because somebody else has changed something: it would not be
 * there if the cloud still held what it held `before`. As names of steps with their ports -> ret. 0
 * or -ENOMEM. */
CCM_NODISCARD int lbc_plan_describe_repair(const struct lbc_plan *plan,
                                           const struct lbc_plan_ops *ops,
                                           const struct lbc_plan_input *in,
                                           const struct lbc_state *before, struct ccm_buf *ret);

/* --- ports that annotations do not decide; plan_follow.c --- */

/* The present group that shows what the backends of the Service are -> *ret, NULL = there is none.
 * 0 or -ENOMEM. */
CCM_NODISCARD int lbc_plan_find_shown(const struct lbc_plan_ops *ops,
                                      const struct lbc_plan_input *in,
                                      const struct lbc_group **ret);
/* Groups of in->model that are broken, or desired where they are present only: each becomes the
 * present group that serves its port, if that has something of the Service. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_plan_follow(const struct lbc_plan_ops *ops, const struct lbc_plan_input *in);

/* --- for the parts of a plan --- */

static inline bool lbc_work_has(const struct lbc_work *work, enum lbc_plan_trait trait)
{
    return (work->ops->traits & trait) != 0;
}

struct lbc_work lbc_work_begin(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                               const struct lbc_plan_input *in, struct lbc_problems *problems);
/* The same as the rules have it; NULL is nobody's. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_plan_parse_owner(const struct lbc_plan_ops *ops, const char *text,
                                       bool as_listener, const struct ccm_object *service,
                                       const char *cluster_id, enum lbc_owner *ret);
bool lbc_work_is_key(const struct lbc_work *work, const char *text);
/* Whose text it is; NULL is nobody's. Out of memory: nobody's, and work->error. */
enum lbc_owner lbc_work_owner(struct lbc_work *work, const char *text, bool as_listener);
/* Append an empty step with a stage of its own; NULL on ENOMEM. */
struct lbc_step *lbc_work_lb_step(struct lbc_work *work, unsigned type);
/* The same about a group, as desired and as it is; at work->stage. */
struct lbc_step *lbc_work_group_step(struct lbc_work *work, unsigned type,
                                     const struct lbc_group *want, struct lbc_group *have);
/* The same about the ports of a listener; have: the present one, NULL = there is none. step->to has
 * the ports. */
struct lbc_step *lbc_work_listener_step(struct lbc_work *work, unsigned type, unsigned stage,
                                        const struct lbc_listener *who, struct lbc_listener *have);

/* As many steps as the texts need, at most so many each, with a stage each; about the listener
 * `who`, as above, or (NULL) the load balancer. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_work_text_steps(struct lbc_work *work, unsigned type,
                                      const struct lbc_texts *texts, size_t most,
                                      const struct lbc_listener *who, struct lbc_listener *have);

/* A part of a plan: what follows begins behind all steps so far. */
CCM_NODISCARD int lbc_plan_next_stage(struct lbc_work *work);

/* --- plan_lb.c: attributes of the load balancer --- */

/* The value that the attribute of that number (lb_attrs.h) has to be given: what a person asks for,
 * or the default that it goes back to. NULL: it is as it shall be. Case does not matter: the
 * cloud's own spelling varies. */
const char *lbc_plan_lb_target(const struct lbc_work *work, unsigned number);
/* A step with a value and, where its action takes two, another one (NULL = none). 0 or -ENOMEM. */
/* A problem: `text` of an attribute that no later change reaches, with its present value and what a
 * person can do. */
void lbc_plan_lb_refuse(const struct lbc_work *work, unsigned number, const char *text);
CCM_NODISCARD int lbc_work_value_step(struct lbc_work *work, unsigned type, const char *value,
                                      const char *extra);
/* A step that comes last. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_work_last_step(struct lbc_work *work, unsigned type);

/* --- plan_tags.c: tags of the load balancer --- */

/* A step for these tags; none when there are none. */
CCM_NODISCARD int lbc_plan_tags_step(struct lbc_work *work, unsigned type,
                                     const struct lbc_tags *tags, bool last);
/* The additional tags that work->lb lacks -> add, which may have some. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_plan_missing_tags(const struct lbc_work *work, struct lbc_tags *add);
/* Put our marks and the additional tags on work->lb where they are missing or have another value,
 * and take off those that nobody wants any more, of those that we put on: everything else may be
 * somebody's accounting. Before a rename: without name and tag nobody would find it again. */
CCM_NODISCARD int lbc_plan_tags(struct lbc_work *work);
/* Take our marks off it: the last step, behind which nobody would come back to it. */
CCM_NODISCARD int lbc_plan_untag_marks(struct lbc_work *work);

/* --- plan_groups.c --- */

/* The steps of one desired group and its backends. */
CCM_NODISCARD int lbc_plan_group(struct lbc_work *work, const struct lbc_group *want);
/* All desired ones but those that could not be worked out. */
CCM_NODISCARD int lbc_plan_groups(struct lbc_work *work);
/* The first stage in which a group has got all backends that are added to it. */
unsigned lbc_plan_filled(const struct lbc_work *work, const struct lbc_group *want);
/* What the plan would remove from the present group that serves where `want` is desired, told by
 * ret->id: NULL when nothing could be, by whatever reason. The caller, who has zeroed `ret`, hands
 * it on to lbc_freeze_add(). 0 or -ENOMEM. */
CCM_NODISCARD int lbc_plan_leaving(const struct lbc_plan_ops *ops, const struct lbc_plan_input *in,
                                   struct lbc_group *want, struct lbc_freeze_group *ret);
/* Whether the present group is desired by a port. */
bool lbc_work_wants_group(const struct lbc_work *work, const struct lbc_group *have);
/* Whether the present group has something of the Service: by its name, or that of a backend. */
bool lbc_plan_owns_group(struct lbc_work *work, const struct lbc_group *have);
/* A group of ours goes; one that somebody made, put backends into or uses only loses ours. used:
 * somebody's listener sends to it, and goes on doing so. */
CCM_NODISCARD int lbc_plan_drop_group(struct lbc_work *work, struct lbc_group *have, bool used);
/* All of them: the Service goes. */
CCM_NODISCARD int lbc_plan_drop_groups(struct lbc_work *work);
/* What becomes of a group; used: as above. 0 or -ENOMEM. */
typedef int lbc_plan_group_fn(struct lbc_work *work, struct lbc_group *have, bool used);
/* The present groups that no port wants; drop is for each of them. */
CCM_NODISCARD int lbc_plan_each_stale_group(struct lbc_work *work, lbc_plan_group_fn *drop);
/* The same with lbc_plan_drop_group(). */
CCM_NODISCARD int lbc_plan_stale_groups(struct lbc_work *work);

/* --- plan_listeners.c: whose port it is --- */

/* Whether a desired listener needs a port of the present one. */
bool lbc_work_needs_port(const struct lbc_work *work, const struct lbc_listener *have);
/* A present listener that no port wants, which is ours to take away, and nothing keeps it for now.
 */
bool lbc_plan_is_stale(struct lbc_work *work, const struct lbc_listener *have);
/* The listener that has the port of a desired one and is not ours to change; NULL: none has. */
struct lbc_listener *lbc_plan_obstacle(struct lbc_work *work, const struct lbc_listener *want);
/* Tell that `have` has the port, which is a problem of it. */
void lbc_plan_refuse(struct lbc_work *work, const struct lbc_listener *want,
                     const struct lbc_listener *have);
/* Whether a listener that is not the Service's has the port of any desired one. */
bool lbc_plan_is_any_refused(struct lbc_work *work);
/* All that would send to the desired group is refused: nobody has to make it. */
bool lbc_plan_is_useless(struct lbc_work *work, const struct lbc_group *want);

/* --- plan_serve.c: listeners that are made and changed --- */

/* The present group that a desired listener sends to; NULL: there is none so far. */
struct lbc_group *lbc_work_group_of(const struct lbc_work *work, const struct lbc_listener *want);
/* What the listener shall be but for its attributes, with the present group that it shall send to.
 * 0 or -ENOMEM. */
CCM_NODISCARD int lbc_step_describe_listener(struct lbc_step *step, const struct lbc_listener *want,
                                             struct lbc_group *present);
/* One desired listener: it is created, changed, created anew or refused. Where listeners are not
 * managed, one of ours (by its description) stays as it is, but for the group that it sends to. */
CCM_NODISCARD int lbc_plan_listener(struct lbc_work *work, const struct lbc_listener *want);

/* The desired listeners are made and changed, from the stage behind work->stage on. */
CCM_NODISCARD int lbc_plan_listeners(struct lbc_work *work);

/* --- plan_taken.c: listeners of persons --- */

/* Those that the plan takes over, with what they are now. 0 or -ENOMEM. The caller finishes the
 * list in any case. */
CCM_NODISCARD int lbc_plan_list_taken(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                                      const struct lbc_plan_input *in, struct lbc_taken_list *ret);
CCM_NODISCARD int lbc_plan_drop_listener(struct lbc_work *work, struct lbc_listener *have);
/* The same, but one that was taken over becomes what it was, where that is known and possible. */
CCM_NODISCARD int lbc_plan_release_listener(struct lbc_work *work, struct lbc_listener *have);
/* Whether the plan does one of both already. */
bool lbc_plan_drops(const struct lbc_plan *plan, const struct lbc_listener *have);
/* All others that are stale. */
CCM_NODISCARD int lbc_plan_stale_listeners(struct lbc_work *work);

#endif
