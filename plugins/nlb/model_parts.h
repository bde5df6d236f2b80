/* Parts of model.c. Pure. One thread. */
#ifndef CCM_NLB_MODEL_PARTS_H
#define CCM_NLB_MODEL_PARTS_H

#include "annotation_text.h"
#include "model.h"

struct nlb_builder {
    struct lbc_builder lbc;
    struct nlb_model *model;
    const struct nlb_model_input *in;
};

struct nlb_desired_port {
    struct lbc_desired_port lbc;
    struct nlb_span span;
};

/* The group of a port by lbc_model_group(), with its name. */
CCM_NODISCARD int nlb_model_group(struct nlb_builder *b, struct nlb_desired_port *want,
                                  struct ccm_error *err);

/* The listener of a port. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_model_listener(struct nlb_model *model, const struct lbc_model_input *in,
                                     const struct nlb_desired_port *want);

/* Families of the backends: what annotation backend-ip-version says, on a dual-stack load balancer;
 * IPv4 otherwise. */
enum lbc_families nlb_model_families(const struct ccm_service *service);

/* The security group for spec.loadBalancerSourceRanges, with all rules, into an empty struct. 0,
 * -ENOMEM, or -EINVAL with a CCM_ERROR_TERMINAL: a range is none. */
CCM_NODISCARD int nlb_model_security_group(struct nlb_security_group *security_group,
                                           const struct ccm_service *service,
                                           const char *cluster_id, struct ccm_error *err);

#endif
