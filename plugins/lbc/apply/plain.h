/*
 * Model, state, steps and plan for a product whose load balancers have nothing but a name, an
 * address and our marks: such a product does not have to write its own. One group per port that
 * backends listen on, one listener per port of the Service; backends by their addresses. Pure. One
 * thread per model, state and plan.
 */
#ifndef CCM_LBC_PLAIN_H
#define CCM_LBC_PLAIN_H

#include "lbc/apply/executor.h"
#include "lbc/apply/plan.h"
#include "lbc/apply/token.h"

struct lbc_plain_state {
    struct lbc_state lbc;
    struct lbc_lb lb; /* texts: name, address, state, version */
};

#define LBC_PLAIN_ADDRESS (LBC_LB_NAME + 1)
#define LBC_PLAIN_STATE   (LBC_LB_NAME + 2) /* the cloud's word, where lb_ready() asks for it */
#define LBC_PLAIN_VERSION (LBC_LB_NAME + 3) /* its ETag, where changes have to name one */

extern const struct lbc_state_type lbc_plain_type;

/* The steps that all products have, and their names. */
extern const struct lbc_step_table lbc_plain_steps;

/* The same for the executor: one function sends them all. */
#define LBC_PLAIN_STEPS(send)                                                                      \
    {                                                                                              \
        [LBC_STEP_CREATE_LB] = { send, NULL, LBC_ENDS_PLAN },                                      \
        [LBC_STEP_TAG] = { send, NULL, LBC_NEEDS_LB },                                             \
        [LBC_STEP_UNTAG] = { send, NULL, LBC_NEEDS_LB },                                           \
        [LBC_STEP_DELETE_LB] = { send, NULL, LBC_NEEDS_LB },                                       \
        [LBC_STEP_CREATE_GROUP] = { send, NULL, LBC_NEEDS_LB },                                    \
        [LBC_STEP_DELETE_GROUP] = { send, NULL, LBC_NEEDS_GROUP },                                 \
        [LBC_STEP_ADD] = { send, NULL, LBC_NEEDS_GROUP },                                          \
        [LBC_STEP_REMOVE] = { send, NULL, LBC_NEEDS_GROUP },                                       \
        [LBC_STEP_UPDATE] = { send, NULL, LBC_NEEDS_GROUP },                                       \
        [LBC_STEP_CREATE_LISTENER] = { send, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LB },               \
        [LBC_STEP_UPDATE_LISTENER] = { send, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LISTENER },         \
        [LBC_STEP_RESTORE_LISTENER] = { send, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LISTENER },        \
        [LBC_STEP_DELETE_LISTENER] = { send, NULL, LBC_NEEDS_LISTENER },                           \
    }

/* Refusals, when all that the cloud says with this code is that the load balancer does not exist.
 */
#define LBC_PLAIN_GONE(text)                                                                       \
    (const struct lbc_refusal_row[])                                                               \
    {                                                                                              \
        { .code = (text), .means = LBC_REFUSAL_LB_GONE },                                          \
        {                                                                                          \
            .means = 0                                                                             \
        }                                                                                          \
    }

/* The order of its plans: members of a struct lbc_plan_ops; at most `most` backends per call, also
 * in that which makes a group. LBC_PLAIN_PARTS: without `batch` and `create_batch`. */
#define LBC_PLAIN_RULES(most) LBC_PLAIN_PARTS, .batch = (most), .create_batch = (most)
#define LBC_PLAIN_PARTS                                                                            \
    .steps = &lbc_plain_steps,                                                                     \
    .parts = { [LBC_WAY_ENSURE] = lbc_plain_ensure,                                                \
               [LBC_WAY_DROP] = lbc_plain_drop,                                                    \
               [LBC_WAY_PRESERVE] = lbc_plain_preserve,                                            \
               [LBC_WAY_LEAVE] = lbc_plain_leave },                                                \
    .traits = LBC_PLAN_SERIAL

extern const lbc_plan_fn lbc_plain_ensure[];
extern const lbc_plan_fn lbc_plain_drop[];
extern const lbc_plan_fn lbc_plain_preserve[];
extern const lbc_plan_fn lbc_plain_leave[];

struct lbc_plain_model {
    struct lbc_model lbc;
    struct lbc_plain_state want;
};

/* The way to it: members of a struct lbc_model_ops. LBC_PLAIN_MODEL_BUT_PORT: for a port() of its
 * own, which may call lbc_plain_build_port(). */
#define LBC_PLAIN_MODEL(lint_rules)                                                                \
    LBC_PLAIN_MODEL_BUT_PORT(lint_rules), .port = lbc_plain_build_port
#define LBC_PLAIN_MODEL_BUT_PORT(lint_rules)                                                       \
    .size = sizeof(struct lbc_plain_model), .type = &lbc_plain_type, .any_node = true,             \
    .rules = (lint_rules), .lb = lbc_plain_begin_lb, .begin = lbc_plain_begin_ports

CCM_NODISCARD int lbc_plain_begin_lb(struct lbc_model *model, const struct lbc_model_input *in);
CCM_NODISCARD int lbc_plain_begin_ports(struct lbc_builder *b, struct ccm_error *err);
/* A listener whose group cannot be worked out is left as it is. */
CCM_NODISCARD int lbc_plain_build_port(struct lbc_builder *b, struct lbc_desired_port *want,
                                       struct ccm_error *err);

/* Make it: its name is the step's value. Delete it, behind what ops->empties says. */
CCM_NODISCARD int lbc_plan_create_lb(struct lbc_work *work);
CCM_NODISCARD int lbc_plan_drop_lb(struct lbc_work *work);

#endif
