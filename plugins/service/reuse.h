/*
 * Whether the load balancer that an annotation names may be used: not one that a controller made,
 * and not in exchange for another one. Every thread.
 */
#ifndef CCM_SERVICE_REUSE_H
#define CCM_SERVICE_REUSE_H

#include "service/pass.h"

/* "alicloud: the loadbalancer {id} can not be reused, {reason}": -EPERM, a CCM_ERROR_TERMINAL. */
int ccm_reuse_refuse(const char *lb_id, const char *reason, struct ccm_error *err);

/* 0 or ccm_reuse_refuse(): it carries the tag of a controller, or of the API server's. */
CCM_NODISCARD int ccm_reuse_check_tags(const char *lb_id, const struct ccm_tags *tags,
                                       struct ccm_error *err);

/* Id of the Service's own load balancer, by its tags; heap, NULL when there is none. Blocks. 0 or
 * negative with err. */
typedef int (*ccm_reuse_read_fn)(struct ccm_pass *pass, char **ret, struct ccm_error *err);

/*
 * The label says which load balancer the Service has. Clearing the status is how a person gives it
 * up, but one that we made would then be forgotten while it goes on costing money: it is looked for
 * with `read`. 0, ccm_reuse_refuse(), or what `read` returned.
 */
CCM_NODISCARD int ccm_reuse_check_label(struct ccm_pass *pass, const char *lb_id,
                                        ccm_reuse_read_fn read, struct ccm_error *err);

#endif
