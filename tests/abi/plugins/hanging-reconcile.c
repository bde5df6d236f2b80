/* Its reconcile never returns, not even when it is cancelled. */
#define PLUGIN_NAME         "hanging-reconcile"
#define PLUGIN_IN_RECONCILE base_hang()
#define PLUGIN_IN_MAP       base_host->enqueue(base_host, "default/key", CCM_LANE_SPEC, 0)
#include "base.h"
