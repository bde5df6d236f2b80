/*
 * What apply*.c of the plugins share: the way of a plan into the cloud, steps that are one action
 * with texts of the step, tags, and jobs. May block. One thread per pass.
 */
#ifndef CCM_ALILB_APPLY_H
#define CCM_ALILB_APPLY_H

#include "alilb/action.h"
#include "lbc/controller.h"

/* What a text of an action is, for a step. */
enum alilb_step_text {
    ALILB_STEP_NOTHING,
    ALILB_STEP_LB, /* ids */
    ALILB_STEP_GROUP,
    ALILB_STEP_LISTENER,
    ALILB_STEP_PORT,
    ALILB_STEP_PROTOCOL,      /* in small letters */
    ALILB_STEP_PROTOCOL_NAME, /* as NLB writes it */
    ALILB_STEP_NAME,          /* of the desired group */
    ALILB_STEP_DESCRIPTION,   /* of the listener as it shall be */
    ALILB_STEP_VALUE,
    ALILB_STEP_EXTRA,
    ALILB_STEP_WHY, /* it is protected: value */
    ALILB_STEP_OFF, /* "off" */
};

/* A type of step that is one action. */
struct alilb_step_row {
    const struct alilb_action *action;
    enum alilb_step_text texts[ALILB_TEXTS_MAX];
    bool lists;      /* and the step's texts */
    bool attrs;      /* and the attributes of the listener or group as they shall be */
    bool takes_away; /* it is done when the one thing that it takes away is not there */
    void (*fill)(const struct lbc_step *step, struct ali_params *params); /* and these; or NULL */
};

/* A product's way to carry out steps. */
struct alilb_apply_ops {
    struct lbc_apply_ops lbc;
    const struct alilb_step_row *rows; /* by type, for alilb_apply_row() */
    const struct alilb_source *source; /* where its state is read */
    enum ali_product id;
    const char *lb_type; /* of the load balancer, as alilb_change_tags() takes it */
};

static inline const struct alilb_source *alilb_source_of(const struct lbc_instance *lbc)
{
    return ((const struct alilb_apply_ops *)lbc->ops->change->steps)->source;
}

/* What a run of the executor is here; `ops` of it begins a struct alilb_apply_ops. */
struct alilb_apply {
    struct lbc_apply lbc;
    struct alilb_call call;
};

static inline struct alilb_call *alilb_apply_call(const struct lbc_apply *apply)
{
    return &((struct alilb_apply *)(uintptr_t)apply)->call;
}

static inline const char *alilb_apply_lb_id(struct lbc_apply *apply)
{
    return lbc_state_lb(apply->have)->id;
}

/* The engine's part, with what the call says; for lbc_apply_run(). */
struct lbc_apply *alilb_apply_bind(struct alilb_apply *apply);
/* Member of struct lbc_change_ops, whose `steps` are a struct alilb_apply_ops. */
CCM_NODISCARD int alilb_apply_plan(struct lbc_pass *pass, struct lbc_plan *plan,
                                   enum lbc_priority priority, bool fresh);

/* The step is the action of its row. */
lbc_send_fn alilb_apply_row;
/* The step is this write. */
CCM_NODISCARD int alilb_apply_write(struct lbc_apply *apply, struct lbc_step *step,
                                    const struct alilb_action *action,
                                    const struct alilb_args *args, struct ccm_error *err);
/* The creation of a load balancer failed: find out whether because of its ClientToken, which the
 * cloud knows from a request for something else. Returns r. */
int alilb_apply_fail_creation(struct lbc_apply *apply, int r, struct ccm_error *err);
/* Whether err says that. */
bool alilb_apply_is_token_taken(const struct ccm_error *err);
/* The answer to a creation was that of an earlier one: its ClientToken had been used, and what it
 * made (id) is not the Service's any more, as `why` says. The failure lets the next one have
 * another token; the pause lets a load balancer that is there after all be found by its tag. */
int alilb_apply_fail_used_token(const char *id, const struct ccm_error *why, struct ccm_error *err);
/* What a creation was answered with has these tags: -EEXIST with err, and another token from now
 * on, when it is one that the Service has let go of since, such as one that was preserved to its
 * end. Not for ever: should the cloud keep tags back, no more are made than a few. */
CCM_NODISCARD int alilb_apply_check_made(struct lbc_apply *apply, const struct lbc_tags *tags,
                                         struct ccm_error *err);
/* LBC_STEP_TAG, LBC_STEP_UNTAG. */
lbc_send_fn alilb_apply_tags;
/* struct lbc_apply_ops.wait: for jobs of NLB. */
CCM_NODISCARD int alilb_apply_wait(struct lbc_apply *apply, struct lbc_job *jobs, size_t count,
                                   int64_t timeout_ms, struct ccm_error *err);

#endif
