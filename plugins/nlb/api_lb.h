/* The cloud's actions on load balancers, as alilb/action.h calls them: parameters in, answer out,
 * no decisions. */
#ifndef CCM_NLB_API_LB_H
#define CCM_NLB_API_LB_H

#include "alilb/action.h"
#include "state.h"

/* --- reads --- */

extern const struct alilb_action nlb_api_lbs; /* a list; key and value of a tag, or NULL twice and
                                                 the name */
extern const struct alilb_action nlb_api_lb;  /* id */

/* --- writes --- */

/* What creation needs besides the desired attributes. */
struct nlb_create {
    const struct nlb_lb *lb; /* vpc_id and the name must be set */
    const struct lbc_tags *tags;
    const char *token;
};

CCM_NODISCARD int nlb_api_create_lb(struct alilb_call *call, const struct nlb_create *create,
                                    struct lbc_sent *sent, struct ccm_error *err);
/* The zones of `lb`. type: the address type that changes with them, then only elastic addresses of
 * zones are sent; NULL = it stays. */
CCM_NODISCARD int nlb_api_update_zones(struct alilb_call *call, const char *lb_id, const char *type,
                                       const struct nlb_lb *lb, struct lbc_sent *sent,
                                       struct ccm_error *err);

/* Texts of all: the id, then the new values. */
extern const struct alilb_action nlb_api_delete_lb;
extern const struct alilb_action nlb_api_update_lb;  /* name, cross-zone */
extern const struct alilb_action nlb_api_protect_lb; /* of deletion, of modification, why */
extern const struct alilb_action nlb_api_enable_ipv6;
extern const struct alilb_action nlb_api_disable_ipv6;
extern const struct alilb_action nlb_api_join; /* and a list of security groups */
extern const struct alilb_action nlb_api_leave;
extern const struct alilb_action nlb_api_attach; /* bandwidth package */
extern const struct alilb_action nlb_api_detach;

#endif
