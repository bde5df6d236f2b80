/* Parts of model.c: groups in model_groups.c. Pure. One thread. */
#ifndef CCM_CLB_MODEL_PARTS_H
#define CCM_CLB_MODEL_PARTS_H

#include "model.h"

struct clb_builder {
    struct clb_model *model;
    const struct clb_model_input *in;
    struct lbc_problems *problems;
    enum lbc_backend_mode mode;
    size_t set_cap;
};

/* What the group of a port is called, and its backends described by. Heap; NULL on ENOMEM. */
char *clb_model_group_name(const struct clb_builder *b, const struct ccm_service_port *port);

/* No group of annotation vgroup-port is for this port, of a load balancer where it counts. */
bool clb_model_is_unchosen(const struct clb_builder *b, const struct ccm_service_port *port);

/* The group of a port, unless an earlier port has made it. 0, -ENOMEM, or -EINVAL: this port has a
 * problem. */
CCM_NODISCARD int clb_model_group(struct clb_builder *b, const char *name,
                                  const struct ccm_service_port *port, enum lbc_protocol protocol,
                                  struct ccm_error *err);

#endif
