/* When what failed is tried again, in words for people. Pure. */
#ifndef CCM_CCM_RETRY_H
#define CCM_CCM_RETRY_H

#include "ccm/error.h"

#include <stddef.h>
#include <stdint.h>

#define CCM_RETRY_TEXT 160 /* bytes, with the end */
/* How the sentence begins, whatever the kind: what stands behind it differs from try to try. */
#define CCM_RETRY_BEGIN "Tried again "

/* object: what it is about and what may change, "Service"; kind: CCM_ERROR_*; next_ms, most_ms: how
 * long it waits now, and in the long run, at most. One sentence without its full stop. */
void ccm_retry_format(const char *object, uint64_t kind, uint64_t next_ms, uint64_t most_ms,
                      char ret[static CCM_RETRY_TEXT]);

#endif
