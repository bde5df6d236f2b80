/*
 * Which additional tags we have put on a load balancer that we made, as the value of a label of the
 * Service: short digests of key and value. They hold for one Service alone, so a label that was
 * copied to another one says nothing there. Pure. Every thread.
 */
#ifndef CCM_LBC_MARKS_H
#define CCM_LBC_MARKS_H

#include "lbc/model/tags.h"
#include "util/attr.h"

#include <stdbool.h>

#define LBC_MARKS_MAX  15 /* digests: a label has room for 63 characters */
#define LBC_MARKS_TEXT 61

/* The value for both lists together (`more` may be NULL), the same for the same tags; "" for none.
 * 0, -E2BIG (too many; *ret is ""), -EIO (no digest), -ENOMEM. */
CCM_NODISCARD int lbc_marks_format(const char *uid, const struct lbc_tags *tags,
                                   const struct lbc_tags *more, char ret[static LBC_MARKS_TEXT]);

/* Whether the value, NULL or whatever somebody made of it, has the tag. */
bool lbc_marks_has(const char *marks, const char *uid, const struct lbc_tag *tag);

#endif
