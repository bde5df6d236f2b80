/* Under which names the admin server may be asked. Pure; every thread. */
#ifndef CCM_ADMIN_HOSTNAME_H
#define CCM_ADMIN_HOSTNAME_H

#include <stdbool.h>

/*
 * Whether the Host header of a request (NULL: HTTP/1.0 has none) is a name that nobody outside can
 * give out: an address, localhost, or a Service within the cluster (ends in .svc or
 * .svc.cluster.local), with or without a port. A page of another site whose name was made to lead
 * here (DNS rebinding, through a port-forward say) has another one: a browser would let it read.
 */
bool admin_hostname_is_local(const char *host);

#endif
