/*
 * What the health checks of the cloud say of a Service's backends, in a pass: read with each second
 * look, when an operator asks for one, and once after a load balancer was made; behind all other
 * calls. A port none of whose backends is healthy is told by a Warning that lasts, the condition,
 * the status page and the metric, and looked at again in steps that double, until it is healthy. A
 * read that fails is no failure of the pass. One thread per pass.
 */
#ifndef CCM_LBC_HEALTH_H
#define CCM_LBC_HEALTH_H

#include "lbc/pass.h"

/* Of one desired listener; in the order of the model's. Backends that get no traffic count as
 * nothing. */
struct lbc_health {
    size_t healthy;
    size_t unhealthy; /* fail their checks */
    size_t unknown;   /* are not checked, or not yet */
};

/* Before a pass that ensures: what an earlier process has told holds until it is read. */
void lbc_health_recall(struct lbc_pass *pass);
/* A load balancer was just made: look once its checks have had time. */
void lbc_health_expect(struct lbc_pass *pass);
/* Behind all other calls: look if it is time, and tell. Of a pass that has failed only whether what
 * was told still holds, and no other pass comes for it. Blocks. */
void lbc_health_look(struct lbc_pass *pass);
/* There is no load balancer any more, or none is wanted. */
void lbc_health_forget(struct lbc_entry *entry);

#endif
