/* What a certificate says of itself. Pure; every thread. */
#ifndef CCM_ADMIN_CERTIFICATE_H
#define CCM_ADMIN_CERTIFICATE_H

#include <stdint.h>

/* When the first certificate of a PEM text ends, in milliseconds since 1970; 0 = there is none, or
 * it cannot be read. */
int64_t admin_certificate_end_ms(const char *pem);

#endif
