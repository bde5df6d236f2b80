/* Wants to watch a resource that only a later ccmd can watch. */
#define PLUGIN_NAME     "raw-watch"
#define PLUGIN_KIND     CCM_KIND_RAW
#define PLUGIN_RESOURCE "configmaps"
#include "base.h"
