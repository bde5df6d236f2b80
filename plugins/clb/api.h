/*
 * The cloud's actions, one function each: parameters in, answer out, no decisions. All block as
 * ccm_ali_call() does, return 0 or negative with err, and set call->uncertain when a failed write
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
    enum ccm_ali_priority priority;
    bool uncertain; /* out */
};

/* --- reads; the caller frees *ret with cJSON_Delete --- */

/* By ownership tag, or by name when tag_value is NULL. */
CCM_NODISCARD int clb_api_find_lb(struct clb_call *call, const char *tag_value, const char *name,
                                  cJSON **ret, struct ccm_error *err);
/* One page; next_token "" for the first. */
CCM_NODISCARD int clb_api_listeners(struct clb_call *call, const char *lb_id,
                                    const char *next_token, cJSON **ret, struct ccm_error *err);
CCM_NODISCARD int clb_api_groups(struct clb_call *call, const char *lb_id, cJSON **ret,
                                 struct ccm_error *err);
CCM_NODISCARD int clb_api_group(struct clb_call *call, const char *group_id, cJSON **ret,
                                struct ccm_error *err);
CCM_NODISCARD int clb_api_vswitch(struct clb_call *call, const char *vswitch_id, cJSON **ret,
                                  struct ccm_error *err);

/* --- load balancer --- */

struct clb_create {
    const struct clb_lb *lb; /* name, address_type, vswitch_id (intranet) */
    const char *owner_tag;   /* value of the ownership tag */
    const char *token;
};
/* *ret gets id, address and what was asked for; the caller finishes it. */
CCM_NODISCARD int clb_api_create_lb(struct clb_call *call, const struct clb_create *create,
                                    struct clb_lb *ret, struct ccm_error *err);
/* The ownership tag. */
CCM_NODISCARD int clb_api_tag_lb(struct clb_call *call, const char *lb_id, const char *owner_tag,
                                 struct ccm_error *err);
CCM_NODISCARD int clb_api_rename_lb(struct clb_call *call, const char *lb_id, const char *name,
                                    struct ccm_error *err);
CCM_NODISCARD int clb_api_unprotect_lb(struct clb_call *call, const char *lb_id,
                                       struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_lb(struct clb_call *call, const char *lb_id,
                                    struct ccm_error *err);

/* --- groups; description is written into every backend --- */

/* *ret_id: heap. An empty set makes an empty group. */
CCM_NODISCARD int clb_api_create_group(struct clb_call *call, const char *lb_id, const char *name,
                                       const struct ccm_backends *backends, char **ret_id,
                                       struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_group(struct clb_call *call, const char *group_id,
                                       struct ccm_error *err);
CCM_NODISCARD int clb_api_add(struct clb_call *call, const char *group_id, const char *description,
                              const struct ccm_backends *backends, struct ccm_error *err);
CCM_NODISCARD int clb_api_remove(struct clb_call *call, const char *group_id,
                                 const char *description, const struct ccm_backends *backends,
                                 struct ccm_error *err);
CCM_NODISCARD int clb_api_weigh(struct clb_call *call, const char *group_id,
                                const char *description, const struct ccm_backends *backends,
                                struct ccm_error *err);

/* --- listeners --- */

CCM_NODISCARD int clb_api_create_listener(struct clb_call *call, const char *lb_id,
                                          const struct clb_listener *listener, const char *group_id,
                                          struct ccm_error *err);
CCM_NODISCARD int clb_api_update_listener(struct clb_call *call, const char *lb_id,
                                          const struct clb_listener *listener, const char *group_id,
                                          struct ccm_error *err);
CCM_NODISCARD int clb_api_start_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                                         enum clb_protocol protocol, struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                                          enum clb_protocol protocol, struct ccm_error *err);

#endif
