/* Calls a function that nobody has: the dynamic linker refuses it. */
#define PLUGIN_NAME "undefined"
#include "base.h"

CCM_EXPORT int nobody_defines_this(void);
CCM_EXPORT int undefined_caller(void);

int undefined_caller(void)
{
    return nobody_defines_this();
}
