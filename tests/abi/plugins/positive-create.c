/* Its create returns a number that means nothing. */
#define PLUGIN_NAME          "positive-create"
#define PLUGIN_CREATE_RESULT 7
#include "base.h"
