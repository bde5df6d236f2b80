/* What creating, updating, patching and deleting share. The caller holds the cluster's lock. */
#ifndef CCM_KS_WRITE_H
#define CCM_KS_WRITE_H

#include "call.h"
#include "cluster.h"

/* Largest request body, and largest object the store takes. */
#define CCM_KS_BODY_MAX  3145728
#define CCM_KS_STORE_MAX 1572864

enum ccm_ks_validation { CCM_KS_WARN, CCM_KS_STRICT, CCM_KS_IGNORE };

/* dryRun and fieldValidation of the query. 0, or negative after the reply was made. */
CCM_NODISCARD int ccm_ks_write_options(struct ccm_ks_call *call, const char *options, bool *ret_dry,
                                       enum ccm_ks_validation *ret_validation);

/*
 * Decode a tree in the form of the kind into a new one in storage form, defaults filled in. Unknown
 * fields become warnings or, when strict, an error. `patched`: the tree is the outcome of a patch,
 * whose errors read differently. 0, or negative after the reply was made.
 */
CCM_NODISCARD int ccm_ks_write_decode(struct ccm_ks_call *call, const cJSON *in,
                                      enum ccm_ks_validation validation, bool patched, cJSON **ret);

/* Add a Warning header. */
void ccm_ks_write_warn(struct ccm_ks_call *call, const char *text);

/* The request body (JSON, YAML or the binary form) as a tree. 0, or negative after the reply was
 * made. */
CCM_NODISCARD int ccm_ks_write_parse_body(struct ccm_ks_call *call, cJSON **ret);

/* Whether the namespace in the object, if any, is that of the path. 0, or negative after the reply
 * was made. */
CCM_NODISCARD int ccm_ks_write_check_namespace(struct ccm_ks_call *call, const cJSON *object);

/* The same object in the order of the storage form's schema. Takes it; NULL on ENOMEM. */
cJSON *ccm_ks_write_canonical(enum ccm_ks_bucket bucket, cJSON *object);

/* Run the kind's preparation and validation. 0, or negative after the reply was made. */
CCM_NODISCARD int ccm_ks_write_check(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                                     cJSON *object, const cJSON *old);

/* Put a new state in place (takes object): allocations recorded, watches woken. NULL after the
 * reply was made. */
struct ccm_ks_object *ccm_ks_write_store(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                                         const char *key, cJSON *object);

/* Remove; the same. 0, or negative after the reply was made. */
CCM_NODISCARD int ccm_ks_write_remove(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                                      const char *key);

/* Whether an object with deletionTimestamp waits for nobody any more. */
bool ccm_ks_write_may_go(const cJSON *object);

/* Delete as somebody in the background does: no grace is waived, finalizers hold. Whether it is
 * gone.
 */
bool ccm_ks_delete_object(struct ccm_ks_cluster *cluster, const struct ccm_ks_kind *kind,
                          struct ccm_ks_object *object);

/* Create from a decoded object (taken); the path of POST and of PUT of what is not there. */
void ccm_ks_write_create(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call, cJSON *object,
                         bool dry);

#endif
