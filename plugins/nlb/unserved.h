/* Fields of a Service's specification that nothing here acts on: see service/unserved.h. */
#ifndef CCM_NLB_UNSERVED_H
#define CCM_NLB_UNSERVED_H

#include "service/hint.h"
#include "service/unserved.h"

/* Ends with a NULL topic. */
extern const struct ccm_unserved nlb_unserved[];
/* Annotations without effect; see service/hint.h. */
extern const struct ccm_hint nlb_hints[];

#endif
