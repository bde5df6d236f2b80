/* From the cloud to the model. All or nothing: a failed read never looks like an empty answer. What
 * has a call struct may block; one thread per call struct. */
#ifndef CCM_CLB_READ_H
#define CCM_CLB_READ_H

#include "alilb/read.h"
#include "lbc/inventory.h"
#include "state.h"

extern const struct alilb_source clb_source;

/* What the cloud holds for this cluster, read in bulk when work begins (lbc/inventory.h): load
 * balancers by cluster tag and their listeners, a hundred and ten load balancers per call. */
extern const struct lbc_inventory_ops clb_inventory_ops;
/* What may be left without Service. */
extern const struct lbc_orphan_ops clb_orphan_ops;

/* One of a list of load balancers, or of the one that was asked for; of a list of listeners or
 * groups into an empty struct. 0 or -ENOMEM. Pure. */
CCM_NODISCARD int clb_read_parse_lb(const cJSON *json, struct lbc_lb *lb);
CCM_NODISCARD int clb_read_parse_listener(const cJSON *json, struct lbc_listener *ret);
CCM_NODISCARD int clb_read_parse_group(const cJSON *json, struct lbc_group *ret);

/* What a pass has to know about a load balancer. */
struct clb_need {
    const struct clb_state *want; /* its chosen groups are read; may be NULL */
    bool listeners;
    bool scan; /* groups of persons too: our backends may still be in one */
};

/* Read what `state` does not know yet: listeners, the list of groups, and the backends of those
 * groups that carry this Service's name or are needed. Groups of other Services are listed, never
 * read. On failure `state` may hold some of it. */
CCM_NODISCARD int clb_read_parts(struct alilb_call *call, const struct ccm_service *service,
                                 const struct clb_need *need, struct clb_state *state,
                                 struct ccm_error *err);

/* What a plan needs to know beyond that. */
struct clb_details {
    const struct clb_state *want; /* NULL: only the access list, for a release, also when the option
                                     is off by now */
    bool marked;                  /* lbc_pass_is_marked() */
    bool ranges;                  /* option source_ranges */
};

/* The domain extensions of https listeners when annotation domain-extensions is there, and our
 * access list when there may be one: `want` has one, a listener of ours is bound to one that no
 * annotation names, or the Service is marked. Whatever is known already is not read again. */
CCM_NODISCARD int clb_read_details(struct alilb_call *call, const struct ccm_service *service,
                                   const struct clb_details *need, struct clb_state *state,
                                   struct ccm_error *err);

/* The elastic addresses bound to the load balancer, into lb->eips. */
CCM_NODISCARD int clb_read_eips(struct alilb_call *call, struct clb_lb *lb, struct ccm_error *err);

#endif
