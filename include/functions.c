/* libccm-plugin.a: the functions of ccm/error.h and ccm/object.h as symbols, see ccm/function.h. */
#define CCM_FUNCTION

#include "ccm/error.h"
#include "ccm/object.h"
