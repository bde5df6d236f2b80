/* A library that a plugin brings along. */
#include "ccm/plugin.h"

__attribute__((visibility("default"))) uint64_t brought_flags(void);

uint64_t brought_flags(void)
{
    return 0;
}
