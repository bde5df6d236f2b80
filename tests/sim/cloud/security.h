/* Security groups and their rules. With the cloud's lock held. */
#ifndef CCM_CLOUD_SECURITY_H
#define CCM_CLOUD_SECURITY_H

#include "cloud.h"

/* The group that SecurityGroupId names. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_security_group_of(struct ccm_cloud_call *call,
                                              struct ccm_cloud_obj **ret);

/* The same; refuses one that a service of the cloud manages. */
CCM_NODISCARD int ccm_cloud_security_group_for_change(struct ccm_cloud_call *call,
                                                      struct ccm_cloud_obj **ret);

/* Next rule of a group (NULL: of all); start with *cursor = NULL. */
struct ccm_cloud_obj *ccm_cloud_security_rule_next(const struct ccm_cloud *cloud, const char *group,
                                                   void **cursor);

/* Rules of a group. */
size_t ccm_cloud_security_rules(const struct ccm_cloud *cloud, const char *group);

#endif
