/* Sound, but its create fails. */
#define PLUGIN_NAME          "failing-create"
#define PLUGIN_CREATE_RESULT (-EACCES)
#include "base.h"
