/* libccm-plugin.a: the functions of ccm/error.h, ccm/host.h and ccm/object.h as symbols, see
 * ccm/function.h. */
#define CCM_FUNCTION

#include "ccm/error.h"
#include "ccm/host.h"
#include "ccm/object.h"
