/* The parts of a pass over one Service; see lbc/controller.h for the whole. */
#ifndef CCM_NLB_CONTROLLER_H
#define CCM_NLB_CONTROLLER_H

#include "alilb/account.h"
#include "alilb/action.h"
#include "lbc/pass.h"
#include "model.h"
#include "nlb.h"
#include "plan.h"

extern const struct lbc_ops nlb_ops;
extern const struct ccm_option nlb_opt_batch;

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
CCM_NODISCARD int nlb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int nlb_sync_read_health(struct lbc_pass *pass, struct lbc_health *ret,
                                       struct ccm_error *err);
size_t nlb_sync_vswitches(const struct lbc_state *state, const char **ret, size_t max);
void nlb_sync_record(struct lbc_pass *pass);
bool nlb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state);
const char *nlb_sync_address(const struct lbc_pass *pass);
/* events.c */
void nlb_emit_events(struct lbc_pass *pass);
/* A pass that releases: release.c */
CCM_NODISCARD int nlb_release_read(struct lbc_pass *pass, struct ccm_error *err);

/* --- quotas.c --- */

extern const struct ccm_option nlb_opt_quotas;
extern const struct ccm_option nlb_opt_quota_backends;
extern const struct ccm_option nlb_opt_quota_listeners;
extern const struct ccm_option nlb_opt_quota_attachments;
extern const struct ccm_option nlb_opt_quota_groups;
extern const struct ccm_option nlb_opt_quota_load_balancers;
#define NLB_QUOTA_OPTIONS                                                                          \
    &nlb_opt_quotas, &nlb_opt_quota_backends, &nlb_opt_quota_listeners,                            \
        &nlb_opt_quota_attachments, &nlb_opt_quota_groups, &nlb_opt_quota_load_balancers
extern const struct lbc_quota_limit nlb_quotas[];

#endif
