/* Parts of model.c: members of nlb_model_ops, and what they share. Pure. One thread. */
#ifndef CCM_NLB_MODEL_PARTS_H
#define CCM_NLB_MODEL_PARTS_H

#include "annotation_text.h"
#include "model.h"

/* model_lb.c */
CCM_NODISCARD int nlb_model_lb(struct lbc_model *base, const struct lbc_model_input *in);

/* model_groups.c: the group of a port by lbc_model_group(), with its name. */
CCM_NODISCARD int nlb_model_group(struct lbc_builder *b, struct lbc_desired_port *want,
                                  struct ccm_error *err);
/* One that does not exist, that a controller made, that another load balancer uses, or of another
 * type than told cannot be used. */
lbc_check_group_fn nlb_model_check_group;

/* model_listeners.c: the listener of a port. 0, or -ENOMEM with err. */
CCM_NODISCARD int nlb_model_listener(struct lbc_builder *b, const struct lbc_desired_port *want,
                                     struct ccm_error *err);

/* Families of the backends: what annotation backend-ip-version says, on a dual-stack load balancer;
 * IPv4 otherwise. */
enum lbc_families nlb_model_families(const struct ccm_service *service);

/* The same of a present group. */
enum lbc_families nlb_group_families(const struct nlb_group *group);

/* The security group for spec.loadBalancerSourceRanges, with all rules, into an empty struct. 0,
 * -ENOMEM, or -EINVAL with a CCM_ERROR_TERMINAL: a range is none. */
CCM_NODISCARD int nlb_model_security_group(struct nlb_security_group *security_group,
                                           const struct ccm_service *service,
                                           const char *cluster_id, struct ccm_error *err);

#endif
