/* Inside of freeze_pass: why a backend that is not wanted is not wanted. One thread. */
#ifndef CCM_SERVICE_FREEZE_CAUSE_H
#define CCM_SERVICE_FREEZE_CAUSE_H

#include "service/freeze_pass.h"

/* CCM_FREEZE_NONE: somebody said so. Else *ret_case is what is known about it, and *ret_absent
 * tells its node (name, instance), as far as it has one. */
enum ccm_freeze_cause ccm_freeze_find_cause(struct ccm_freeze *freeze,
                                            const struct ccm_backend *one,
                                            struct ccm_freeze_case *ret_case,
                                            struct ccm_absent *ret_absent);

#endif
