/* From the cloud to the model. All or nothing: a failed read never looks like an empty answer. May
 * block. One thread per call struct. */
#ifndef CCM_CLB_READ_H
#define CCM_CLB_READ_H

#include "api.h"

/*
 * The load balancer of a Service: by ownership tag, then, when the Service shows signs of an
 * earlier one (label, status), by its default name, which counts only for one without owner.
 * ret->id stays NULL when there is none. More than one is a CCM_ERROR_TERMINAL, one that carries
 * another cluster's tag as well: LBC_LOOKUP_NOT_OURS. The caller finishes *ret in any case.
 */
CCM_NODISCARD int clb_read_lb(struct clb_call *call, const struct ccm_service *service,
                              struct clb_lb *ret, struct ccm_error *err);

/* Whether one that was read by its id is still the Service's: 0, or LBC_LOOKUP_NOT_OURS with a
 * CCM_ERROR_TERMINAL that says whose it is. Pure. */
CCM_NODISCARD int clb_read_check_owner(const struct clb_call *call,
                                       const struct ccm_service *service, const struct clb_lb *lb,
                                       struct ccm_error *err);

/* One of a list of load balancers into an empty *ret, without any check. 0 or -ENOMEM (the caller
 * finishes *ret in any case). */
CCM_NODISCARD int clb_read_parse_lb(const cJSON *json, struct clb_lb *ret);

/* One that is known by its id; -ENOENT with CCM_ERROR_NOT_FOUND when it does not exist. Replaces
 * what *ret held, elastic addresses aside. */
CCM_NODISCARD int clb_read_lb_by_id(struct clb_call *call, const struct ccm_service *service,
                                    const char *id, struct clb_lb *ret, struct ccm_error *err);

/* What a pass has to know about a load balancer. */
struct clb_need {
    const struct clb_state *want; /* its chosen groups are read; may be NULL */
    bool listeners;
    bool scan; /* groups of persons too: our backends may still be in one */
};

/*
 * Read what `state` does not know yet: listeners, the list of groups, and the backends of those
 * groups that carry this Service's name or are needed. Groups of other Services are listed, never
 * read. On failure `state` may hold some of it.
 */
CCM_NODISCARD int clb_read_parts(struct clb_call *call, const struct ccm_service *service,
                                 const struct clb_need *need, struct clb_state *state,
                                 struct ccm_error *err);

/* The elastic addresses bound to the load balancer, into lb->eips. */
CCM_NODISCARD int clb_read_eips(struct clb_call *call, struct clb_lb *lb, struct ccm_error *err);

#endif
