/* The instance, and the parts of a pass over one Service; see lbc/controller.h for the whole. */
#ifndef CCM_CLB_CONTROLLER_H
#define CCM_CLB_CONTROLLER_H

#include "alilb/account.h"
#include "alilb/action.h"
#include "clb.h"
#include "lbc/pass.h"
#include "model.h"
#include "plan.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Fixed after create() but for the atomic members and what the parts of `lbc` guard. Shared by all
 * workers. */
struct clb {
    struct lbc_instance lbc; /* first: the two are converted into one another */
    atomic_uint batch;       /* backends per call; only ever lowered */
};

extern const struct lbc_ops clb_ops;

static inline struct clb *clb_of(const struct lbc_pass *pass)
{
    return (struct clb *)pass->lbc;
}

static inline struct ali_client *clb_client(const struct clb *clb)
{
    return alilb_client(&clb->lbc.cloud);
}

/* What the cloud holds. */
static inline struct clb_state *clb_actual(const struct lbc_entry *entry)
{
    return (struct clb_state *)entry->state;
}

/* The desired state of the pass. */
static inline struct clb_model *clb_desired(const struct lbc_pass *pass)
{
    return (struct clb_model *)pass->model;
}

/* A call struct for this pass. */
struct alilb_call clb_pass_call(const struct lbc_pass *pass, enum lbc_priority priority);

/* Members of the tables that controller.c hands in. A pass that ensures: sync.c. */
CCM_NODISCARD int clb_sync_begin(struct lbc_pass *pass, const struct lbc_model_input *in,
                                 struct ccm_error *err);
bool clb_sync_is_public(const struct lbc_pass *pass);
CCM_NODISCARD int clb_sync_read_lb(struct lbc_pass *pass, const char *id, struct lbc_state *state,
                                   struct ccm_error *err);
CCM_NODISCARD int clb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int clb_sync_read_details(struct lbc_pass *pass, struct ccm_error *err);
size_t clb_sync_batch(const struct lbc_instance *lbc);
CCM_NODISCARD int clb_sync_apply(struct lbc_pass *pass, struct lbc_plan *plan,
                                 enum lbc_priority priority, bool fresh);
bool clb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state);
/* events.c */
void clb_emit_events(struct lbc_pass *pass);
/* reuse.c */
bool clb_reuse_matches(const struct lbc_pass *pass, const struct ccm_ingress *address);
char *clb_reuse_mismatch(const struct lbc_pass *pass);
size_t clb_reuse_list_facts(const struct lbc_pass *pass,
                            struct lbc_reuse_fact ret[LBC_REUSE_FACTS]);
/* A pass that releases: release.c */
CCM_NODISCARD int clb_release_begin(struct lbc_pass *pass);
CCM_NODISCARD int clb_release_read(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int clb_release_acl(struct lbc_pass *pass, struct ccm_error *err);

#endif
