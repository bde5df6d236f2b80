/* Whose Service is it? The classes are disjoint. Pure. Every thread. */
#ifndef CCM_LBC_CLASS_H
#define CCM_LBC_CLASS_H

#include "ccm/object.h"
#include "ccm/option.h"

#include <stdbool.h>

#define LBC_CLASS_KEY        "service.beta.kubernetes.io/class"
#define LBC_CLASS_TUNNEL_KEY "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-tunnel-type"
#define LBC_CLASS_TYPE_KEY   "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-type"
#define LBC_CLASS_NLB        "alibabacloud.com/nlb"

/* Group alicloud, type_annotation: whether annotation loadbalancer-type counts. */
extern const struct ccm_option lbc_opt_type;

/* Type LoadBalancer, no load-balancer class of any kind, no tunnel. */
bool lbc_class_is_clb(const struct ccm_service *service);

/* Type LoadBalancer with the class of NLB. */
bool lbc_class_is_nlb(const struct ccm_service *service);

/* The same where annotation loadbalancer-type counts (option type_annotation): "nlb" without any
 * class makes it an NLB, and whatever is not empty keeps CLB away. */
bool lbc_class_is_typed_clb(const struct ccm_service *service);
bool lbc_class_is_typed_nlb(const struct ccm_service *service);

/* The tunnel annotation is there, with any value. */
bool lbc_class_is_tunnel(const struct ccm_service *service);

/* It is being deleted, or its type is no longer LoadBalancer. */
bool lbc_class_needs_delete(const struct ccm_service *service);

#endif
