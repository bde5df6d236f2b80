/*
 * Kubernetes objects for tests, built by hand. Everything is freed by obj_end(); texts are copied.
 * One thread.
 */
#ifndef CCM_TESTS_OBJECTS_H
#define CCM_TESTS_OBJECTS_H

#include "ccm/object.h"

#define OBJ_UID "5e4dbfc9-c2ae-4642-b033-5607860aef6a"
#define P       "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"

/* cmocka teardown: frees all objects. */
int obj_end(void **state);

/* default/web, type LoadBalancer, policy Cluster, uid OBJ_UID, no port. */
struct ccm_service *obj_service(void);
/* target: number or name. */
void obj_port(struct ccm_service *service, const char *name, const char *protocol, int64_t port,
              const char *target, int64_t node_port);
void obj_ingress(struct ccm_service *service, const char *ip, const char *hostname);
void obj_range(struct ccm_service *service, const char *range);
/* A copy whose members can be changed without changing the first. */
struct ccm_service *obj_service_copy(const struct ccm_service *service);

/* A ready node with one harmless label. */
struct ccm_node *obj_node(const char *name, const char *provider_id);
void obj_taint(struct ccm_node *node, const char *key);
/* InternalIP */
void obj_address(struct ccm_node *node, const char *address);

/* Slice of default/web. */
struct ccm_endpoint_slice *obj_slice(const char *name);
void obj_endpoint(struct ccm_endpoint_slice *slice, const char *address, const char *node,
                  uint64_t flags);
/* Another address of the endpoint that came last. */
void obj_further(struct ccm_endpoint_slice *slice, const char *address);
void obj_slice_port(struct ccm_endpoint_slice *slice, const char *name, int64_t port);

/* Set (replace) or, with value NULL, remove. */
void obj_label(struct ccm_object *object, const char *key, const char *value);
void obj_annotate(struct ccm_object *object, const char *key, const char *value);
void obj_finalizer(struct ccm_object *object, const char *name);

#endif
