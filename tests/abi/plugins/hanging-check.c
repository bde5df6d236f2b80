/* Its check never returns. */
#define PLUGIN_NAME     "hanging-check"
#define PLUGIN_IN_CHECK base_hang()
#include "base.h"
