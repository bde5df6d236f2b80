/* What the simulator shows and lets change beside its services. These take the cloud's lock
 * themselves. */
#ifndef CCM_CLOUD_CONTROL_H
#define CCM_CLOUD_CONTROL_H

#include "cloud.h"

/* GET /_sim/state: everything the cloud holds, in order of creation. */
void ccm_cloud_state(struct ccm_cloud *cloud, struct ccm_sim_reply *reply);

/* POST /_sim/edit, see edit.c. */
void ccm_cloud_edit(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                    struct ccm_sim_reply *reply);

/* POST /_sim/instances, see fixtures.c. */
void ccm_cloud_instances(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                         struct ccm_sim_reply *reply);

/* /latest/...: the metadata service. */
void ccm_cloud_metadata_serve(struct ccm_cloud *cloud, const struct ccm_sim_request *req,
                              struct ccm_sim_reply *reply);

#endif
