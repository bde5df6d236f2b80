/* Parts of /_sim/edit, see edit.c. With the cloud's lock held. */
#ifndef CCM_CLOUD_EDIT_H
#define CCM_CLOUD_EDIT_H

#include "cloud.h"

#include <cjson/cJSON.h>

#define CCM_CLOUD_EDIT_TYPE 32

/* Member "type" without underscores; text has room for CCM_CLOUD_EDIT_TYPE bytes. */
void ccm_cloud_edit_type(const cJSON *json, char *text);

/* Members of an object of JSON -> pairs: texts and numbers are set, null removes. 0, -ENOMEM,
 * -EINVAL. */
CCM_NODISCARD int ccm_cloud_edit_pairs(struct ccm_sim_params *pairs, const cJSON *json);

/* The operations on an object that exists. False: the reply holds the reason. */
bool ccm_cloud_edit_delete(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply);
bool ccm_cloud_edit_update(struct ccm_cloud *cloud, const cJSON *json, struct ccm_sim_reply *reply);

#endif
