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

#include "ccm/error.h"
#include "lbc/apply/state.h"
#include "lbc/model/tags.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What all products do; a product's own types begin with LBC_STEP_OWN. */
enum lbc_step_type {
    LBC_STEP_CREATE_LB,
    LBC_STEP_TAG,   /* put `tags` on the load balancer */
    LBC_STEP_UNTAG, /* take `tags` from it */
    LBC_STEP_DELETE_LB,
    LBC_STEP_DELETE_LISTENER,
    LBC_STEP_CREATE_GROUP,
    LBC_STEP_UPDATE_GROUP, /* its attributes */
    LBC_STEP_ADD,
    LBC_STEP_REMOVE,
    LBC_STEP_UPDATE, /* weights and descriptions of backends */
    LBC_STEP_CREATE_LISTENER,
    LBC_STEP_UPDATE_LISTENER,
    LBC_STEP_RESTORE_LISTENER, /* back to what it was before it was taken over; group NULL: it sent
                                  to none */
    LBC_STEP_DELETE_GROUP,
    LBC_STEP_OWN,
};

/* What has become of a step. */
enum lbc_verdict {
    LBC_VERDICT_OPEN,
    LBC_VERDICT_SENT,
    LBC_VERDICT_DONE,
    LBC_VERDICT_FAILED,
    LBC_VERDICT_EXCHANGED, /* a part of an exchange, see exchange.h */
};

#define LBC_JOB_MAX 64

/* What became of a call that changes something. Zeroed = not sent. */
struct lbc_sent {
    char job[LBC_JOB_MAX]; /* what is still to be waited for; "" = it is done */
    char *made_id;         /* of a new resource */
    char request_id[CCM_ERROR_CODE_MAX];
};

void lbc_sent_fini(struct lbc_sent *sent);

struct lbc_step {
    unsigned type;
    unsigned stage;
    bool last;           /* only when everything of earlier stages went well */
    bool needs_security; /* only when every earlier step that limits who may connect went well */
    bool needs_backends; /* only when its group got all that was to be added to it */
    uint16_t port;       /* whom a failure is told about; 0 = the load balancer */
    uint16_t last_port;  /* of a range of ports; else 0, or the same */
    enum lbc_protocol protocol;
    /* Borrowed: the group that it is about or that a listener sends to, as desired (of one that
     * goes: as it is), and as it is; `group` NULL: an earlier step makes it. */
    const struct lbc_group *want;
    struct lbc_group *group;
    struct lbc_listener *listener; /* borrowed: the present one that it changes or deletes */
    struct lbc_listener *to;       /* owned, of the product's type: as it shall be, or NULL */
    struct lbc_backends backends;
    struct lbc_attrs attrs; /* of a group, as they shall be */
    struct lbc_tags tags;   /* or other pairs of a name and its value */
    struct lbc_texts texts; /* ids or addresses that are added or removed */
    char *value;            /* of an attribute of the load balancer; a name */
    char *extra;            /* a second one, where an action has two */
    char *change;           /* what becomes different, for people: "IdleTimeout 900 -> 300" */
    /* The executor's: */
    enum lbc_verdict verdict;
    struct lbc_sent sent;
    bool lacks;        /* members were left out of it */
    bool is_exchanged; /* a call of an exchange: one call, however many a call takes by now */
};

struct lbc_plan_input; /* plan.h */

/* A type of step. */
struct lbc_step_row {
    const char *name; /* what it does, in two or three words; NULL: as all products call it */
    /* Attributes of the load balancer (lb_attrs.h) that `value` and `extra` are set to, each as
     * LBC_SETS(number); 0 = none. */
    unsigned value;
    unsigned extra;
};
#define LBC_SETS(number) ((number) + 1U)

/* A product's steps. */
struct lbc_step_table {
    size_t size;                         /* of its struct */
    const struct lbc_state_type *state;  /* of the listeners in it; protocols for people */
    void (*fini)(struct lbc_step *step); /* what stands behind the common members; NULL = nothing */
    const struct lbc_step_row *rows;     /* by type; NULL = there are but common ones */
    size_t backends_shown;               /* of one step; 0 = all */
    /* Print what the step is about (the group, an id), and what is the product's own (NULL =
     * nothing). in: what the plan was made from, for present values; NULL = without them. */
    void (*print_about)(const struct lbc_step *step, const struct lbc_plan_input *in,
                        struct ccm_buf *text);
    void (*print_details)(const struct lbc_step *step, const struct lbc_plan_input *in,
                          struct ccm_buf *text);
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
/* What a step of the type does, in two or three words. */
const char *lbc_step_name(const struct lbc_step_table *table, unsigned type);
/* Move a list of differences into a step. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_step_set_change(struct lbc_step *step, struct ccm_buf *change);

/* --- print.c --- */

/* One line per step; `in` as above. */
void lbc_plan_print(const struct lbc_plan *plan, const struct lbc_plan_input *in,
                    struct ccm_buf *text);
/* Names and ports of the steps whose targets are not in `asked` -> ret. */
void lbc_plan_print_surplus(const struct lbc_plan *plan, const struct lbc_plan *asked,
                            struct ccm_buf *ret);

#endif
