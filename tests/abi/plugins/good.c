/* Nothing wrong with it. */
#define PLUGIN_NAME "good"
#include "base.h"
