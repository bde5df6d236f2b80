#include "controllers.h"

#include "call.h"
#include "catalog.h"
#include "definition.h"
#include "jx.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "verbs.h"
#include "watch.h"
#include "write.h"

#include <errno.h>
#include <string.h>

void ccm_ks_controllers_expire(struct ccm_ks_cluster *cluster)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects events = { 0 };
    const int64_t limit = ccm_clock_now_ms() - cluster->options.event_ttl_ms;
    bool gone = false;

    if (ccm_ks_store_list(cluster->store, CCM_KS_EVENTS, "", &events) < 0) {
        return; /* ENOMEM: the next look finds them */
    }
    for (size_t i = 0; i < events.len; i++) {
        gone = (events.items[i]->written_ms < limit &&
                ccm_ks_store_remove(cluster->store, CCM_KS_EVENTS, events.items[i]->key) == 0) ||
               gone;
    }
    if (gone) {
        (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    }
}

/* How much is left of a kind in a namespace ("" = everywhere) after everything in it was deleted.
 */
static size_t delete_kind(struct ccm_ks_cluster *cluster, const struct ccm_ks_kind *kind,
                          const char *ns)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects objects = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf prefix = { .max = CCM_KS_KEY_MAX };
    size_t left = 0;

    if (ns[0] != '\0') {
        ccm_buf_addf(&prefix, "%s/", ns);
    }
    if (ccm_ks_store_list(cluster->store, kind->bucket, ccm_buf_str(&prefix), &objects) < 0) {
        return 1; /* ENOMEM: the next look goes on */
    }
    for (size_t i = 0; i < objects.len; i++) {
        left += ccm_ks_delete_object(cluster, kind, objects.items[i]) ? 0 : 1;
    }
    return left;
}

static size_t delete_content(struct ccm_ks_cluster *cluster, const char *ns)
{
    size_t left = 0;

    for (enum ccm_ks_bucket b = 0; b < CCM_KS_BUCKETS && ccm_ks_kind_of(b) != NULL; b++) {
        const struct ccm_ks_kind *kind = ccm_ks_kind_of(b);

        if (kind->namespaced) {
            left += delete_kind(cluster, kind, ns);
        }
    }
    return left;
}

/* Take the namespace's own finalizer off. */
static void release(struct ccm_ks_cluster *cluster, const struct ccm_ks_object *ns)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *next = ccm_ks_jx_dup(ns->json);

    ccm_ks_jx_del(ccm_ks_jx_object(next, "spec"), "finalizers");
    if (ccm_ks_write_may_go(next)) {
        if (ccm_ks_store_remove(cluster->store, CCM_KS_NAMESPACES, ns->key) < 0) {
            return; /* ENOMEM: the next look removes it */
        }
    } else if (!ccm_ks_jx_equal(next, ns->json) &&
               ccm_ks_store_put(cluster->store, CCM_KS_NAMESPACES, ns->key, CCM_STEAL(next)) ==
                   NULL) {
        return; /* ENOMEM: the next look does it */
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
}

void ccm_ks_controllers_drain(struct ccm_ks_cluster *cluster)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects namespaces = { 0 };

    if (ccm_ks_store_list(cluster->store, CCM_KS_NAMESPACES, "", &namespaces) < 0) {
        return; /* ENOMEM: the next look goes on */
    }
    for (size_t i = 0; i < namespaces.len; i++) {
        const struct ccm_ks_object *ns = namespaces.items[i];

        if (ccm_json_get(ccm_json_get(ns->json, "metadata"), "deletionTimestamp") != NULL &&
            delete_content(cluster, ns->key) == 0) {
            release(cluster, ns);
        }
    }
}

/* The last object of its kind has gone: so does the definition. */
static void definition_release(struct ccm_ks_cluster *cluster, const struct ccm_ks_object *object,
                               const struct ccm_ks_kind *kind)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *next = ccm_ks_jx_dup(object->json);
    int r = 0;

    ccm_ks_crd_end_deletion(next);
    if (ccm_ks_write_may_go(next)) {
        r = ccm_ks_store_remove(cluster->store, CCM_KS_CRDS, object->key);
    } else if (!ccm_ks_jx_equal(next, object->json)) {
        r = ccm_ks_store_put(cluster->store, CCM_KS_CRDS, object->key, CCM_STEAL(next)) == NULL
                ? -ENOMEM
                : 0;
    }
    if (r < 0 || ccm_ks_catalog_reload(cluster->store) < 0) {
        return; /* ENOMEM: the next look does it */
    }
    (void)ccm_ks_watch_order_locked(cluster, kind->bucket, CCM_KS_ORDER_FINISH);
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
}

void ccm_ks_controllers_undefine(struct ccm_ks_cluster *cluster)
{
    CCM_CLEANUP(ccm_ks_objects_fini) struct ccm_ks_objects definitions = { 0 };

    if (ccm_ks_store_list(cluster->store, CCM_KS_CRDS, "", &definitions) < 0) {
        return; /* ENOMEM: the next look goes on */
    }
    for (size_t i = 0; i < definitions.len; i++) {
        const struct ccm_ks_object *object = definitions.items[i];
        const cJSON *spec = ccm_json_get(object->json, "spec");
        const cJSON *names = ccm_json_get(spec, "names");

        if (ccm_json_path(object->json, "metadata", "deletionTimestamp", NULL) == NULL) {
            continue;
        }
        for (enum ccm_ks_bucket b = CCM_KS_CUSTOM; b < CCM_KS_BUCKETS; b++) {
            const struct ccm_ks_kind *kind = ccm_ks_kind_of(b);

            if (kind != NULL && strcmp(kind->group, ccm_json_text(spec, "group")) == 0 &&
                strcmp(kind->plural, ccm_json_text(names, "plural")) == 0 &&
                delete_kind(cluster, kind, "") == 0) {
                definition_release(cluster, object, kind);
            }
        }
    }
}
