/*
 * From what nodes want and tables hold to steps, as data. One function for the nodes of an event
 * and for the periodic pass over all of them. Pure.
 */
#ifndef CCM_ROUTE_PLAN_H
#define CCM_ROUTE_PLAN_H

#include "model.h"
#include "table.h"

#define ROUTE_NOBODY SIZE_MAX

/* How it came that a node wants something no more. */
enum route_loss {
    ROUTE_LOSS_CHANGED, /* it is there, and says so */
    ROUTE_LOSS_DELETED, /* a watch saw that it was deleted */
    ROUTE_LOSS_MISSING, /* it is not in a list any more, which is no order to delete */
};

/* What a node had and wants no more: the entries of it are to go. */
struct route_past {
    char *node; /* name */
    struct ccm_cidr net;
    char instance[ROUTE_ID_SIZE];
    enum route_loss loss;
    int64_t since_ms; /* monotonic */
};

/* Everything that is known; borrowed. */
struct route_view {
    const struct route_nets *cluster; /* nothing is made or deleted outside of them */
    const struct route_node *nodes;
    size_t node_count;
    const struct route_table *tables;
    size_t table_count;
    const struct route_past *past;
    size_t past_count;
};

/* What to plan for; a NULL list means all. */
struct route_choice {
    const bool *nodes;
    const bool *past;
    bool orphans;
};

enum route_step_type {
    ROUTE_STEP_CLEAR, /* delete what stands where a node's entry belongs */
    ROUTE_STEP_CREATE,
    ROUTE_STEP_RETIRE, /* delete what a node had; of one that is there, after its new entry */
    ROUTE_STEP_ORPHAN, /* delete what leads to an instance that backs no node */
};

struct route_step {
    enum route_step_type type;
    size_t table;
    size_t node; /* ROUTE_NOBODY: none is there */
    size_t past; /* of ROUTE_STEP_RETIRE, else ROUTE_NOBODY */
    struct ccm_cidr net;
    const char *instance; /* borrowed from the view */
    bool counts;          /* as a removal because nodes are missing, see floor.h */
};

/* How it stands with a node before the steps. */
struct route_outlook {
    size_t missing; /* entries that are not proved to be there */
    size_t steps;
    bool wait;  /* something is on its way in the cloud: list again and look */
    bool stuck; /* no step of ours helps: see `problem` */
    char problem[ROUTE_TEXT_SIZE];
};

struct route_plan {
    struct route_step *steps;
    size_t len;
    size_t cap;
    struct route_outlook *nodes; /* one per node of the view */
    size_t *past_left;           /* one per past: tables that still hold something of it */
    bool *waits;                 /* one per table: something is on its way there */
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int route_plan_make(const struct route_view *view, const struct route_choice *choice,
                                  struct route_plan *ret);
void route_plan_fini(struct route_plan *plan);

#endif
