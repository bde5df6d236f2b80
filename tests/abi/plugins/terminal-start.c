/* Its start fails for good. */
#define PLUGIN_NAME         "terminal-start"
#define PLUGIN_START_RESULT (-EINVAL)
#define PLUGIN_START_KIND   CCM_ERROR_TERMINAL
#include "base.h"
