/* Part of api.h: the actions on the load balancer itself. */
#ifndef CCM_CLB_API_LB_H
#define CCM_CLB_API_LB_H

#include "api.h"

/* --- reads; the caller frees *ret with cJSON_Delete --- */

/* By ownership tag, or by name when tag_value is NULL. */
CCM_NODISCARD int clb_api_find_lb(struct clb_call *call, const char *tag_value, const char *name,
                                  cJSON **ret, struct ccm_error *err);
CCM_NODISCARD int clb_api_lb(struct clb_call *call, const char *lb_id, cJSON **ret,
                             struct ccm_error *err);
CCM_NODISCARD int clb_api_vswitch(struct clb_call *call, const char *vswitch_id, cJSON **ret,
                                  struct ccm_error *err);
/* One page of the elastic addresses bound to it, from 1. */
#define CLB_EIP_PAGE 10
CCM_NODISCARD int clb_api_eips(struct clb_call *call, const char *lb_id, int64_t page, cJSON **ret,
                               struct ccm_error *err);

/* --- writes --- */

struct clb_create {
    const struct clb_lb *lb; /* all that is set is sent, but for the network type */
    const char *owner_tag;   /* value of the ownership tag */
    const char *token;
};
/* *ret gets id, address, tags and what was asked for; the caller finishes it. */
CCM_NODISCARD int clb_api_create_lb(struct clb_call *call, const struct clb_create *create,
                                    struct clb_lb *ret, struct ccm_error *err);
CCM_NODISCARD int clb_api_tag_lb(struct clb_call *call, const char *lb_id,
                                 const struct lbc_tags *tags, struct ccm_error *err);
/* By key; the tags must not be empty (that would mean all). */
CCM_NODISCARD int clb_api_untag_lb(struct clb_call *call, const char *lb_id,
                                   const struct lbc_tags *tags, struct ccm_error *err);
CCM_NODISCARD int clb_api_rename_lb(struct clb_call *call, const char *lb_id, const char *name,
                                    struct ccm_error *err);
/* value: "on" or "off". */
CCM_NODISCARD int clb_api_protect_lb(struct clb_call *call, const char *lb_id, const char *value,
                                     struct ccm_error *err);
/* status: "ConsoleProtection" or "NonProtection". */
CCM_NODISCARD int clb_api_protect_modification(struct clb_call *call, const char *lb_id,
                                               const char *status, struct ccm_error *err);
/* spec may be NULL. */
CCM_NODISCARD int clb_api_charge_lb(struct clb_call *call, const char *lb_id, const char *type,
                                    const char *spec, struct ccm_error *err);
CCM_NODISCARD int clb_api_spec_lb(struct clb_call *call, const char *lb_id, const char *spec,
                                  struct ccm_error *err);
/* Either may be NULL. */
CCM_NODISCARD int clb_api_internet_lb(struct clb_call *call, const char *lb_id, const char *charge,
                                      const char *bandwidth, struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_lb(struct clb_call *call, const char *lb_id,
                                    struct ccm_error *err);

#endif
