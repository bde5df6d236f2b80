/* The instance, and the parts of a pass over one Service; see lbc/pass.h for the whole. */
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

/* A member of nlb_ops. */
CCM_NODISCARD int nlb_check_owner(struct lbc_pass *pass, const char *lb_id, struct ccm_error *err);

/* Whether the load balancer can be worked on: 0, with pass->unfinished set while it is still being
 * made, or what nlb_read_check_status() says. */
CCM_NODISCARD int nlb_check_status(struct lbc_pass *pass, struct ccm_error *err);

/* What a plan is made from, and its way into the cloud, or in a dry run to whoever reads it.
 * Blocks. Failures are in pass->problems; negative: it had to be given up. */
struct nlb_plan_input nlb_pass_plan_input(const struct lbc_pass *pass,
                                          const struct nlb_model *model, bool fresh);
CCM_NODISCARD int nlb_pass_run(struct lbc_pass *pass, struct lbc_plan *plan,
                               const struct nlb_model *model, enum lbc_priority priority,
                               bool fresh, struct ccm_error *err);

/* ops->sync, ->publish (sync.c), ->release (release.c), ->tell (events.c). */
CCM_NODISCARD int nlb_sync(struct lbc_pass *pass, struct ccm_error *err);
bool nlb_publish(struct lbc_pass *pass, struct lbc_life_state *state);
CCM_NODISCARD int nlb_release(struct lbc_pass *pass, struct ccm_error *err);
void nlb_emit_events(struct lbc_pass *pass);

/* Whether the load balancer that annotation `id` names may be used: not one that a controller made,
 * and not in exchange for another one. Blocks in a rare case. 0, or negative with err. */
CCM_NODISCARD int nlb_check_reuse(struct lbc_pass *pass, struct ccm_error *err);

/*
 * Whether address types and VPC of that load balancer are what the Service needs; without a read.
 * Servers by address reach over VPCs, others do not. 0, or -EPERM with a CCM_ERROR_TERMINAL. A
 * Service that is served there already goes on being served: 0 then, a problem, and
 * model->mismatch.
 */
CCM_NODISCARD int nlb_check_match(struct lbc_pass *pass, struct ccm_error *err);

#endif
