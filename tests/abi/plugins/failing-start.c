/* Its start fails, and may work later. */
#define PLUGIN_NAME         "failing-start"
#define PLUGIN_START_RESULT (-EAGAIN)
#include "base.h"
