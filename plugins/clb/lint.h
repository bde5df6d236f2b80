/* What can be told about a Service without the cloud: see lint() in ccm/plugin.h. Pure. */
#ifndef CCM_CLB_LINT_H
#define CCM_CLB_LINT_H

#include "lbc/rules/lint.h"

extern const struct lbc_lint_rules clb_rules;
/* Fields of the specification that they serve. */
extern const struct ccm_option clb_opt_ranges;
extern const struct ccm_option clb_opt_affinity;

#endif
