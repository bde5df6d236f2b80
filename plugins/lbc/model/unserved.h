/*
 * Fields of a Service's specification that a controller does not act on, as data: one Warning event
 * per field that is set, and a finding of lint. Pure. Every thread.
 */
#ifndef CCM_LBC_UNSERVED_H
#define CCM_LBC_UNSERVED_H

#include "ccm/object.h"
#include "lbc/model/endpoint.h"

#include <stdbool.h>

/* One row; a table ends with a NULL topic. */
struct lbc_unserved {
    const char *topic; /* short, unique: events are told once per topic and change */
    const char *path;  /* of the field */
    bool (*is_set)(const struct ccm_service *service); /* NULL: `families` tells */
    const char *text;                                  /* what it means that it is set */
    unsigned unless;    /* bit of struct lbc_instance.extras that serves it; 0 = there is none */
    const char *option; /* its name; NULL = there is none */
    const char *reason; /* of the event; NULL = "UnsupportedField" */
    /* Why no load balancer is made while the field is set and not served: one would do what it
     * forbids. For one that is there the event is told at each audit. NULL = one is made. */
    const char *refusal;
    /* The backends have addresses of these, as the product's families_of() says, and the API server
     * says that the Service lacks one of them. */
    enum lbc_families families;
    enum lbc_families (*families_of)(const struct ccm_service *service);
};

/* Whether the Service relies on the field. */
bool lbc_unserved_applies(const struct lbc_unserved *field, const struct ccm_service *service);

/* The fields that controllers look at, for `is_set`. */
bool lbc_unserved_ranges(const struct ccm_service *service);
bool lbc_unserved_ip(const struct ccm_service *service);
bool lbc_unserved_affinity(const struct ccm_service *service);
/* The API server says which address families the Service has, and these (enum lbc_families) are not
 * all among them. */
bool lbc_unserved_family(const struct ccm_service *service, enum lbc_families wanted);

#endif
