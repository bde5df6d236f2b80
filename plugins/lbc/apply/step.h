/*
 * A plan: the way from what is there to what is desired, as an ordered list of steps. Made by the
 * plan of a product, carried out by its executor, printed by a dry run. A product's own step begins
 * with struct lbc_step. Steps are allocated one by one, so pointers to them hold; they borrow the
 * groups and listeners that they are about, which outlive the plan. One thread.
 *
 * Steps carry a stage. Steps of one stage do not depend on one another: all of them are sent, then
 * what they have set going is waited for together, then the next stage begins. A product that takes
 * one call at a time gives each step a stage of its own.
 */
#ifndef CCM_LBC_STEP_H
#define CCM_LBC_STEP_H

#include "lbc/model/backend.h"
#include "lbc/model/tags.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_group;
struct lbc_listener;

/* What all products do; a product's own types begin with LBC_STEP_OWN. */
enum lbc_step_type {
    LBC_STEP_CREATE_LB,
    LBC_STEP_TAG,   /* put `tags` on the load balancer */
    LBC_STEP_UNTAG, /* take `tags` from it */
    LBC_STEP_DELETE_LB,
    LBC_STEP_DELETE_LISTENER,
    LBC_STEP_CREATE_GROUP,
    LBC_STEP_ADD,
    LBC_STEP_REMOVE,
    LBC_STEP_UPDATE, /* weights and descriptions of backends */
    LBC_STEP_CREATE_LISTENER,
    LBC_STEP_UPDATE_LISTENER,
    LBC_STEP_DELETE_GROUP,
    LBC_STEP_OWN,
};

struct lbc_step {
    unsigned type;
    unsigned stage;
    bool last;     /* only when everything of earlier stages went well */
    uint16_t port; /* whom a failure is told about; 0 = the load balancer */
    unsigned protocol;
    /* Borrowed: the group that it is about or that a listener sends to, as desired (of one that
     * goes: as it is), and as it is; `group` NULL: an earlier step makes it. */
    const struct lbc_group *want;
    struct lbc_group *group;
    struct lbc_listener *listener; /* borrowed: the present one that it changes or deletes */
    struct lbc_backends backends;
    struct lbc_tags tags;
    char *value;  /* of an attribute of the load balancer */
    char *change; /* what becomes different, for people: "IdleTimeout 900 -> 300" */
};

/* A product's steps. */
struct lbc_step_table {
    size_t size;                         /* of its struct */
    void (*fini)(struct lbc_step *step); /* what stands behind the common members; NULL = nothing */
    const char *const *names;            /* by type: what it does, in two or three words */
};

/* Zeroed but for the table: an empty one. */
struct lbc_plan {
    const struct lbc_step_table *table;
    struct lbc_step **steps;
    size_t len;
    size_t cap;
    struct lbc_texts waiting; /* ids of groups that the cloud is still taking a desired backend out
                                 of: they have to be read again, for it to be added then */
    bool blocked; /* a port is refused because of a listener that is not the Service's */
};

void lbc_plan_fini(struct lbc_plan *plan);
/* Append an empty step; NULL on ENOMEM. */
struct lbc_step *lbc_plan_new_step(struct lbc_plan *plan, unsigned type, unsigned stage);
/* The first stage behind all steps. */
unsigned lbc_plan_end(const struct lbc_plan *plan);
/* By stage; steps of one stage keep their order. */
void lbc_plan_sort(struct lbc_plan *plan);
/* Move a list of differences into a step. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_step_set_change(struct lbc_step *step, struct ccm_buf *change);

#endif
