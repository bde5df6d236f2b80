/*
 * Fields of a Service's specification that a person may rely on and that nothing here acts on, as
 * data: one Warning event per field that is set, and a finding of lint. Pure. Every thread.
 */
#ifndef CCM_CLB_UNSERVED_H
#define CCM_CLB_UNSERVED_H

#include "ccm/object.h"

#include <stdbool.h>

struct clb_unserved {
    const char *topic; /* short, unique: events are told once per topic and change */
    const char *path;  /* of the field */
    bool (*is_set)(const struct ccm_service *service);
    const char *text;   /* what it means that it is set */
    unsigned unless;    /* CLB_EXTRA_*: the option that serves it; 0 = there is none */
    const char *option; /* its name; NULL = there is none */
};

/* Ends with a NULL topic. */
extern const struct clb_unserved clb_unserved[];

#endif
