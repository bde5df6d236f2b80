/*
 * The cloud's actions on listeners, domain extensions and certificates, as alilb/action.h calls
 * them: parameters in, answer out, no decisions.
 */
#ifndef CCM_CLB_API_LISTENER_H
#define CCM_CLB_API_LISTENER_H

#include "alilb/action.h"
#include "state.h"

#define CLB_LISTENERS_BATCH 10

extern const struct alilb_action clb_api_listeners; /* a list; ids of load balancers */

CCM_NODISCARD int clb_api_create_listener(struct alilb_call *call, const char *lb_id,
                                          const struct clb_listener *listener, const char *group_id,
                                          struct ccm_error *err);
CCM_NODISCARD int clb_api_update_listener(struct alilb_call *call, const char *lb_id,
                                          const struct clb_listener *listener, const char *group_id,
                                          struct ccm_error *err);
/* Id of the load balancer, port, protocol. */
extern const struct alilb_action clb_api_start_listener;
extern const struct alilb_action clb_api_delete_listener;

/* --- domain extensions, certificates --- */

extern const struct alilb_action clb_api_domains;       /* a list; id of the load balancer, port */
extern const struct alilb_action clb_api_create_domain; /* the same; name, certificate */
extern const struct alilb_action clb_api_set_domain;    /* id, certificate */
extern const struct alilb_action clb_api_delete_domain; /* id */
extern const struct alilb_action clb_api_certificate;   /* id */

#endif
