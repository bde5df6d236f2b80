/* Claims a descriptor smaller than that of 1.0. */
#define PLUGIN_NAME "short"
#define PLUGIN_SIZE 96
#include "base.h"
