/* Fields of a Service's specification that CLB does not act on; see lbc/model/unserved.h. */
#ifndef CCM_CLB_UNSERVED_H
#define CCM_CLB_UNSERVED_H

#include "lbc/model/hint.h"
#include "lbc/model/unserved.h"

extern const struct lbc_unserved clb_unserved[];
/* Annotations without effect; see lbc/model/hint.h. */
extern const struct lbc_hint clb_hints[];

#endif
