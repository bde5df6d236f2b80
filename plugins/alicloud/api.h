/* What the shared library offers to the plugins. */
#ifndef CCM_ALICLOUD_API_H
#define CCM_ALICLOUD_API_H

#include "ccm/plugin.h"
#include "util/attr.h"

/* Of everything else the linker script of the library exports nothing. */
#define ALI_API CCM_EXPORT

#endif
