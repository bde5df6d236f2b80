/*
 * Ports that nobody serves, in a pass: a Warning with port and cause, the condition, the status
 * page and the metric say so until somebody does. And which backends left, and why. One thread per
 * pass; nothing blocks.
 */
#ifndef CCM_LBC_EMPTY_PASS_H
#define CCM_LBC_EMPTY_PASS_H

#include "lbc/freeze_pass.h"
#include "lbc/pass.h"

/* Keep why the pods of a group that has no backends could not be attached, before the model gets
 * what was resolved. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_empty_explain_unresolved(struct lbc_pass *pass,
                                               const struct lbc_resolved_list *resolved);
/* Publish which groups nobody serves, into pass->empty too; frozen: their backends are kept, which
 * is told already. */
void lbc_empty_publish(struct lbc_pass *pass,
                       bool (*frozen)(const struct lbc_pass *pass, const struct lbc_group *want));
/* For status page and metric: these ports, and those that are unhealthy (health.h). */
void lbc_empty_record(const struct lbc_pass *pass);
/* The Service, or its load balancer, is gone; the metrics (figures.h) forget it as well. */
void lbc_empty_forget(const struct lbc_instance *lbc, const char *key);

/* After the decision: who leaves, into pass->left. Out of memory one less is told. */
void lbc_leave_collect(struct lbc_freeze *freeze);
/* After a complete success: told at once, and what follows within a minute as one event. */
void lbc_leave_publish(struct lbc_pass *pass);

#endif
