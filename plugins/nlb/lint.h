/* What can be told about a Service without the cloud: see lint() in ccm/plugin.h. Pure. */
#ifndef CCM_NLB_LINT_H
#define CCM_NLB_LINT_H

#include "lbc/rules/lint.h"

extern const struct lbc_lint_rules nlb_rules;
extern const struct ccm_option nlb_opt_loose;

#endif
