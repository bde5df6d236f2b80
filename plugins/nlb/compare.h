/* Which attributes of a server group have to be changed in place. Pure. Every thread. */
#ifndef CCM_NLB_COMPARE_H
#define CCM_NLB_COMPARE_H

#include "lbc/apply/compare.h"
#include "state.h"

struct lbc_compare nlb_compare_groups(const struct nlb_group *want, const struct nlb_group *have);

#endif
