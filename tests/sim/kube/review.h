/* A user asks for his own rights: SelfSubjectAccessReview and SelfSubjectRulesReview. Every thread.
 */
#ifndef CCM_KS_REVIEW_H
#define CCM_KS_REVIEW_H

#include "access.h"

/* Answer a POST of such a review. 0, or -ENOENT: another path or method. */
CCM_NODISCARD int ccm_ks_review(const struct ccm_ks_access *access, const struct ccm_ks_user *user,
                                const struct ccm_sim_request *req, struct ccm_sim_reply *reply);

#endif
