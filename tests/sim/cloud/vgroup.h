/* What the actions of vServer groups share. With the cloud's lock held. */
#ifndef CCM_CLOUD_VGROUP_H
#define CCM_CLOUD_VGROUP_H

#include "cloud.h"

struct ccm_cloud_backend_list {
    struct ccm_cloud_backend *items;
    size_t len;
    size_t cap;
};

void ccm_cloud_backend_list_fini(struct ccm_cloud_backend_list *list);

/* The JSON text of a parameter (absent: an empty list), checked for form, ranges and length, not
 * for existence. 0, -EPROTO, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_backends_read(struct ccm_cloud_call *call, const char *name,
                                          struct ccm_cloud_backend_list *ret);

/* Put them into the group: all exist, fit its network and the limit, or none is added. */
CCM_NODISCARD int ccm_cloud_backends_add(struct ccm_cloud_call *call,
                                         struct ccm_cloud_vgroup *group,
                                         const struct ccm_cloud_backend_list *list);

/* "BackendServers":{"BackendServer":[..]}; members: what the answer shows beyond the rest. */
enum { CCM_CLOUD_BACKEND_IP = 1, CCM_CLOUD_BACKEND_DESCRIPTION = 2 };
void ccm_cloud_backends_write(struct ccm_jsonw *w, const struct ccm_cloud_vgroup *group,
                              unsigned members);

#endif
