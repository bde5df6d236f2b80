/* The engine's tables for Gateways: those of NLB, where Gateways are no Services. */
#ifndef CCM_GATEWAY_CONTROLLER_H
#define CCM_GATEWAY_CONTROLLER_H

#include "gateway.h"

extern const struct ccm_option gateway_opt_controller;
extern const struct ccm_option gateway_opt_disable_public;

/* Fill in rules, product, model and ops. */
void gateway_controller_init(struct gateway *self);

#endif
