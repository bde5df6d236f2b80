/* Server groups and servers: see api.h. */
#ifndef CCM_NLB_API_GROUP_H
#define CCM_NLB_API_GROUP_H

#include "api.h"

/* By a tag, or when tag_key is NULL by ids, 20 per call. */
CCM_NODISCARD int nlb_api_list_groups(struct nlb_call *call, const char *tag_key,
                                      const char *tag_value, const struct lbc_texts *ids,
                                      nlb_item_fn fn, void *arg, struct ccm_error *err);
/* group_id NULL: of all groups of the region. */
CCM_NODISCARD int nlb_api_list_servers(struct nlb_call *call, const char *group_id, nlb_item_fn fn,
                                       void *arg, struct ccm_error *err);

CCM_NODISCARD int nlb_api_create_group(struct nlb_call *call, const struct nlb_group *group,
                                       const char *vpc_id, const struct lbc_tags *tags,
                                       struct nlb_sent *ret, struct ccm_error *err);
/* name NULL: it stays. */
CCM_NODISCARD int nlb_api_update_group(struct nlb_call *call, const char *group_id,
                                       const struct nlb_group *group, const char *name,
                                       struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_delete_group(struct nlb_call *call, const char *group_id,
                                       struct nlb_sent *ret, struct ccm_error *err);

/* description is written into every server. */
CCM_NODISCARD int nlb_api_add_servers(struct nlb_call *call, const char *group_id,
                                      const char *description, const struct lbc_backends *set,
                                      struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_update_servers(struct nlb_call *call, const char *group_id,
                                         const char *description, const struct lbc_backends *set,
                                         struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_remove_servers(struct nlb_call *call, const char *group_id,
                                         const struct lbc_backends *set, struct nlb_sent *ret,
                                         struct ccm_error *err);

#endif
