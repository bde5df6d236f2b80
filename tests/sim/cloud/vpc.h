/* What the answers of VPC actions have in common. With the cloud's lock held. */
#ifndef CCM_CLOUD_VPC_H
#define CCM_CLOUD_VPC_H

#include "cloud.h"

/* "VSwitchIds":{"VSwitchId":[those whose attribute has the value]} */
void ccm_cloud_vswitch_ids_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud,
                                 const char *attr, const char *value);

/* VPC answers spell tags differently from the others: Key and Value. */
void ccm_cloud_vpc_tags_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj);

/* Whether the VPC is in no change. One that does not exist is. */
bool ccm_cloud_vpc_is_settled(const struct ccm_cloud *cloud, const char *id);

/* With DryRun=true the error that tells success. 0, -EPROTO. */
CCM_NODISCARD int ccm_cloud_vpc_dry_run(struct ccm_cloud_call *call);

#endif
