/* A name that could be a path. */
#define PLUGIN_NAME "../clb"
#include "base.h"
