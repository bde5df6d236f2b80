/*
 * What of a listener or a server group has to be changed in place: only what a person asks for
 * counts, where it has a meaning for the protocol, lists as sets; and what a person asked for
 * earlier and does not any more, which goes back to the documented default (plan.h). Pure. Every
 * thread.
 */
#ifndef CCM_NLB_COMPARE_H
#define CCM_NLB_COMPARE_H

#include "state.h"
#include "util/buf.h"

/*
 * Present attributes overlaid with what has to be different -> ret; the differences, for people ->
 * change, which stays empty when there are none. fresh: `have` was read just now; else only those
 * present attributes are part of it that a person asks for, since others may be old. 0 or -ENOMEM.
 */
CCM_NODISCARD int nlb_compare_listener(const struct nlb_listener *want,
                                       const struct nlb_listener *have, bool fresh,
                                       struct lbc_attrs *ret, struct ccm_buf *change);
CCM_NODISCARD int nlb_compare_group(const struct nlb_group *want, const struct nlb_group *have,
                                    bool fresh, struct lbc_attrs *ret, struct ccm_buf *change);

/* Attributes that a new one is to be made with -> ret: those that have a meaning. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_compare_new_listener(const struct nlb_listener *want, struct lbc_attrs *ret);

/* Mark the present attributes that a person asks for, see nlb_plan_record_explicit(). */
void nlb_compare_record_listener(const struct nlb_listener *want, struct nlb_listener *have);
void nlb_compare_record_group(const struct nlb_group *want, struct nlb_group *have);

/* Append "what from -> to" to a list of differences; from and to may be NULL: not set. */
void nlb_change_add(struct ccm_buf *change, const char *what, const char *from, const char *to);

#endif
