/*
 * Ownership keys: the text "k8s.{key}.{PROTO}.{service}.{namespace}.{cluster}" that names our
 * server groups and describes our listeners and servers. Only what carries such a key of this
 * Service and cluster is ever changed or deleted. Pure. Every thread.
 */
#ifndef CCM_NLB_OWNER_KEY_H
#define CCM_NLB_OWNER_KEY_H

#include "annotations.h"
#include "ccm/object.h"
#include "lbc/model/owner.h"
#include "util/attr.h"

/* Heap, the caller frees; NULL on ENOMEM. key: "80", "100_200", "http". max: bytes that the cloud
 * takes, NLB_NAME_MAX or NLB_TEXT_MAX. A longer text is shortened: Service and namespace lose their
 * ends, and a hash of the whole stands where the cluster would. */
char *nlb_name_format(const char *key, enum lbc_protocol protocol, const struct ccm_object *service,
                      const char *cluster_id, size_t max);

/* Whose key it is. as_listener: the second part has to be a number or a range. NULL is nobody's. 0
 * or -ENOMEM. */
CCM_NODISCARD int nlb_name_parse(const char *text, bool as_listener,
                                 const struct ccm_object *service, const char *cluster_id,
                                 enum lbc_owner *ret);

/* Whether it is an ownership key at all, of any Service and cluster. NULL is none. */
bool nlb_name_is_key(const char *text);

/* Description of the security group's rules and the group itself: "k8s.{namespace}.{service}.
 * {cluster}"; its name: "k8s-nlb-{default name}". Heap; NULL on ENOMEM. */
char *nlb_security_group_description(const struct ccm_object *service, const char *cluster_id);
char *nlb_security_group_name(const struct ccm_object *service);

#endif
