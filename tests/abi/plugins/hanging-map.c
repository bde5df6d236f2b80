/* Its map never returns. */
#define PLUGIN_NAME   "hanging-map"
#define PLUGIN_IN_MAP base_hang()
#include "base.h"
