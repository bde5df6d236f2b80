/* What the parts of a pass share: sync.c and release.c; see lbc/pass.h. */
#ifndef CCM_CLB_CONTROLLER_H
#define CCM_CLB_CONTROLLER_H

#include "apply.h"
#include "clb.h"

/* Members of clb_ops. */
CCM_NODISCARD int clb_sync(struct lbc_pass *pass, struct ccm_error *err);
bool clb_publish(struct lbc_pass *pass, struct lbc_life_state *state);
void clb_emit_events(struct lbc_pass *pass);
CCM_NODISCARD int clb_release(struct lbc_pass *pass, struct ccm_error *err);

/* A member of clb_ops, too. */
CCM_NODISCARD int clb_check_owner(struct lbc_pass *pass, const char *lb_id, struct ccm_error *err);

/* Whether the load balancer that annotation `id` names may be used: not one that a controller made,
 * and not in exchange for another one. Reads from the cloud in a rare case. 0, or -EPERM with a
 * CCM_ERROR_TERMINAL. */
CCM_NODISCARD int clb_check_reuse(struct lbc_pass *pass, const struct clb_model *model,
                                  struct ccm_error *err);

/*
 * Whether address type and VPC of that load balancer are what the Service needs; without a read.
 * 0, or -EPERM with a CCM_ERROR_TERMINAL. A Service that is served there already goes on being
 * served: 0 then, a problem, and model->mismatch.
 */
CCM_NODISCARD int clb_check_match(struct lbc_pass *pass, struct clb_model *model,
                                  struct ccm_error *err);

/* Whether something of the Service is in the load balancer: only a controller can have put it
 * there. */
bool clb_is_served(const struct lbc_pass *pass);

/* A call struct for this pass. */
struct alilb_call clb_pass_call(const struct lbc_pass *pass, enum lbc_priority priority);

#endif
