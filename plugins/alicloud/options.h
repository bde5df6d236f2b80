/* The options of group "alicloud". */
#ifndef CCM_ALICLOUD_OPTIONS_H
#define CCM_ALICLOUD_OPTIONS_H

#include "alicloud/api.h"
#include "ccm/option.h"

/*
 * To be listed in a plugin's own table:
 *     static const struct ccm_option *const options[] = { ALI_OPTIONS, &my_option, NULL };
 * Meaning of each: its `help`, see options.c.
 */
extern ALI_API const struct ccm_option ali_opt_region;
extern ALI_API const struct ccm_option ali_opt_vpc_id;
extern ALI_API const struct ccm_option ali_opt_vswitch_ids;
extern ALI_API const struct ccm_option ali_opt_cluster_id;
extern ALI_API const struct ccm_option ali_opt_resource_group_id;
extern ALI_API const struct ccm_option ali_opt_network;
extern ALI_API const struct ccm_option ali_opt_signature;
extern ALI_API const struct ccm_option ali_opt_credentials_source;
extern ALI_API const struct ccm_option ali_opt_credentials_file;
extern ALI_API const struct ccm_option ali_opt_credentials_addon_file;
extern ALI_API const struct ccm_option ali_opt_credentials_role_arn;
extern ALI_API const struct ccm_option ali_opt_credentials_role_session_name;
extern ALI_API const struct ccm_option ali_opt_credentials_oidc_provider_arn;
extern ALI_API const struct ccm_option ali_opt_credentials_oidc_token_file;
extern ALI_API const struct ccm_option ali_opt_ca_file;
extern ALI_API const struct ccm_option ali_opt_plain_http; /* before the endpoints */
extern ALI_API const struct ccm_option ali_opt_endpoint_slb;
extern ALI_API const struct ccm_option ali_opt_endpoint_nlb;
extern ALI_API const struct ccm_option ali_opt_endpoint_vpc;
extern ALI_API const struct ccm_option ali_opt_endpoint_ecs;
extern ALI_API const struct ccm_option ali_opt_endpoint_sts;
extern ALI_API const struct ccm_option ali_opt_endpoint_eflo;
extern ALI_API const struct ccm_option ali_opt_endpoint_cas;
extern ALI_API const struct ccm_option ali_opt_endpoint_metadata;
extern ALI_API const struct ccm_option ali_opt_quota_slb_write;
extern ALI_API const struct ccm_option ali_opt_quota_slb_read;
extern ALI_API const struct ccm_option ali_opt_quota_nlb_write;
extern ALI_API const struct ccm_option ali_opt_quota_nlb_read;
extern ALI_API const struct ccm_option ali_opt_quota_vpc;
extern ALI_API const struct ccm_option ali_opt_quota_ecs;
extern ALI_API const struct ccm_option ali_opt_quota_window;
extern ALI_API const struct ccm_option ali_opt_quota_grow;
extern ALI_API const struct ccm_option ali_opt_job_poll;

#define ALI_OPTIONS                                                                                \
    &ali_opt_region, &ali_opt_vpc_id, &ali_opt_vswitch_ids, &ali_opt_cluster_id,                   \
        &ali_opt_resource_group_id, &ali_opt_network, &ali_opt_signature,                          \
        &ali_opt_credentials_source, &ali_opt_credentials_file, &ali_opt_credentials_addon_file,   \
        &ali_opt_credentials_role_arn, &ali_opt_credentials_role_session_name,                     \
        &ali_opt_credentials_oidc_provider_arn, &ali_opt_credentials_oidc_token_file,              \
        &ali_opt_ca_file, &ali_opt_plain_http, &ali_opt_endpoint_slb, &ali_opt_endpoint_nlb,       \
        &ali_opt_endpoint_vpc, &ali_opt_endpoint_ecs, &ali_opt_endpoint_sts,                       \
        &ali_opt_endpoint_eflo, &ali_opt_endpoint_cas, &ali_opt_endpoint_metadata,                 \
        &ali_opt_quota_slb_write, &ali_opt_quota_slb_read, &ali_opt_quota_nlb_write,               \
        &ali_opt_quota_nlb_read, &ali_opt_quota_vpc, &ali_opt_quota_ecs, &ali_opt_quota_window,    \
        &ali_opt_quota_grow, &ali_opt_job_poll

#endif
