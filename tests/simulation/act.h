/* Parts of act.c. */
#ifndef SIM_ACT_H
#define SIM_ACT_H

#include "history.h"

/* Definitions of the Gateway API, and a class. */
void sim_gateway_define(void);
/* Verbs gateway, ungateway, route, unroute, set, unset. */
void sim_act_gateway(const struct sim_act *act);

#endif
