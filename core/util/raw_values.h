/* What an index of raw objects (struct ccm_index) goes by: a label, or members of their JSON. Every
 * thread. */
#ifndef CCM_UTIL_RAW_VALUES_H
#define CCM_UTIL_RAW_VALUES_H

#include "ccm/plugin.h"
#include "util/buf.h"

/* Append the values of a raw object, each with its NUL. Failures stick in the buffer. */
void ccm_raw_values(const struct ccm_index *raw, const struct ccm_object *object,
                    struct ccm_buf *values);

#endif
