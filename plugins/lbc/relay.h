/*
 * A host that stands before the daemon's and passes on what the engine asks of it, for plugins
 * whose objects are no Services: they put functions of their own in the place of those that read
 * and write objects. Every thread; blocks where the daemon's does.
 */
#ifndef CCM_LBC_RELAY_H
#define CCM_LBC_RELAY_H

#include "ccm/host.h"

struct lbc_relay {
    struct ccm_host host; /* first */
    const struct ccm_host *behind;
};

/* Fill it in, except for get, list, release, release_list, fetch, patch and event, which are the
 * caller's. `behind` stays as long as the relay. Calls of later minor versions that the engine does
 * not make are left out. */
void lbc_relay_init(struct lbc_relay *relay, const struct ccm_host *behind);

#endif
