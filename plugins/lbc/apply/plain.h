/*
 * State, steps and plan for a product whose load balancers have nothing but a name, an address and
 * our marks: such a product does not have to write its own. Pure. One thread per state and plan.
 */
#ifndef CCM_LBC_PLAIN_H
#define CCM_LBC_PLAIN_H

#include "lbc/apply/executor.h"
#include "lbc/apply/plan.h"

struct lbc_plain_state {
    struct lbc_state lbc;
    struct lbc_lb lb; /* texts: name, address */
};

#define LBC_PLAIN_ADDRESS (LBC_LB_NAME + 1)

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

/* Make it: its name is the step's value. Delete it with all that is in it. */
CCM_NODISCARD int lbc_plan_create_lb(struct lbc_work *work);
CCM_NODISCARD int lbc_plan_drop_lb(struct lbc_work *work);

#endif
