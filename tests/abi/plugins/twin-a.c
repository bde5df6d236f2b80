/* Has the same name as twin-b. */
#define PLUGIN_NAME "twin"
#include "base.h"
