/* Whether a listener is as it is wanted: which differences count. Pure. Every thread. */
#ifndef CCM_CLB_COMPARE_H
#define CCM_CLB_COMPARE_H

#include "state.h"

/* `attr` is one of want's. Only what a person asked for counts, and only where it has a meaning:
 * lists of access control beside "on" and as sets, a drain timeout beside "on". */
bool clb_attr_differs(const struct clb_listener *want, const struct lbc_attr *attr,
                      const struct clb_listener *have);

#endif
