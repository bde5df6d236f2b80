/*
 * What steps that are done come to in the mirror, where it is the same for all products. 0 or
 * -ENOMEM, when the mirror could not follow. One thread per pass.
 */
#ifndef CCM_LBC_RECORD_H
#define CCM_LBC_RECORD_H

#include "lbc/apply/step.h"

/* The backends of the set, which are some of the step's, have been added, removed or changed. */
CCM_NODISCARD int lbc_record_backends(const struct lbc_step *step, const struct lbc_backends *set);
/* The load balancer's tags, by a LBC_STEP_TAG or LBC_STEP_UNTAG. *untagged: the owner's is missing.
 */
CCM_NODISCARD int lbc_record_tags(const struct lbc_step *step, struct lbc_tags *tags,
                                  bool *untagged);
/* The set was added to `to`, or else taken out of it. */
CCM_NODISCARD int lbc_record_texts(struct lbc_texts *to, const struct lbc_texts *set, bool added);

/* The failure of such a step, with its tags. Returns r. */
int lbc_record_tags_failure(const struct lbc_step *step, const char *lb_id, int r,
                            struct ccm_error *err);

#endif
