/*
 * What has to hold: at every write, and when all is at rest. A finding ends the run by sim_fail().
 *
 * One real thread.
 */
#ifndef SIM_LOOK_H
#define SIM_LOOK_H

#include "net.h"

#include <stdbool.h>
#include <stdint.h>

/* From now on every request is checked. quota_percent: of the published rates that one instance may
 * use up. */
void sim_look_begin(unsigned quota_percent);
/* When an instance last changed something in the cloud, or in the cluster beside Events and the
 * Lease; virtual. */
int64_t sim_look_last_write_us(void);
uint64_t sim_look_cloud_writes(void);
/* From now on the Service of that name has a ready endpoint, or none. */
void sim_look_ready(const char *service, bool ready);
/* The same of a node: a pod of one that is not may not be served. */
void sim_look_node(const char *node, bool ready);
/* Each server group of the Service has exactly these backends, by address or by id of the instance;
 * "a b c ". */
void sim_look_backends(const char *service, const char *backends);
/* No Service exists any more, so nothing of ours may be left: NULL, or what is left. */
const char *sim_look_at_rest(void);
/* When all is at rest: status, conditions, finalizers and events of Services and Gateways say what
 * is. */
void sim_look_at_status(void);
/* Whether the Service has a ready endpoint. */
bool sim_look_is_ready(const char *service);
/* What the private keys of histories begin with. */
#define SIM_PRIVATE_KEY "MIIPRIVATEKEY"

/* No secret is in the file. */
void sim_look_at_log(const char *path);

#endif
