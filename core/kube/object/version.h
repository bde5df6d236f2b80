/* Versions of the API server as far as they can be compared. Pure. */
#ifndef CCM_KUBE_VERSION_H
#define CCM_KUBE_VERSION_H

#include <stdbool.h>

/*
 * Whether version `a` was surely given before version `b`. Kubernetes promises whole numbers that
 * grow; of anything else (other characters, leading zeros, "") nothing is known: false.
 */
bool kube_version_is_older(const char *a, const char *b);

#endif
