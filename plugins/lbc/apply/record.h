/*
 * What done steps change in the mirror, where it is the same for all products. 0, or -ENOMEM when
 * the mirror could not follow. One thread per pass.
 */
#ifndef CCM_LBC_RECORD_H
#define CCM_LBC_RECORD_H

#include "lbc/apply/step.h"

/* The backends of the set, which are some of the step's, have been added, removed or changed. */
CCM_NODISCARD int lbc_record_backends(const struct lbc_step *step, const struct lbc_backends *set);
/* For a cloud that takes the whole list of a group's backends in one call: those that it has once
 * the step is done (LBC_STEP_ADD, _UPDATE, _REMOVE, _CREATE_GROUP) -> ret, an empty set. Those of
 * others in the group are among them. 0 or -ENOMEM; the caller finishes the set in any case. */
CCM_NODISCARD int lbc_step_list_members(const struct lbc_step *step, struct lbc_backends *ret);
/* The step's listener is what the step makes of it: attributes that it does not name stay. */
CCM_NODISCARD int lbc_record_listener(const struct lbc_step *step);
/* The group that was made, of that type, with the step's backends, is step->group. */
CCM_NODISCARD int lbc_record_new_group(struct lbc_state *have, struct lbc_step *step,
                                       const struct lbc_state_type *type);
/* The listener that was made, of that type, is step->listener; its other members are the
 * product's. */
CCM_NODISCARD int lbc_record_new_listener(struct lbc_state *have, struct lbc_step *step,
                                          const struct lbc_state_type *type);
/* All that is the load balancer's went with it. */
CCM_NODISCARD int lbc_record_deleted(struct lbc_state *have, const struct lbc_state_type *type);
/* The load balancer's tags, by a LBC_STEP_TAG or LBC_STEP_UNTAG. */
/* Values of the attributes that it sets. */
CCM_NODISCARD int lbc_record_values(const struct lbc_step_table *table, const struct lbc_step *step,
                                    struct lbc_lb *lb);
CCM_NODISCARD int lbc_record_tags(const struct lbc_step *step, struct lbc_lb *lb);
/* The set was added to `to`, or else taken out of it. */
CCM_NODISCARD int lbc_record_texts(struct lbc_texts *to, const struct lbc_texts *set, bool added);

/* The failure of such a step, with its tags. Returns r. */
int lbc_record_tags_failure(const struct lbc_step *step, const char *lb_id, int r,
                            struct ccm_error *err);

#endif
