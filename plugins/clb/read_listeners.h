/* Part of read.c: the listeners of a load balancer. May block. */
#ifndef CCM_CLB_READ_LISTENERS_H
#define CCM_CLB_READ_LISTENERS_H

#include "api.h"

/* Append all listeners of ret->lb. All or nothing is the caller's duty: on failure `ret` may hold
 * some of them. */
CCM_NODISCARD int clb_read_listeners(struct clb_call *call, struct clb_state *ret,
                                     struct ccm_error *err);

/* Append one of a list of listeners. 0 or -ENOMEM. */
CCM_NODISCARD int clb_read_parse_listener(const cJSON *json, struct clb_state *ret);

/*
 * What a plan needs to know beyond that and is not known yet: the domain extensions of https
 * listeners when annotation domain-extensions is there, and our access list when there may be one:
 * `want` has one, a listener of ours is bound to one that no annotation names, or the Service is
 * marked (lbc_pass_is_marked()). Whatever is known already is not read again. `want` NULL: only the
 * access list, for a release, also when the option is off by now.
 */
CCM_NODISCARD int clb_read_details(struct clb_call *call, const struct ccm_service *service,
                                   const struct clb_state *want, bool marked,
                                   struct clb_state *state, struct ccm_error *err);

#endif
