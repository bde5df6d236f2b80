/*
 * Quotas of the cloud, seen before they are used up: what usage.h counts against the limits that a
 * product's options say. From 80 % on (util/quota_use.h) the Service is told about its load
 * balancer, and the Lease about what all share; metrics and the status page have all of it. Nothing
 * is refused because of it: the cloud does that. Every thread.
 */
#ifndef CCM_LBC_QUOTA_H
#define CCM_LBC_QUOTA_H

#include "lbc/pass.h"

/* End of a pass that ensures: about its load balancer, as the mirror has it. */
void lbc_quota_emit(struct lbc_pass *pass);
/* A claim was given back: metrics, and about what all share. */
void lbc_quota_publish(struct lbc_instance *lbc);
/* As a table: what is used of each, by the object that has most or by all together. */
void lbc_quota_tell(const struct lbc_instance *lbc, const struct ccm_view_sink *sink);
/* Nothing is left of the Service. */
void lbc_quota_forget(const struct lbc_instance *lbc, const char *key);

#endif
