/* Its forget never returns. */
#include <ccm/plugin.h>

static void forget_hang(void *self, const char *key);

#define PLUGIN_NAME   "hanging-forget"
#define PLUGIN_FORGET forget_hang
#define PLUGIN_IN_MAP base_host->enqueue(base_host, "default/key", CCM_LANE_SPEC, 0)
#include "base.h"

static void forget_hang(void *self, const char *key)
{
    (void)self; /* no state */
    (void)key;
    base_hang();
}
