/* Whose Service is it, as far as Kubernetes says? Pure. Every thread. */
#ifndef CCM_LBC_CLASS_H
#define CCM_LBC_CLASS_H

#include "ccm/object.h"

#include <stdbool.h>

#define LBC_CHOICE_FINALIZER 64

/* Type LoadBalancer, no load-balancer class of any kind, no tunnel. */
bool lbc_class_is_default(const struct ccm_service *service);

/* Type LoadBalancer with that class. */
bool lbc_class_is(const struct ccm_service *service, const char *name);

/* An annotation gives it to another controller: a class of old, or a tunnel. */
bool lbc_class_is_elsewhere(const struct ccm_service *service);

/* What options say about whose Services are whose: for products whose classes are options. Texts
 * are borrowed and stay. */
struct lbc_choice {
    const char *own;      /* classes of the product, separated by commas; "" = none */
    const char *sibling;  /* those of the other product of the same cloud */
    const char *others;   /* those that somebody else serves, so that they are not misspelt */
    const char *standard; /* which product takes new Services without a class */
    bool by_type;         /* an annotation may choose the product */
    char finalizer[LBC_CHOICE_FINALIZER]; /* of the product, "" = as it is called */
    char sibling_finalizer[LBC_CHOICE_FINALIZER];
};

/* Whether the Service's class is one of a list that is separated by commas. */
bool lbc_class_is_in(const struct ccm_service *service, const char *list);

/* It is being deleted, or its type is no longer LoadBalancer. */
bool lbc_class_needs_delete(const struct ccm_service *service);

#endif
