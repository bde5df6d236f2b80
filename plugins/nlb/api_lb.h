/* Load balancers and tags: see api.h. */
#ifndef CCM_NLB_API_LB_H
#define CCM_NLB_API_LB_H

#include "api.h"

/* --- reads --- */

/* By a tag, or when tag_key is NULL by name. */
CCM_NODISCARD int nlb_api_list_lbs(struct nlb_call *call, const char *tag_key,
                                   const char *tag_value, const char *name, nlb_item_fn fn,
                                   void *arg, struct ccm_error *err);
CCM_NODISCARD int nlb_api_lb(struct nlb_call *call, const char *lb_id, cJSON **ret,
                             struct ccm_error *err);

/* --- writes --- */

/* What creation needs besides the desired attributes. */
struct nlb_create {
    const struct nlb_lb *lb; /* vpc_id and the name must be set */
    const struct lbc_tags *tags;
    const char *token;
};

CCM_NODISCARD int nlb_api_create_lb(struct nlb_call *call, const struct nlb_create *create,
                                    struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_delete_lb(struct nlb_call *call, const char *lb_id, struct nlb_sent *ret,
                                    struct ccm_error *err);
/* Name and cross-zone, those of `lb` that are set. */
CCM_NODISCARD int nlb_api_update_lb(struct nlb_call *call, const char *lb_id,
                                    const struct nlb_lb *lb, struct nlb_sent *ret,
                                    struct ccm_error *err);
/* Deletion and modification protection, those of `lb` that are set. */
CCM_NODISCARD int nlb_api_protect_lb(struct nlb_call *call, const char *lb_id,
                                     const struct nlb_lb *lb, struct nlb_sent *ret,
                                     struct ccm_error *err);
/* zones of `lb`: those with an elastic address of their own. */
CCM_NODISCARD int nlb_api_address_type(struct nlb_call *call, const char *lb_id, const char *type,
                                       const struct nlb_lb *lb, struct nlb_sent *ret,
                                       struct ccm_error *err);
CCM_NODISCARD int nlb_api_zones(struct nlb_call *call, const char *lb_id, const struct nlb_lb *lb,
                                struct nlb_sent *ret, struct ccm_error *err);
/* type: "Internet" or "Intranet". */
CCM_NODISCARD int nlb_api_ipv6_type(struct nlb_call *call, const char *lb_id, const char *type,
                                    struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_join(struct nlb_call *call, const char *lb_id,
                               const struct lbc_texts *groups, struct nlb_sent *ret,
                               struct ccm_error *err);
CCM_NODISCARD int nlb_api_leave(struct nlb_call *call, const char *lb_id,
                                const struct lbc_texts *groups, struct nlb_sent *ret,
                                struct ccm_error *err);
CCM_NODISCARD int nlb_api_attach(struct nlb_call *call, const char *lb_id, const char *package,
                                 struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_detach(struct nlb_call *call, const char *lb_id, const char *package,
                                 struct nlb_sent *ret, struct ccm_error *err);

/* type: "loadbalancer" or "servergroup". */
CCM_NODISCARD int nlb_api_tag(struct nlb_call *call, const char *type, const char *id,
                              const struct lbc_tags *tags, struct nlb_sent *ret,
                              struct ccm_error *err);
CCM_NODISCARD int nlb_api_untag(struct nlb_call *call, const char *type, const char *id,
                                const struct lbc_tags *tags, struct nlb_sent *ret,
                                struct ccm_error *err);

#endif
