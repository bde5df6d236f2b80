/* What listeners say, in the status of a Gateway or ListenerSet. Pure. Every thread. */
#ifndef CCM_GATEWAY_LISTENER_STATUS_H
#define CCM_GATEWAY_LISTENER_STATUS_H

#include "lbc/custom/condition.h"
#include "listener.h"

/* An array for status.listeners. shown: the status that is there; programmed: what those say that
 * can be served, NULL = what they have said. NULL on ENOMEM. */
cJSON *gateway_listeners_show(const struct gateway_listener *listeners, size_t count,
                              const cJSON *shown, const struct lbc_custom_condition *programmed,
                              const struct lbc_custom_moment *moment);

#endif
