/* Random numbers of the system. Every thread. */
#ifndef CCM_UTIL_ENTROPY_H
#define CCM_UTIL_ENTROPY_H

#include <stdint.h>

/* A seed for a generator of jitter; never 0. Not for secrets: when the system has no random bytes,
 * it comes from the wall clock. */
uint64_t ccm_entropy_seed(void);

#endif
