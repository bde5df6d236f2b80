/* Which kubeconfig leads to the API server, and which context of it. Plain data. */
#ifndef CCM_KUBE_PLACE_H
#define CCM_KUBE_PLACE_H

#include <stdbool.h>

struct kube_place {
    const char *kubeconfig; /* NULL or "" = the service account of the pod */
    bool is_list;           /* it is several files with colons between them, as in KUBECONFIG */
    const char *context;    /* NULL = the current one */
};

#endif
