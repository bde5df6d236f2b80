/* crashing.c with many keys per call. */
#define PLUGIN_NAME  "crashing-batch"
#define PLUGIN_BATCH 16
#include "crashing.c"
