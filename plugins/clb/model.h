/*
 * What a Service wants. Pure but for nothing: candidates in, desired state out; resolving pod
 * addresses happens between begin and finish. One thread.
 */
#ifndef CCM_CLB_MODEL_H
#define CCM_CLB_MODEL_H

#include "service/problem.h"
#include "service/resolve.h"
#include "state.h"

/* Everything the model is made from; borrowed. */
struct clb_model_input {
    const struct ccm_service *service;
    const struct ccm_object *const *nodes;
    size_t node_count;
    const struct ccm_object *const *slices;
    size_t slice_count;
    const char *cluster_id;
    bool default_eni;
};

struct clb_model {
    struct clb_state want;       /* groups and listeners; lb holds what creation should ask for */
    struct ccm_candidates *sets; /* sets[i] belongs to want.groups[i] */
    struct ccm_node_table nodes; /* sets borrow from it */
    bool incomplete;             /* a port failed: unneeded groups are not cleaned up */
    bool name_told;              /* annotations that hold for an existing load balancer */
    bool address_type_told;
    bool vswitch_told;
    bool keep_weights;
};

/*
 * Build all but the backends. The annotations were checked before (clb_annotations_check). What is
 * wrong with one port goes to `problems` and leaves the others alone. 0, or -ENOMEM with err. The
 * caller finishes the model in any case; the objects of `in` must live as long.
 */
CCM_NODISCARD int clb_model_begin(struct clb_model *model, const struct clb_model_input *in,
                                  struct ccm_problems *problems, struct ccm_error *err);

/* Move the resolved backends in; resolved[i] belongs to want.groups[i] and is emptied of them. */
void clb_model_finish(struct clb_model *model, struct ccm_resolved *resolved);

void clb_model_fini(struct clb_model *model);

#endif
