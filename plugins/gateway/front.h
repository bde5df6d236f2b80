/*
 * The host that the engine is given: Gateways stand in it as Services, whose slices are those of
 * all Services that their routes send to. What the engine writes to such a Service becomes
 * finalizer and labels of the Gateway, or is remembered for its status (memory.h). All else is the
 * daemon's host. Every thread; blocks where the daemon's does.
 */
#ifndef CCM_GATEWAY_FRONT_H
#define CCM_GATEWAY_FRONT_H

#include "gateway.h"

/* Fill in self->front, from self->host. */
void gateway_front_init(struct gateway *self);

#endif
