/* Headers of an HTTP answer, as struct ccm_http_response has them: "name: value", names in small
 * letters, NULL at the end. Every thread. */
#ifndef CCM_UTIL_HEADER_H
#define CCM_UTIL_HEADER_H

#include <stdint.h>

/* The value of the first one of that name (in small letters); NULL = there is none. */
const char *ccm_header_get(const char *const *headers, const char *name);

/* For retry_after_ms of struct ccm_error: what Retry-After says in seconds, at most an hour; 0 when
 * it is not there, or has the form with a date. */
uint64_t ccm_header_retry_after_ms(const char *const *headers);

#endif
