/* Reading metadata of Kubernetes objects. Pure; results are borrowed from the object. Every thread.
 */
#ifndef CCM_LBC_OBJECT_H
#define CCM_LBC_OBJECT_H

#include "ccm/object.h"

#include <stdbool.h>

/* Value of a label or annotation; NULL when the key is absent ("" is a value). */
const char *lbc_object_label(const struct ccm_object *object, const char *key);
const char *lbc_object_annotation(const struct ccm_object *object, const char *key);

bool lbc_object_has_finalizer(const struct ccm_object *object, const char *finalizer);

/* Same keys with the same values. */
bool lbc_object_same_annotations(const struct ccm_object *a, const struct ccm_object *b);

#endif
