/* Has the same name as twin-a. */
#define PLUGIN_NAME "twin"
#include "base.h"
