/* The action rows of each family of resources; every list ends with a NULL name. Constant. */
#ifndef CCM_CLOUD_FAMILIES_H
#define CCM_CLOUD_FAMILIES_H

#include "cloud.h"

extern const struct ccm_cloud_action ccm_cloud_lb_actions[];
extern const struct ccm_cloud_action ccm_cloud_lb_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_lb_spec_actions[];
extern const struct ccm_cloud_action ccm_cloud_listener_actions[];
extern const struct ccm_cloud_action ccm_cloud_listener_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_vgroup_actions[];
extern const struct ccm_cloud_action ccm_cloud_backend_actions[];
extern const struct ccm_cloud_action ccm_cloud_tag_actions[];
extern const struct ccm_cloud_action ccm_cloud_ecs_actions[];
extern const struct ccm_cloud_action ccm_cloud_vpc_actions[];

#endif
