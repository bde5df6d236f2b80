/*
 * Whose something is. Ownership keys: the text "k8s/{port}/{service}/{namespace}/{cluster}" that
 * names our server groups and describes our listeners and backends; ownership tags: those of load
 * balancers, server groups, access lists and security groups. Only what carries the key or the
 * tags of this Service and cluster is ever changed or deleted. Pure. Every thread.
 */
#ifndef CCM_LBC_OWNER_H
#define CCM_LBC_OWNER_H

#include "ccm/object.h"
#include "lbc/model/tags.h"

#include <stdbool.h>

enum lbc_owner {
    LBC_OWNER_NONE,  /* no ownership key: made by a person or another program */
    LBC_OWNER_OURS,  /* this Service of this cluster */
    LBC_OWNER_OTHER, /* another Service or another cluster */
};

/* The key; heap, the caller frees. NULL on ENOMEM. */
char *lbc_owner_format(const char *port, const struct ccm_object *service, const char *cluster_id);

/* Whose key it is. port_is_number (listeners): LBC_OWNER_NONE if part 2 is no number. */
enum lbc_owner lbc_owner_parse(const char *text, bool port_is_number,
                               const struct ccm_object *service, const char *cluster_id);

/* Whether it is an ownership key at all, of any Service and cluster. */
bool lbc_owner_is_key(const char *text);

/* Name that a load balancer of this Service has unless told otherwise, and the value of its
 * ownership tag. */
#define LBC_OWNER_LB_NAME 33
void lbc_owner_lb_name(const struct ccm_object *service, char ret[LBC_OWNER_LB_NAME]);

/* The ownership tags that name this Service and cluster, among others -> ret. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_owner_copy_tags(const struct lbc_tags *tags, const struct ccm_object *service,
                                      const char *cluster_id, struct lbc_tags *ret);

/* Whose the tags say it is. OURS: the ownership tag names this Service, and no other cluster is
 * named. NONE: there is no ownership tag, and no other cluster is named. OTHER: all else; a cluster
 * that was restored elsewhere has Services of the same uids, so the cluster counts as well. */
enum lbc_owner lbc_owner_of_tags(const struct lbc_tags *tags, const struct ccm_object *service,
                                 const char *cluster_id);

/* Whether a load balancer with these tags and this name is the Service's: its own, or one that has
 * lost its tag and can be told by its default name. */
bool lbc_owner_has_lb(const struct lbc_tags *tags, const char *name,
                      const struct ccm_object *service, const char *cluster_id);

/* Whether a name has the form of a default name, of any object of that kind: "a" and 31 hexadecimal
 * digits. kind: 0 = a Service; else a letter from "g" on, which stands before the uid of other
 * objects, so that no controller takes what is theirs for its own. */
bool lbc_owner_is_lb_name(const char *name, char kind);

#endif
