/* Its start never returns. */
#define PLUGIN_NAME     "hanging-start"
#define PLUGIN_IN_START base_hang()
#include "base.h"
