/*
 * The cloud's actions, one function each: parameters in, answer out, no decisions. All block as
 * ali_call() does, return 0 or negative with err, and set call->uncertain when a failed write
 * may have been executed. Every thread.
 */
#ifndef CCM_CLB_API_H
#define CCM_CLB_API_H

#include "clb.h"
#include "state.h"
#include "util/json.h"

/* Who calls, for what; lives for one pass. */
struct clb_call {
    const struct clb *clb;
    const struct ccm_request *req;
    const char *object; /* for log lines */
    enum ali_priority priority;
    const struct clb_state *have; /* of the load balancer that changes are about; may be NULL */
    bool uncertain;               /* out */
};

/* --- reads; the caller frees *ret with cJSON_Delete --- */

CCM_NODISCARD int clb_api_groups(struct clb_call *call, const char *lb_id, cJSON **ret,
                                 struct ccm_error *err);
CCM_NODISCARD int clb_api_group(struct clb_call *call, const char *group_id, cJSON **ret,
                                struct ccm_error *err);

/* --- groups; description is written into every backend --- */

/* *ret_id: heap. An empty set makes an empty group. */
CCM_NODISCARD int clb_api_create_group(struct clb_call *call, const char *lb_id, const char *name,
                                       const struct lbc_backends *backends, char **ret_id,
                                       struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_group(struct clb_call *call, const char *group_id,
                                       struct ccm_error *err);
CCM_NODISCARD int clb_api_add(struct clb_call *call, const char *group_id, const char *description,
                              const struct lbc_backends *backends, struct ccm_error *err);
CCM_NODISCARD int clb_api_remove(struct clb_call *call, const char *group_id,
                                 const char *description, const struct lbc_backends *backends,
                                 struct ccm_error *err);
CCM_NODISCARD int clb_api_weigh(struct clb_call *call, const char *group_id,
                                const char *description, const struct lbc_backends *backends,
                                struct ccm_error *err);

#endif
