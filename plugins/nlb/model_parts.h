/* Parts of model.c. Pure. One thread. */
#ifndef CCM_NLB_MODEL_PARTS_H
#define CCM_NLB_MODEL_PARTS_H

#include "annotation_text.h"
#include "model.h"

/* Of one Service. */
struct nlb_builder {
    struct nlb_model *model;
    const struct nlb_model_input *in;
    struct lbc_problems *problems;
    enum lbc_backend_mode mode;
    enum lbc_families families; /* of backends */
    size_t set_cap;
};

/* Of one Service port. */
struct nlb_desired_port {
    const struct ccm_service_port *port;
    enum lbc_protocol protocol;
    struct nlb_span span;
    char chosen[LBC_PAIR_MAX]; /* group that a person chose; "" = ours */
    const char *group_name;    /* borrowed */
    bool broken;               /* the group could not be worked out */
    bool open;                 /* what serves the port is not known, see model.c */
};

/* What the group of a port is called, and its servers described by. Heap; NULL on ENOMEM. */
char *nlb_model_group_name(const struct nlb_builder *b, const struct nlb_desired_port *want);

/* The group of a port, unless an earlier port has made it. 0, -ENOMEM, or -EINVAL with a
 * CCM_ERROR_TERMINAL: this port has a problem. */
CCM_NODISCARD int nlb_model_group(struct nlb_builder *b, const struct nlb_desired_port *want,
                                  struct ccm_error *err);

/* The listener of a port. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_model_listener(struct nlb_model *model, const struct nlb_model_input *in,
                                     const struct nlb_desired_port *want);

/* Families of the backends: what annotation backend-ip-version says, on a dual-stack load balancer;
 * IPv4 otherwise. */
enum lbc_families nlb_model_families(const struct ccm_service *service);

/* The security group for spec.loadBalancerSourceRanges, with all rules, into an empty struct. 0,
 * -ENOMEM, or -EINVAL with a CCM_ERROR_TERMINAL: a range is none. */
CCM_NODISCARD int nlb_model_security_group(struct nlb_security_group *security_group,
                                           const struct ccm_service *service,
                                           const char *cluster_id, struct ccm_error *err);

/* Whether the value of the row cannot be used; then the field stays as it is. *ret: 0 or -ENOMEM.
 */
struct lbc_anno;
bool nlb_model_keep(struct lbc_attrs *attrs, const struct lbc_field *field,
                    const struct lbc_refusals *refused, const struct lbc_anno *row, int *ret);

/* The value of a row as the cloud takes it, into `field` of `attrs`: one spelling for one value. 0
 * or -ENOMEM. */
CCM_NODISCARD int nlb_model_set(struct lbc_attrs *attrs, const struct lbc_field *field,
                                const struct lbc_anno *row, const char *value);

#endif
