/* Runs code on its own while it is being loaded. */
#define PLUGIN_NAME "constructor"
#include "base.h"

#include <stdlib.h>

__attribute__((constructor)) static void run_early(void)
{
    (void)setenv("CCM_TEST_ABI_CONSTRUCTOR", "ran", 1); /* seen by the test */
}
