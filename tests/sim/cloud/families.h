/* The action rows of each family of resources; every list ends with a NULL name. Constant. */
#ifndef CCM_CLOUD_FAMILIES_H
#define CCM_CLOUD_FAMILIES_H

#include "cloud.h"

extern const struct ccm_cloud_action ccm_cloud_lb_actions[];
extern const struct ccm_cloud_action ccm_cloud_lb_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_lb_spec_actions[];
extern const struct ccm_cloud_action ccm_cloud_listener_actions[];
extern const struct ccm_cloud_action ccm_cloud_listener_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_listener_state_actions[];
extern const struct ccm_cloud_action ccm_cloud_vgroup_actions[];
extern const struct ccm_cloud_action ccm_cloud_backend_actions[];
extern const struct ccm_cloud_action ccm_cloud_health_actions[];
extern const struct ccm_cloud_action ccm_cloud_tag_actions[];
extern const struct ccm_cloud_action ccm_cloud_instance_actions[];
extern const struct ccm_cloud_action ccm_cloud_eni_actions[];
extern const struct ccm_cloud_action ccm_cloud_vpc_actions[];
extern const struct ccm_cloud_action ccm_cloud_listener_attr_actions[];
extern const struct ccm_cloud_action ccm_cloud_http_actions[];
extern const struct ccm_cloud_action ccm_cloud_acl_actions[];
extern const struct ccm_cloud_action ccm_cloud_acl_entry_actions[];
extern const struct ccm_cloud_action ccm_cloud_cert_actions[];
extern const struct ccm_cloud_action ccm_cloud_slb_region_actions[];
extern const struct ccm_cloud_action ccm_cloud_ecs_change_actions[];
extern const struct ccm_cloud_action ccm_cloud_security_actions[];
extern const struct ccm_cloud_action ccm_cloud_security_rule_actions[];
extern const struct ccm_cloud_action ccm_cloud_security_rule_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_ecs_region_actions[];
extern const struct ccm_cloud_action ccm_cloud_ecs_tag_actions[];
extern const struct ccm_cloud_action ccm_cloud_vpc_region_actions[];
extern const struct ccm_cloud_action ccm_cloud_vpc_tag_actions[];
extern const struct ccm_cloud_action ccm_cloud_route_actions[];
extern const struct ccm_cloud_action ccm_cloud_route_table_actions[];
extern const struct ccm_cloud_action ccm_cloud_route_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_eip_actions[];
extern const struct ccm_cloud_action ccm_cloud_sts_actions[];
extern const struct ccm_cloud_action ccm_cloud_cas_actions[];
extern const struct ccm_cloud_action ccm_cloud_eflo_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_lb_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_zone_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_join_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_lb_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_group_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_server_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_group_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_listener_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_listener_read_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_cert_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_tag_actions[];
extern const struct ccm_cloud_action ccm_cloud_nlb_job_actions[];

#endif
