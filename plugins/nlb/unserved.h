/* Fields of a Service's specification that nothing here acts on: see lbc/model/unserved.h. */
#ifndef CCM_NLB_UNSERVED_H
#define CCM_NLB_UNSERVED_H

#include "lbc/model/hint.h"
#include "lbc/model/unserved.h"

/* Ends with a NULL topic. */
extern const struct lbc_unserved nlb_unserved[];
/* Annotations without effect; see lbc/model/hint.h. */
extern const struct lbc_hint nlb_hints[];

#endif
