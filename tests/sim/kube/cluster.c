#include "cluster.h"

#include "access.h"
#include "catalog.h"
#include "jx.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

void ccm_ks_cluster_lock(struct ccm_ks_cluster *cluster)
{
    (void)pthread_mutex_lock(&cluster->lock); /* a default mutex we do not hold: cannot fail */
}

void ccm_ks_cluster_unlock(struct ccm_ks_cluster *cluster)
{
    (void)pthread_mutex_unlock(&cluster->lock); /* held by us */
}

void ccm_ks_cluster_unlockp(struct ccm_ks_cluster **cluster)
{
    ccm_ks_cluster_unlock(*cluster);
}

void ccm_ks_cluster_uid(char uid[37])
{
    unsigned char b[16] = { 0 };

    size_t have = 0;

    while (have < sizeof(b)) {
        const ssize_t n = getrandom(b + have, sizeof(b) - have, 0);

        have += n > 0 ? (size_t)n : 0; /* a signal may interrupt it early at boot */
    }
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    ccm_text_printf(uid, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                    b[13], b[14], b[15]);
}

static int add_namespace(struct ccm_ks_cluster *cluster, const char *name)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *meta = ccm_ks_jx_object(object, "metadata");
    cJSON *finalizers = cJSON_CreateArray();
    char text[CCM_CLOCK_TEXT];
    char uid[37];

    ccm_ks_cluster_uid(uid);
    ccm_clock_format(ccm_clock_wall_ms(), text, sizeof(text));
    ccm_ks_jx_set_str(meta, "name", name);
    ccm_ks_jx_set_str(meta, "uid", uid);
    ccm_ks_jx_set_str(meta, "resourceVersion", "");
    ccm_ks_jx_set_str(meta, "creationTimestamp", text);
    ccm_ks_jx_set_str(ccm_ks_jx_object(meta, "labels"), "kubernetes.io/metadata.name", name);
    (void)cJSON_AddItemToArray(finalizers, cJSON_CreateString("kubernetes")); /* see jx.h */
    ccm_ks_jx_set(ccm_ks_jx_object(object, "spec"), "finalizers", finalizers);
    ccm_ks_jx_set_str(ccm_ks_jx_object(object, "status"), "phase", "Active");
    return ccm_ks_store_put(cluster->store, CCM_KS_NAMESPACES, name, object) == NULL ? -ENOMEM : 0;
}

int ccm_ks_cluster_init(struct ccm_ks_cluster *cluster, const struct ccm_ks_options *options)
{
    static const char *const names[] = { "default", "kube-node-lease", "kube-public",
                                         "kube-system" };
    int r = 0;

    *cluster = (struct ccm_ks_cluster){ .options = *options };
    (void)pthread_mutex_init(&cluster->lock, NULL); /* default attributes: cannot fail here */
    r = ccm_clock_cond_init(&cluster->changed);
    if (r < 0) {
        return r;
    }
    cluster->store = ccm_ks_store_new(options->history);
    cluster->alloc = ccm_ks_alloc_new();
    if (cluster->store == NULL || cluster->alloc == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(names) && r == 0; i++) {
        r = add_namespace(cluster, names[i]);
    }
    return r < 0 ? r : ccm_ks_catalog_reload(cluster->store);
}

void ccm_ks_cluster_fini(struct ccm_ks_cluster *cluster)
{
    ccm_ks_access_free(cluster->access);
    ccm_ks_store_free(cluster->store);
    ccm_ks_catalog_fini();
    ccm_ks_alloc_free(cluster->alloc);
    ccm_secret_fini(&cluster->token);
    (void)pthread_cond_destroy(&cluster->changed); /* nobody waits any more */
    (void)pthread_mutex_destroy(&cluster->lock);   /* nobody holds it */
}
