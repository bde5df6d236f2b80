/*
 * Which ids of the account a namespace may name in annotations: certificates, access lists,
 * security groups, bandwidth packages, elastic addresses, server groups. The operator lists them in
 * option allowed_ids; an empty list allows all. Load balancers have a rule of their own, see
 * reuse.h. No call to the cloud. Pure. Every thread.
 */
#ifndef CCM_LBC_ALLOW_H
#define CCM_LBC_ALLOW_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/model/annotation.h"
#include "util/attr.h"

#include <stddef.h>

/* Kinds: `ids` of struct lbc_anno. */
#define LBC_ALLOW_CERTIFICATE    "certificate"
#define LBC_ALLOW_ACL            "acl"
#define LBC_ALLOW_SECURITY_GROUP "security-group"
#define LBC_ALLOW_PACKAGE        "bandwidth-package"
#define LBC_ALLOW_EIP            "eip"
#define LBC_ALLOW_GROUP          "server-group"

/* Borrowed. */
struct lbc_allow {
    const char *const *entries; /* "namespace:kind:id", each may end with a star; NULL-terminated.
                                   NULL = all is allowed */
    const char *plugin;         /* for messages */
    const char *namespace_;
};

/* 0, or -EINVAL with a CCM_ERROR_TERMINAL that names the malformed entry. */
CCM_NODISCARD int lbc_allow_check_entries(const char *const *entries, struct ccm_error *err);

/* One id: 0, or -EPERM with a CCM_ERROR_TERMINAL that names namespace, id and option. */
CCM_NODISCARD int lbc_allow_check_id(const struct lbc_allow *allow, const char *kind,
                                     const char *id, size_t len, struct ccm_error *err);

/* The same for all ids in the value of one annotation; a row without ids allows any value. */
CCM_NODISCARD int lbc_allow_check_row(const struct lbc_allow *allow, const struct lbc_anno *row,
                                      const struct ccm_object *object, struct ccm_error *err);

#endif
