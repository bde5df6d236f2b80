/* Whose Service is it, as far as Kubernetes says? Pure. Every thread. */
#ifndef CCM_LBC_CLASS_H
#define CCM_LBC_CLASS_H

#include "ccm/object.h"

#include <stdbool.h>

/* Type LoadBalancer, no load-balancer class of any kind, no tunnel. */
bool lbc_class_is_default(const struct ccm_service *service);

/* Type LoadBalancer with that class. */
bool lbc_class_is(const struct ccm_service *service, const char *name);

/* An annotation gives it to another controller: a class of old, or a tunnel. */
bool lbc_class_is_elsewhere(const struct ccm_service *service);

/* It is being deleted, or its type is no longer LoadBalancer. */
bool lbc_class_needs_delete(const struct ccm_service *service);

#endif
