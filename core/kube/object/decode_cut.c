/* Objects beyond the limits of decode.h, and Services that nobody serves: what of them is kept. */
#include "kube/object/decode_priv.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A list that may be longer than we hold, by its place in the object. */
struct cut {
    uint64_t kind;
    const char *parent;
    const char *inner; /* between parent and name; NULL = nothing */
    const char *name;
    size_t most; /* 0: half a list would be believed, so none at all */
};

static const struct cut cuts[] = {
    { CCM_KIND_SERVICE, "spec", NULL, "ports", 0 },
    { CCM_KIND_SERVICE, "spec", NULL, "loadBalancerSourceRanges", 0 },
    { CCM_KIND_SERVICE, "spec", NULL, "ipFamilies", 0 },
    { CCM_KIND_SERVICE, "status", "loadBalancer", "ingress", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_SERVICE, "status", NULL, "conditions", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_ENDPOINT_SLICE, NULL, NULL, "endpoints", 0 },
    { CCM_KIND_ENDPOINT_SLICE, NULL, NULL, "ports", 0 },
    { CCM_KIND_NODE, "spec", NULL, "taints", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_NODE, "spec", NULL, "podCIDRs", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_NODE, "status", NULL, "conditions", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_NODE, "status", NULL, "addresses", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_POD, "spec", NULL, "readinessGates", KUBE_DECODE_MAX_LIST },
    { CCM_KIND_POD, "status", NULL, "conditions", KUBE_DECODE_MAX_LIST },
};

/* What an object beyond the limits keeps first. */
enum cut_rank {
    CUT_OWN,        /* a plugin declares the beginning of the key */
    CUT_KUBERNETES, /* a key with a domain of Kubernetes: any controller may read it */
    CUT_OTHER,      /* not kept */
};

static enum cut_rank cut_rank_key(const char *key, const struct kube_decode_kind *kind)
{
    const char *slash = strchr(key, '/');
    const char *known = strstr(key, "kubernetes.io");

    for (const struct ccm_watch *const *w = kind->watches; w != NULL && *w != NULL; w++) {
        const char *const *own = (*w)->kind == kind->kind ? (*w)->keys : NULL;

        for (; own != NULL && *own != NULL; own++) {
            if (ccm_text_starts(key, *own)) {
                return CUT_OWN;
            }
        }
    }
    return slash != NULL && known != NULL && known < slash && !ccm_text_starts(key, "kubectl.")
               ? CUT_KUBERNETES
               : CUT_OTHER;
}

static size_t cut_count(const cJSON *item)
{
    size_t count = 0;

    for (; item != NULL; item = item->next) {
        count++;
    }
    return count;
}

static void cut_list(cJSON *list, size_t most)
{
    cJSON *item = list->child;

    for (size_t i = 0; item != NULL; i++) {
        cJSON *next = item->next;

        if (i >= most) {
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
        }
        item = next;
    }
}

/* A map or a list of names beyond the limit keeps keys that are not CUT_OTHER, up to the limit. */
static void cut_names(cJSON *parent, const char *name, size_t most,
                      const struct kube_decode_kind *kind)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(parent, name);
    size_t kept = 0;

    if (list == NULL || cut_count(list->child) <= most) {
        return;
    }
    for (cJSON *item = list->child; item != NULL;) {
        cJSON *next = item->next;
        const char *key = cJSON_IsObject(list) ? item->string : item->valuestring;

        if (kept < most && key != NULL && cut_rank_key(key, kind) != CUT_OTHER) {
            kept++;
        } else {
            cJSON_Delete(cJSON_DetachItemViaPointer(list, item));
        }
        item = next;
    }
}

static cJSON *cut_parent(cJSON *json, const struct cut *cut)
{
    cJSON *parent =
        cut->parent == NULL ? json : cJSON_GetObjectItemCaseSensitive(json, cut->parent);

    return cut->inner == NULL || parent == NULL
               ? parent
               : cJSON_GetObjectItemCaseSensitive(parent, cut->inner);
}

void kube_decode_cut(cJSON *json, const struct kube_decode_kind *kind, bool bystander)
{
    cJSON *meta = cJSON_GetObjectItemCaseSensitive(json, "metadata");
    const size_t pairs = bystander ? 0 : KUBE_DECODE_MAX_PAIRS;

    cut_names(meta, "labels", pairs, kind);
    cut_names(meta, "annotations", pairs, kind);
    cut_names(meta, "finalizers", KUBE_DECODE_MAX_FINALIZERS, kind);
    if (kind->kind == CCM_KIND_NODE) {
        cJSON *status = cJSON_GetObjectItemCaseSensitive(json, "status");

        cut_names(status, "capacity", KUBE_DECODE_MAX_PAIRS, kind);
        cut_names(status, "allocatable", KUBE_DECODE_MAX_PAIRS, kind);
        cut_names(status, "nodeInfo", KUBE_DECODE_MAX_PAIRS, kind);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(cuts); i++) {
        cJSON *parent = cuts[i].kind == kind->kind ? cut_parent(json, &cuts[i]) : NULL;
        cJSON *list =
            parent == NULL ? NULL : cJSON_GetObjectItemCaseSensitive(parent, cuts[i].name);

        if (cJSON_IsArray(list)) {
            cut_list(list, bystander ? 0 : cuts[i].most);
        }
    }
}

/* --- Services, whose size is up to whoever may write one --- */

static size_t cut_size(const cJSON *item)
{
    return strlen(item->string) + (cJSON_IsString(item) ? strlen(item->valuestring) : 0);
}

struct cut_item {
    cJSON *item;
    enum cut_rank rank;
    size_t size;
};

/* A value that is too long stays so, or it would not be refused. Returns what all take together. */
static size_t cut_values(const cJSON *map)
{
    size_t sum = 0;

    for (const cJSON *item = map->child; item != NULL; item = item->next) {
        if (cJSON_IsString(item)) {
            item->valuestring[ccm_text_utf8_cut(item->valuestring, KUBE_DECODE_SERVICE_VALUE)] =
                '\0';
        }
        sum += cut_size(item);
    }
    return sum;
}

/* Where own keys do not all fit, many short ones (ids, "true") say more than one long list. */
static int cut_compare_items(const void *a, const void *b)
{
    const struct cut_item *left = a;
    const struct cut_item *right = b;

    const int rank = (int)left->rank - (int)right->rank;

    return rank != 0                  ? rank
           : left->size < right->size ? -1
           : left->size > right->size ? 1
                                      : strcmp(left->item->string, right->item->string);
}

/* Where there is too much, own keys stay, then those of Kubernetes in the room that is left, short
 * ones first. */
static int cut_map(cJSON *map, const struct kube_decode_kind *kind, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) struct cut_item *items = NULL;
    size_t used = 0;
    size_t len = 0;
    int r = 0;

    if (!cJSON_IsObject(map) || (cut_values(map) <= KUBE_DECODE_SERVICE_MAP &&
                                 cut_count(map->child) <= KUBE_DECODE_MAX_PAIRS)) {
        return 0;
    }
    items = calloc(cut_count(map->child), sizeof(struct cut_item));
    if (items == NULL) {
        return ccm_error_nomem(err);
    }
    for (cJSON *item = map->child; item != NULL; item = item->next) {
        items[len++] = (struct cut_item){ item, cut_rank_key(item->string, kind), cut_size(item) };
    }
    qsort(items, len, sizeof(struct cut_item), cut_compare_items);
    for (size_t i = 0; i < len; i++) {
        if (items[i].rank != CUT_OTHER && used + items[i].size <= KUBE_DECODE_SERVICE_MAP) {
            used += items[i].size;
        } else {
            r = items[i].rank == CUT_OWN ? -EMSGSIZE : r;
            cJSON_Delete(cJSON_DetachItemViaPointer(map, items[i].item));
        }
    }
    return r == 0 ? 0
                  : ccm_error_set(err, r, CCM_ERROR_TERMINAL,
                                  "%s: more than %zu KiB that plugins read", map->string,
                                  KUBE_DECODE_SERVICE_MAP / 1024);
}

int kube_decode_cut_service(cJSON *json, const struct kube_decode_kind *kind, struct ccm_error *err)
{
    const cJSON *meta = ccm_json_get(json, "metadata");
    const int labels = cut_map(cJSON_GetObjectItemCaseSensitive(meta, "labels"), kind, err);
    const int r = cut_map(cJSON_GetObjectItemCaseSensitive(meta, "annotations"), kind, err);

    return r < 0 ? r : labels; /* what err is about */
}

/* --- Services that no load balancer belongs to --- */

bool kube_decode_is_bystander(const cJSON *json, uint64_t kind)
{
    const cJSON *finalizers = ccm_json_get(ccm_json_get(json, "metadata"), "finalizers");
    const char *type = ccm_json_text(ccm_json_get(json, "spec"), "type");

    return kind == CCM_KIND_SERVICE && strcmp(type, "LoadBalancer") != 0 &&
           (finalizers == NULL || finalizers->child == NULL);
}

void kube_decode_cut_bystander(cJSON *json)
{
    const cJSON *meta = ccm_json_get(json, "metadata");
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(meta, "annotations");

    for (cJSON *item = cJSON_IsObject(annotations) ? annotations->child : NULL; item != NULL;) {
        cJSON *next = item->next;

        if (cJSON_IsString(item) && strlen(item->valuestring) > KUBE_DECODE_BYSTANDER_VALUE) {
            cJSON_Delete(cJSON_DetachItemViaPointer(annotations, item));
        }
        item = next;
    }
}
