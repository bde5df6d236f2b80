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
#include "lbc/apply/step.h"
#include "lbc/apply/taken.h"
#include "lbc/model/freeze.h"
#include "lbc/model/owner.h"

struct lbc_work;

/* A product. */
struct lbc_plan_ops {
    const struct lbc_step_table *steps;
    /* Whose key it is. as_listener: it describes a listener. 0 or -ENOMEM. */
    int (*parse_owner)(const char *text, bool as_listener, const struct ccm_object *service,
                       const char *cluster_id, enum lbc_owner *ret);
    /* Whether it is a key at all, of any Service and cluster. NULL is none. */
    bool (*is_key)(const char *text);
    /* A listener of its attributes; NULL = there is none of that name for the protocol. */
    const struct lbc_anno *(*find_field)(const char *name, enum lbc_protocol protocol);
    /* How a listener is called in what is kept about it. */
    void (*taken_port)(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT]);

    /* --- may be NULL --- */

    /* Steps for attributes of a present group. */
    int (*update_group)(struct lbc_work *work, const struct lbc_group *want,
                        struct lbc_group *have);
    /* A person's listener that cannot be changed into the desired one, nor be put back. */
    bool (*loses_listener)(const struct lbc_work *work, const struct lbc_listener *want,
                           const struct lbc_listener *have);
    /* Whether a listener that is put back may send to the group (NULL: it had none). */
    bool (*may_restore)(const struct lbc_work *work, const struct lbc_group *group);

    const char *guards;  /* attributes that limit who may connect begin so; NULL = none do */
    size_t create_batch; /* backends that the creation of a group takes */
    bool is_serial;      /* each step has a stage of its own */
    bool lists_all;      /* `have` has groups of others, whose backends are not read */
    bool sweeps;         /* on a load balancer of its own a listener that no port wants goes,
                            whoever made it, and so does one that is in the way */
};

/* A plan that is being made; borrows all. */
struct lbc_work {
    const struct lbc_plan_ops *ops;
    struct lbc_plan *plan;
    const struct lbc_model *model;
    const struct lbc_state *want; /* of the model */
    const struct lbc_state *have;
    const struct ccm_service *service;
    const char *cluster_id;
    struct lbc_problems *problems;
    size_t batch;   /* backends per call */
    bool fresh;     /* `have` was read in this pass */
    bool restores;  /* listeners that were taken over are put back */
    unsigned stage; /* the first one of the next part; parts before it end earlier */
    int error; /* -ENOMEM once it could not be told whose something is: such a plan is no good */
};

/* Append an empty step; NULL on ENOMEM. */
struct lbc_step *lbc_work_new_step(struct lbc_work *work, unsigned type, unsigned stage);
/* Whose text it is; NULL is nobody's. Out of memory: nobody's, and work->error. */
enum lbc_owner lbc_work_owner(struct lbc_work *work, const char *text, bool as_listener);
/* Put the plan in order. r, or what went wrong on the way. */
CCM_NODISCARD int lbc_work_end(struct lbc_work *work, int r);

/* The same for the load balancer: it has a stage of its own. */
struct lbc_step *lbc_work_lb_step(struct lbc_work *work, unsigned type);

/* --- plan_tags.c: tags of the load balancer --- */

/* A step for these tags; none when there are none. */
CCM_NODISCARD int lbc_plan_tags_step(struct lbc_work *work, unsigned type,
                                     const struct lbc_tags *tags, bool last);
/* Add to `add`, which may have some, the additional tags that are missing or have another value,
 * and put them on. */
CCM_NODISCARD int lbc_plan_tag(struct lbc_work *work, const struct lbc_tags *want,
                               const struct lbc_tags *have, struct lbc_tags *add);
/* Take off those that nobody wants any more, of those that we put on (applied; NULL = not known):
 * everything else may be somebody's accounting. */
CCM_NODISCARD int lbc_plan_untag(struct lbc_work *work, const struct lbc_tags *want,
                                 const struct lbc_tags *have, const struct lbc_tags *applied);

/* --- plan_groups.c --- */

CCM_NODISCARD int lbc_plan_group(struct lbc_work *work, const struct lbc_group *want);
/* The first stage in which a group has got all backends that are added to it. */
unsigned lbc_plan_filled(const struct lbc_work *work, const struct lbc_group *want);
/* What the plan would remove from the present group that serves where `want` is desired, told by
 * ret->id: NULL when nothing could be, by whatever reason. The caller, who has zeroed `ret`, hands
 * it on to lbc_freeze_add(). work->plan: an empty one, and stays so. */
CCM_NODISCARD int lbc_plan_leaving(struct lbc_work *work, struct lbc_group *want,
                                   struct lbc_freeze_group *ret);
/* A group of ours goes; one that somebody made, put backends into or uses only loses ours. */
CCM_NODISCARD int lbc_plan_drop_group(struct lbc_work *work, struct lbc_group *have, bool used);
/* All of them: the Service goes. */
CCM_NODISCARD int lbc_plan_drop_groups(struct lbc_work *work);
/* The present groups that no port wants. `drop` deals with each; used: somebody's listener sends to
 * it, and goes on doing so. */
CCM_NODISCARD int lbc_plan_stale_groups(struct lbc_work *work,
                                        int (*drop)(struct lbc_work *work, struct lbc_group *have,
                                                    bool used));

/* --- plan_listeners.c: whose port it is --- */

/* A present listener that no port wants, which is ours to take away. */
bool lbc_plan_is_unwanted(struct lbc_work *work, const struct lbc_listener *have);
/* The same, and nothing keeps it for now. */
bool lbc_plan_is_stale(struct lbc_work *work, const struct lbc_listener *have);
/* The listener that has the port of a desired one and is not ours to change; NULL: none has. */
struct lbc_listener *lbc_plan_obstacle(struct lbc_work *work, const struct lbc_listener *want);
/* Whether a listener that is not the Service's has the port. */
bool lbc_plan_is_refused(struct lbc_work *work, const struct lbc_listener *want);
/* The same of any desired listener. */
bool lbc_plan_is_any_refused(struct lbc_work *work);
/* All that would send to the desired group is refused: nobody has to make it. */
bool lbc_plan_is_useless(struct lbc_work *work, const struct lbc_group *want);

/* --- plan_taken.c: listeners of persons --- */

/* Those that the plan takes over, with what they are now. 0 or -ENOMEM. The caller finishes the
 * list in any case. */
CCM_NODISCARD int lbc_plan_list_taken(struct lbc_work *work, struct lbc_taken_list *ret);
/* What a listener was before it was taken over, for it to be put back, with the group that it sent
 * to (NULL: none). *ret_known false: it is not known, or not possible any more. */
CCM_NODISCARD int lbc_plan_find_taken(struct lbc_work *work, const struct lbc_listener *have,
                                      struct lbc_tags *ret, struct lbc_group **ret_group,
                                      bool *ret_known);
/* Write description and attributes of then over the present ones in `to`. */
CCM_NODISCARD int lbc_plan_overlay_taken(const struct lbc_work *work, const struct lbc_tags *was,
                                         struct lbc_listener *to);

#endif
