/* Asks for something that this core does not offer. */
#define PLUGIN_NAME  "unknown-flag"
#define PLUGIN_FLAGS (UINT64_C(1) << 40)
#include "base.h"
