/* A shared object that is no plugin. */
#include <ccm/plugin.h>

CCM_EXPORT int no_symbol_here(void);

int no_symbol_here(void)
{
    return 0;
}
