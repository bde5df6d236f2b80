/* Metadata of Kubernetes objects. Pure. Every thread. */
#ifndef CCM_LBC_OBJECT_H
#define CCM_LBC_OBJECT_H

#include "ccm/object.h"

#include <stdbool.h>

/* Whether it has that one. */
bool lbc_object_has_finalizer(const struct ccm_object *object, const char *finalizer);
/* One that begins with `prefix` and is not `own`. */
bool lbc_object_has_other_finalizer(const struct ccm_object *object, const char *prefix,
                                    const char *own);

/* Same keys with the same values. */
bool lbc_object_same_annotations(const struct ccm_object *a, const struct ccm_object *b);

#endif
