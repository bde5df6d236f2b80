/*
 * The cloud's actions on listeners and their additional certificates, as alilb/action.h calls them:
 * parameters in, answer out, no decisions.
 */
#ifndef CCM_NLB_API_LISTENER_H
#define CCM_NLB_API_LISTENER_H

#include "alilb/action.h"
#include "state.h"

/* --- lists --- */

extern const struct alilb_action nlb_api_listeners; /* id of the load balancer, NULL: all of the
                                                       region */
extern const struct alilb_action nlb_api_certs;     /* id of the listener */

/* --- writes --- */

CCM_NODISCARD int nlb_api_create_listener(struct alilb_call *call, const char *lb_id,
                                          const struct nlb_listener *listener, const char *group_id,
                                          struct lbc_sent *sent, struct ccm_error *err);
CCM_NODISCARD int nlb_api_update_listener(struct alilb_call *call, const char *listener_id,
                                          const struct nlb_listener *listener, const char *group_id,
                                          struct lbc_sent *sent, struct ccm_error *err);
extern const struct alilb_action nlb_api_delete_listener; /* id */

/* Id of the listener; at most NLB_CERTS_MAX certificates. */
extern const struct alilb_action nlb_api_add_certs;
extern const struct alilb_action nlb_api_remove_certs;

#endif
