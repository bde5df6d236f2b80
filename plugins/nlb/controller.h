/* The instance, and the parts of a pass over one Service; see lbc/controller.h for the whole. */
#ifndef CCM_NLB_CONTROLLER_H
#define CCM_NLB_CONTROLLER_H

#include "alilb/account.h"
#include "alilb/action.h"
#include "lbc/pass.h"
#include "model.h"
#include "nlb.h"
#include "plan.h"

#include <stdatomic.h>

/* Fixed after create() but for what the common part guards and the atomic members. */
struct nlb {
    struct lbc_instance lbc;   /* first: the common part takes it for the instance */
    size_t batch;              /* servers per call */
    atomic_bool jobs_reported; /* somebody was told that a permission for jobs is missing */
};

extern const struct lbc_ops nlb_ops;

/* The desired state of the pass. */
static inline struct nlb_model *nlb_desired(const struct lbc_pass *pass)
{
    return (struct nlb_model *)pass->model;
}

/* What the cloud holds. */
static inline struct nlb_state *nlb_actual(const struct lbc_pass *pass)
{
    return (struct nlb_state *)pass->entry->state;
}

/* Members of the tables that controller.c hands in. A pass that ensures: sync.c. */
CCM_NODISCARD int nlb_sync_begin(struct lbc_pass *pass, const struct lbc_model_input *in,
                                 struct ccm_error *err);
bool nlb_sync_is_public(const struct lbc_pass *pass);
CCM_NODISCARD int nlb_sync_read_lb(struct lbc_pass *pass, const char *id, struct lbc_state *state,
                                   struct ccm_error *err);
CCM_NODISCARD int nlb_sync_check_status(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int nlb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err);
size_t nlb_sync_batch(const struct lbc_instance *lbc);
CCM_NODISCARD int nlb_sync_apply(struct lbc_pass *pass, struct lbc_plan *plan,
                                 enum lbc_priority priority, bool fresh);
void nlb_sync_record(struct lbc_pass *pass);
bool nlb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state);
/* events.c */
void nlb_emit_events(struct lbc_pass *pass);
/* reuse.c */
bool nlb_reuse_matches(const struct lbc_pass *pass, const struct ccm_ingress *address);
char *nlb_reuse_mismatch(const struct lbc_pass *pass);
size_t nlb_reuse_list_facts(const struct lbc_pass *pass,
                            struct lbc_reuse_fact ret[LBC_REUSE_FACTS]);
/* A pass that releases: release.c */
CCM_NODISCARD int nlb_release_begin(struct lbc_pass *pass);
CCM_NODISCARD int nlb_release_read(struct lbc_pass *pass, struct ccm_error *err);

#endif
