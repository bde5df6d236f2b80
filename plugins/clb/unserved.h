/* Fields of a Service's specification that CLB does not act on; see service/unserved.h. */
#ifndef CCM_CLB_UNSERVED_H
#define CCM_CLB_UNSERVED_H

#include "service/hint.h"
#include "service/unserved.h"

extern const struct ccm_unserved clb_unserved[];
/* Annotations without effect; see service/hint.h. */
extern const struct ccm_hint clb_hints[];

#endif
