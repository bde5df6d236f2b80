/* Inside of freeze_pass: why a backend that is not wanted is not wanted. One thread. */
#ifndef CCM_LBC_FREEZE_CAUSE_H
#define CCM_LBC_FREEZE_CAUSE_H

#include "lbc/freeze_pass.h"

/* LBC_FREEZE_NONE: somebody said so. Else *ret_case is what is known about it, and *ret_absent
 * tells its node (name, instance), as far as it has one. */
enum lbc_freeze_cause lbc_freeze_find_cause(struct lbc_freeze *freeze,
                                            const struct lbc_backend *one,
                                            struct lbc_freeze_case *ret_case,
                                            struct lbc_absent *ret_absent);

#endif
