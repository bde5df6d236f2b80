/*
 * Which additional tags we have put on a load balancer that we made, as the value of a label of its
 * Service: a list of short digests of key and value. A digest holds for one Service alone, so a
 * label that was copied to another one says nothing there. Pure. Every thread.
 */
#ifndef CCM_SERVICE_MARKS_H
#define CCM_SERVICE_MARKS_H

#include "service/tags.h"
#include "util/attr.h"

#include <stdbool.h>

#define CCM_MARKS_MAX  15 /* digests: a label has room for 63 characters */
#define CCM_MARKS_TEXT 61

/* The value for both lists together (`more` may be NULL), always the same for the same tags; ""
 * for none. 0, -E2BIG when they are too many (*ret is "" then), -EIO when nothing can be digested,
 * -ENOMEM. */
CCM_NODISCARD int ccm_marks_format(const char *uid, const struct ccm_tags *tags,
                                   const struct ccm_tags *more, char ret[static CCM_MARKS_TEXT]);

/* Whether the value, NULL or whatever somebody made of it, has the tag. */
bool ccm_marks_has(const char *marks, const char *uid, const struct ccm_tag *tag);

#endif
