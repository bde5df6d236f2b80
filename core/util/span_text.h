/* Moments in words for people. Pure. */
#ifndef CCM_SPAN_TEXT_H
#define CCM_SPAN_TEXT_H

#include <stdint.h>

#define CCM_SPAN_TEXT 40 /* bytes, with the end */

/* A moment so many ms from now: "in 5 min"; when it is past (negative): "3 s ago". */
void ccm_span_format_moment(int64_t ms, char ret[static CCM_SPAN_TEXT]);

#endif
