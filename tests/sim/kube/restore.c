#include "restore.h"

#include "alloc.h"
#include "call.h"
#include "catalog.h"
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

/* Definitions come before what they define. */
static int restore_bucket(struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket,
                          const cJSON *state)
{
    const struct ccm_ks_kind *kind = ccm_ks_kind_of(bucket);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf label = { .max = 512 };
    const cJSON *item;

    ccm_ks_kind_label(&label, kind);
    cJSON_ArrayForEach(item, ccm_json_get(state, ccm_buf_str(&label)))
    {
        const int r = restore_object(cluster, kind, item);

        if (r < 0) {
            return r;
        }
    }
    return bucket == CCM_KS_CRDS ? ccm_ks_catalog_reload(cluster->store) : 0;
}

int ccm_ks_restore(struct ccm_ks_cluster *cluster, const cJSON *state)
{
    if (!cJSON_IsObject(state)) {
        return -EINVAL;
    }
    for (enum ccm_ks_bucket b = 0; b < CCM_KS_BUCKETS && ccm_ks_kind_of(b) != NULL; b++) {
        const int r = b == CCM_KS_EVENTS ? 0 : restore_bucket(cluster, b, state);

        if (r < 0) {
            return r;
        }
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    return 0;
}
