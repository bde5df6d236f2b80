/* Built with the frozen headers of ABI 1.0: it has to load and run in every later core of major 1.
 */
#define PLUGIN_NAME "frozen"
#include "base.h"
