/* Needs a library of its own, which it looks for in $ORIGIN/brought. */
#define PLUGIN_NAME "needing"
#include "base.h"

uint64_t brought_flags(void);

uint64_t needing_flags(void);

uint64_t needing_flags(void)
{
    return brought_flags();
}
