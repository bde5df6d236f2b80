/* Lacks a mandatory function. */
#define PLUGIN_NAME    "null-callback"
#define PLUGIN_DESTROY NULL
#include "base.h"
