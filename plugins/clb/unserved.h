/* Fields of a Service's specification that CLB does not act on; see service/unserved.h. */
#ifndef CCM_CLB_UNSERVED_H
#define CCM_CLB_UNSERVED_H

#include "service/unserved.h"

extern const struct ccm_unserved clb_unserved[];

#endif
