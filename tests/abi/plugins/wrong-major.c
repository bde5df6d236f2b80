/* Built for a later major. */
#define PLUGIN_NAME  "wrong-major"
#define PLUGIN_MAJOR 2
#include "base.h"
