#include "restore.h"

#include "alloc.h"
#include "call.h"
#include "jx.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static int restore_object(struct ccm_ks_cluster *cluster, const struct ccm_ks_kind *kind,
                          const cJSON *shown)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *object = ccm_ks_jx_dup(shown);
    const cJSON *meta = ccm_json_get(object, "metadata");
    const char *name = ccm_json_text(meta, "name");
    const char *ns = ccm_json_text(meta, "namespace");
    const struct ccm_ks_object *there = NULL;
    char key[CCM_KS_KEY_MAX];

    if (name[0] == '\0' || kind->namespaced != (ns[0] != '\0')) {
        return -EINVAL;
    }
    ccm_text_printf(key, sizeof(key), "%s%s%s", ns, kind->namespaced ? "/" : "", name);
    ccm_ks_jx_del(object, "kind");
    ccm_ks_jx_del(object, "apiVersion");
    if (kind->bucket == CCM_KS_SERVICES) {
        there = ccm_ks_store_get(cluster->store, kind->bucket, key);
        ccm_ks_alloc_record(cluster->alloc, there == NULL ? NULL : there->json, object);
    }
    return ccm_ks_store_put(cluster->store, kind->bucket, key, CCM_STEAL(object)) == NULL ? -ENOMEM
                                                                                          : 0;
}

int ccm_ks_restore(struct ccm_ks_cluster *cluster, const cJSON *state)
{
    if (!cJSON_IsObject(state)) {
        return -EINVAL;
    }
    for (int b = 0; b < CCM_KS_BUCKETS; b++) {
        const struct ccm_ks_kind *kind = ccm_ks_kind_of((enum ccm_ks_bucket)b);
        const cJSON *items = ccm_json_get(state, kind->plural);
        const cJSON *item;

        if (b == CCM_KS_EVENTS) {
            continue;
        }
        cJSON_ArrayForEach(item, items)
        {
            const int r = restore_object(cluster, kind, item);

            if (r < 0) {
                return r;
            }
        }
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    return 0;
}
