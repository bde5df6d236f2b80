/*
 * The rule of model/freeze.h in a pass: which backends leave only because nodes or slices are
 * missing, what becomes of them, and who is told.
 *
 *     CCM_CLEANUP(lbc_freeze_fini) struct lbc_freeze freeze = { 0 };
 *
 *     lbc_freeze_begin(&freeze, pass, &model->nodes);
 *     for each group, with the backends that the plan would remove:
 *         r = lbc_freeze_add(&freeze, &group);
 *     before the plan is made:
 *         r = lbc_freeze_end(&freeze, err);
 *
 * Frozen backends are put into the desired ones with `kept` set: they keep place and weight. The
 * key is enqueued for when more may go. One thread.
 */
#ifndef CCM_LBC_FREEZE_PASS_H
#define CCM_LBC_FREEZE_PASS_H

#include "lbc/model/absence.h"
#include "lbc/model/candidate.h"
#include "lbc/model/freeze.h"
#include "util/strmap.h"

struct lbc_instance;
struct lbc_pass;

/* Of one Service. Starts zeroed. */
struct lbc_freeze_memory {
    struct ccm_strmap *past; /* by id of a group: what went because of nodes, see model/freeze.h */
    bool frozen;             /* backends are kept that the model lacks */
    bool decided;            /* a pass of this process has decided about its groups */
};

static inline void lbc_freeze_memory_fini(struct lbc_freeze_memory *memory)
{
    ccm_strmap_free(memory->past);
}

struct lbc_freeze {
    struct lbc_pass *pass;
    const struct lbc_node_table *nodes;
    enum lbc_backend_mode mode;
    struct ccm_removal_rule rule;
    struct ccm_strmap *by_server; /* nodes by instance and by address; made when needed */
    struct lbc_node_entry other;  /* a node that is not among them, with a reference of its own */
    struct lbc_freeze_group *groups;
    size_t len;
    size_t cap;
    int64_t again_ms; /* monotonic; CCM_REMOVAL_NEVER */
};

/* nodes: of the model. */
void lbc_freeze_begin(struct lbc_freeze *freeze, struct lbc_pass *pass,
                      const struct lbc_node_table *nodes);
/* Moves group->leaving, also on failure. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_freeze_add(struct lbc_freeze *freeze, struct lbc_freeze_group *group);
/* Decide. Blocks for one call where the cloud is asked; when that fails, backends are frozen. 0, or
 * -ENOMEM with err. */
CCM_NODISCARD int lbc_freeze_end(struct lbc_freeze *freeze, struct ccm_error *err);
void lbc_freeze_fini(struct lbc_freeze *freeze);

/* Its load balancer is gone: nothing is kept there any more. */
static inline void lbc_freeze_end_memory(struct lbc_freeze_memory *memory)
{
    memory->frozen = false;
}
static inline bool lbc_freeze_keeps(const struct lbc_freeze_memory *memory)
{
    return memory->frozen;
}
/* The Service, or its load balancer, is gone: nothing of it is held any more. */
void lbc_freeze_forget(struct lbc_instance *lbc, const char *key);

/* allow_removals() of the plugin: whatever is held goes. Returns for how long, in ms. */
int64_t lbc_freeze_release(struct lbc_instance *lbc);

/* --- its parts --- */

/* freeze_cause.c: why a backend is not wanted. LBC_FREEZE_NONE: it was sent away. Else *ret_case
 * says what is known, and *ret_absent its node (name, instance), as far as it has one. */
enum lbc_freeze_cause lbc_freeze_find_cause(struct lbc_freeze *freeze,
                                            const struct lbc_backend *one,
                                            struct lbc_freeze_case *ret_case,
                                            struct lbc_absent *ret_absent);
/* Why a backend leaves, in words that its name (node or address, valid until the next such call)
 * follows. */
const char *lbc_freeze_explain(struct lbc_freeze *freeze, const struct lbc_backend *one,
                               const char **ret_name);
/* The node that the backend is; NULL: it is none, or not there. Valid until the next such call. */
const struct ccm_node *lbc_freeze_find_node(struct lbc_freeze *freeze,
                                            const struct lbc_backend *one);
/* Whether the backend takes traffic by all that is known: its pod is ready, or its node is, at a
 * port of the Service, with Local policy with a ready pod. */
bool lbc_freeze_serves(struct lbc_freeze *freeze, const struct lbc_backend *one);
/* Let go of `other`. */
void lbc_freeze_drop_other(struct lbc_freeze *freeze);
/* freeze_publish.c, after the decision: event on change, status page, metric, dry run. */
void lbc_freeze_publish(struct lbc_freeze *freeze);

#endif
