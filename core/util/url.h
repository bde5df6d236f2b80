/* Text in URLs. Every thread. */
#ifndef CCM_UTIL_URL_H
#define CCM_UTIL_URL_H

#include "util/buf.h"

/* Append a path segment, or the name or value of a query or form: every byte but A-Z a-z 0-9 - . _
 * and ~ as %XX (RFC 3986, capital hex). */
void ccm_url_escape(struct ccm_buf *buf, const char *text);

#endif
