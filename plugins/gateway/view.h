/*
 * A Gateway as the engine sees it: a Service of type LoadBalancer with a port per listener. Its uid
 * begins with GATEWAY_KIND and its name with GATEWAY_NAME_PREFIX, so that nothing in the cloud is
 * mistaken for that of a Service. No I/O. Every thread.
 */
#ifndef CCM_GATEWAY_VIEW_H
#define CCM_GATEWAY_VIEW_H

#include "subject.h"

/* A port of such a Service. */
struct gateway_port {
    struct ccm_service_port port; /* first: what the engine has of it */
    const struct gateway_listener *listener;
    const struct gateway_targets *targets;
};

/* Gateways as Services, for the front of struct gateway. */
extern const struct lbc_custom_kind gateway_views;

/* Whether a Service is one of these and wants a load balancer, for struct lbc_lint_rules. */
bool gateway_view_is_ours(const struct ccm_service *service);

#endif
