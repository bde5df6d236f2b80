/* The cloud's actions on the load balancer itself, as alilb/action.h calls them: parameters in,
 * answer out, no decisions. */
#ifndef CCM_CLB_API_LB_H
#define CCM_CLB_API_LB_H

#include "alilb/action.h"
#include "clb.h"
#include "state.h"

/* --- reads --- */

/* List those with that ownership tag, or of that name when tag_value is NULL. */
CCM_NODISCARD int clb_api_find_lb(struct alilb_call *call, const char *tag_value, const char *name,
                                  alilb_item_fn fn, void *arg, struct ccm_error *err);
extern const struct alilb_action clb_api_tagged_lbs; /* a list; key and value of the tag */
extern const struct alilb_action clb_api_lb;         /* id */
extern const struct alilb_action clb_api_vswitch;    /* id */
extern const struct alilb_action clb_api_eips; /* a list; "SlbInstance", id of the load balancer */

/* --- writes --- */

struct clb_create {
    const struct clb_lb *lb; /* all that is set is sent, but for the network type */
    const char *owner_tag;   /* value of the ownership tag */
    const char *token;
};
/* *ret gets id, address, tags and what was asked for; the caller finishes it. */
CCM_NODISCARD int clb_api_create_lb(struct alilb_call *call, const struct clb_create *create,
                                    struct clb_lb *ret, struct ccm_error *err);

/* Texts of all: the id, then the new values. */
extern const struct alilb_action clb_api_rename_lb;
extern const struct alilb_action clb_api_protect_lb;           /* "on" or "off" */
extern const struct alilb_action clb_api_protect_modification; /* "ConsoleProtection" with a reason,
                                                                  or "NonProtection" */
extern const struct alilb_action clb_api_charge_lb;            /* charge type, spec */
extern const struct alilb_action clb_api_spec_lb;
extern const struct alilb_action clb_api_internet_lb; /* charge type, bandwidth */
extern const struct alilb_action clb_api_delete_lb;

#endif
