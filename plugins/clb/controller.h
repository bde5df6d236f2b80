/* The parts of a pass over one Service; see lbc/controller.h for the whole. */
#ifndef CCM_CLB_CONTROLLER_H
#define CCM_CLB_CONTROLLER_H

#include "alilb/account.h"
#include "alilb/action.h"
#include "clb.h"
#include "lbc/pass.h"
#include "model.h"
#include "plan.h"

#include <stdbool.h>

extern const struct lbc_ops clb_ops;
extern const struct ccm_option clb_opt_batch;

/* What the cloud holds. */
static inline struct clb_state *clb_actual(const struct lbc_pass *pass)
{
    return (struct clb_state *)pass->entry->state;
}

/* The desired state of the pass. */
static inline struct clb_model *clb_desired(const struct lbc_pass *pass)
{
    return (struct clb_model *)pass->model;
}

/* Members of the tables that controller.c hands in. A pass that ensures: sync.c. */
CCM_NODISCARD int clb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int clb_sync_read_details(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int clb_sync_read_health(struct lbc_pass *pass, struct lbc_health *ret,
                                       struct ccm_error *err);
size_t clb_sync_vswitches(const struct lbc_state *state, const char **ret, size_t max);
/* Event CertificateExpires, or its end: an hour or more apart, behind all other calls. What cannot
 * be read says nothing. Blocks. certificates.c. */
void clb_certificates_look(struct lbc_pass *pass, struct alilb_call *call);
bool clb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state);
const char *clb_sync_address(const struct lbc_pass *pass);
/* The same for `holds_shown`. */
CCM_NODISCARD int clb_sync_holds_shown(struct lbc_pass *pass, struct ccm_error *err);
/* events.c */
void clb_emit_events(struct lbc_pass *pass);
/* A pass that releases: release.c */
CCM_NODISCARD int clb_release_read(struct lbc_pass *pass, struct ccm_error *err);
CCM_NODISCARD int clb_release_acl(struct lbc_pass *pass, struct ccm_error *err);

/* --- quotas.c --- */

extern const struct ccm_option clb_opt_quotas;
extern const struct ccm_option clb_opt_quota_backends;
extern const struct ccm_option clb_opt_quota_listeners;
extern const struct ccm_option clb_opt_quota_attachments;
extern const struct ccm_option clb_opt_quota_load_balancers;
#define CLB_QUOTA_OPTIONS                                                                          \
    &clb_opt_quotas, &clb_opt_quota_backends, &clb_opt_quota_listeners,                            \
        &clb_opt_quota_attachments, &clb_opt_quota_load_balancers
extern const struct lbc_quota_limit clb_quotas[];

#endif
