/* Its create never returns. */
#define PLUGIN_NAME      "hanging-create"
#define PLUGIN_IN_CREATE base_hang()
#include "base.h"
