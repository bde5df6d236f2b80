/* A cluster with one Service, a mini cloud, and the plugin between them. One thread. */
#ifndef CCM_CLB_TESTS_WORLD_H
#define CCM_CLB_TESTS_WORLD_H

#include "lbc/tests/check.h"

#include "clb/controller.h"
#include "lbc/tests/objects.h"
#include "mini_cloud.h"
#include "support/fake_host.h"

#define LB_NAME "a5e4dbfc9c2ae4642b0335607860aef6"
#define LB_ID   MINI_FIRST
#define LB_IP   "47.96.0.1" /* the first address that the cloud gives */
#define READY   CCM_ENDPOINT_READY

struct world {
    struct fake_host *fake;
    struct lbc_instance lbc;
    struct ccm_service *service;
    struct ccm_endpoint_slice *slice;
    struct ccm_error err; /* of the last pass */
    size_t events;        /* seen by world_event() */
    uint64_t requeue_ms;  /* of the last pass */
    uint64_t flags;
    const char *lb_id; /* what world_settle() labels the Service with, and shows; NULL: that of the
                          only load balancer, and so is the next */
    const char *lb_ip;
};

/* Two ready nodes (i-1, i-2), Service default/web with tcp 80 and tcp 443, one endpoint on each
 * node. Half of a group in 300 s, 300 s of missing. */
void world_begin(struct world *world);
void world_end(struct world *world);
/* Forget everything the plugin remembers. */
void world_restart(struct world *world);
/* Make the caches show the present members of the objects, as a new version. */
void world_put(struct world *world);
void world_add_node(struct world *world, const char *name, const char *provider_id);
/* The watch sees the DELETED event of a node; or a new list lacks it. */
void world_delete_node(struct world *world, const char *name);
void world_lose_node(struct world *world, const char *name);
/* Somebody says that all removals may go, for ever. */
void world_allow_removals(struct world *world);
/* One pass; its result. */
int world_run(struct world *world);
/* One pass over the Service of that key. */
int world_run_key(struct world *world, const char *key);
/* Passes until one succeeds (at most ten). */
void world_converge(struct world *world);
/* What the API server would have made of the patches of a successful pass. */
void world_settle(struct world *world);
/* Converged, settled, log and event counters reset. */
void world_steady(struct world *world);
/* Next event not yet looked at, as "Reason: message"; NULL when there is none. */
const char *world_event(struct world *world);

#endif
