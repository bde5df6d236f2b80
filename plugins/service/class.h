/* Whose Service is it? The classes are disjoint. Pure. Every thread. */
#ifndef CCM_SERVICE_CLASS_H
#define CCM_SERVICE_CLASS_H

#include "ccm/object.h"

#include <stdbool.h>

#define CCM_CLASS_KEY        "service.beta.kubernetes.io/class"
#define CCM_CLASS_TUNNEL_KEY "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-tunnel-type"
#define CCM_CLASS_TYPE_KEY   "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type"
#define CCM_CLASS_NLB        "alibabacloud.com/nlb"

/* Type LoadBalancer, no load-balancer class of any kind, no tunnel. */
bool ccm_class_is_clb(const struct ccm_service *service);

/* Type LoadBalancer with the class of NLB. */
bool ccm_class_is_nlb(const struct ccm_service *service);

/* The same where annotation loadbalancer-type counts (option type_annotation): "nlb" without any
 * class makes it an NLB, and whatever is not empty keeps CLB away. */
bool ccm_class_is_typed_clb(const struct ccm_service *service);
bool ccm_class_is_typed_nlb(const struct ccm_service *service);

/* The tunnel annotation is there, with any value. */
bool ccm_class_is_tunnel(const struct ccm_service *service);

/* It is being deleted, or its type is no longer LoadBalancer. */
bool ccm_class_needs_delete(const struct ccm_service *service);

#endif
