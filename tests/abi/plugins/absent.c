/* Watches a resource that no API server has, without saying that it may be absent. */
#define PLUGIN_NAME     "absent"
#define PLUGIN_KIND     CCM_KIND_RAW
#define PLUGIN_RESOURCE "buckets"
#include "base.h"
