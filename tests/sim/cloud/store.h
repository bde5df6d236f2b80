/*
 * The resources of the cloud: making, finding, ending them, without the rules of the services
 * (those are with the actions). All functions expect the cloud's lock held.
 */
#ifndef CCM_CLOUD_STORE_H
#define CCM_CLOUD_STORE_H

#include "cloud.h"

/* Makers return 0 and the new object (owned by the cloud), -EEXIST (id taken) or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_lb_new(struct ccm_cloud *cloud, const char *id,
                                   struct ccm_cloud_lb **ret);
CCM_NODISCARD int ccm_cloud_listener_new(struct ccm_cloud *cloud, struct ccm_cloud_lb *lb,
                                         const char *protocol, uint32_t port,
                                         struct ccm_cloud_listener **ret);
CCM_NODISCARD int ccm_cloud_vgroup_new(struct ccm_cloud *cloud, struct ccm_cloud_lb *lb,
                                       const char *id, struct ccm_cloud_vgroup **ret);

/* An instance goes with its network interfaces. */
void ccm_cloud_instance_del(struct ccm_cloud *cloud, const char *id);
void ccm_cloud_eni_del(struct ccm_cloud *cloud, struct ccm_cloud_eni *eni);

/* The interface is of the instance that its attribute InstanceId names now, if there is one. To be
 * called whenever that changes. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_eni_attach(struct ccm_cloud *cloud, struct ccm_cloud_eni *eni);

/* They go with everything in them. */
void ccm_cloud_lb_del(struct ccm_cloud *cloud, struct ccm_cloud_lb *lb);
void ccm_cloud_listener_del(struct ccm_cloud_lb *lb, struct ccm_cloud_listener *listener);
void ccm_cloud_vgroup_del(struct ccm_cloud *cloud, struct ccm_cloud_vgroup *group);

/* For the maps that own them. */
void ccm_cloud_lb_free(void *value);
void ccm_cloud_vpc_free(void *value);
void ccm_cloud_vswitch_free(void *value);
void ccm_cloud_instance_free(void *value);
void ccm_cloud_eni_free(void *value);

/* NULL when there is none. */
struct ccm_cloud_lb *ccm_cloud_lb_get(const struct ccm_cloud *cloud, const char *id);
struct ccm_cloud_vgroup *ccm_cloud_vgroup_get(const struct ccm_cloud *cloud, const char *id);
/* protocol NULL: any. The first that fits. */
struct ccm_cloud_listener *ccm_cloud_listener_get(const struct ccm_cloud_lb *lb,
                                                  const char *protocol, uint32_t port);

/* Backends of a group. `like` names server, address and port. Copies. 0 or -ENOMEM. */
struct ccm_cloud_backend *ccm_cloud_backend_get(const struct ccm_cloud_vgroup *group,
                                                const struct ccm_cloud_backend *like);
CCM_NODISCARD int ccm_cloud_backend_add(struct ccm_cloud_vgroup *group,
                                        const struct ccm_cloud_backend *like);
void ccm_cloud_backend_del(struct ccm_cloud_vgroup *group, struct ccm_cloud_backend *backend);
void ccm_cloud_backend_fini(struct ccm_cloud_backend *backend);

/* Backends of all groups of a load balancer. */
size_t ccm_cloud_lb_backends(const struct ccm_cloud_lb *lb);

/* Whether a listener sends to the group. */
bool ccm_cloud_vgroup_used_by(const struct ccm_cloud_vgroup *group,
                              const struct ccm_cloud_listener *listener);

/* "active" with a listener or when new, "inactive" when the last one went. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_lb_status_refresh(struct ccm_cloud_lb *lb);

/* Addresses. text has room for 16 bytes. Take a free or the given address of a vSwitch: 0, -ENOSPC
 * (none free), -EADDRINUSE, -EINVAL (outside or no address), -ENOMEM. */
CCM_NODISCARD int ccm_cloud_address_take(struct ccm_cloud *cloud, struct ccm_cloud_vswitch *vswitch,
                                         const char *wanted, char *text);
CCM_NODISCARD int ccm_cloud_address_take_public(struct ccm_cloud *cloud, char *text);
void ccm_cloud_address_give_back(struct ccm_cloud *cloud, const char *address);
/* Free addresses of a vSwitch. */
int64_t ccm_cloud_vswitch_available(const struct ccm_cloud_vswitch *vswitch);
/* The vSwitch that an address lies in, or NULL. */
struct ccm_cloud_vswitch *ccm_cloud_vswitch_of(const struct ccm_cloud *cloud, const char *address);

/* "10.0.0.0/8" -> base (host order) and number of addresses. 0 or -EINVAL. */
CCM_NODISCARD int ccm_cloud_cidr_parse(const char *text, uint32_t *ret_base, uint32_t *ret_size);

#endif
