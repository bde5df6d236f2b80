#include "lbc/custom/grant.h"

#include "lbc/custom/item.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define GRANTS "gateway.networking.k8s.io" /* group of ReferenceGrants */

static bool grant_is_from(const cJSON *spec, const struct lbc_custom_reference *reference)
{
    const cJSON *from = ccm_json_items(spec, "from");

    for (; from != NULL; from = from->next) {
        if (ccm_text_equal(ccm_json_text(from, "group"), reference->from_group) &&
            ccm_text_equal(ccm_json_text(from, "kind"), reference->from_kind) &&
            ccm_text_equal(ccm_json_text(from, "namespace"), reference->from_namespace)) {
            return true;
        }
    }
    return false;
}

/* to: an array of a grant. */
static bool grant_is_to(const cJSON *to, const struct lbc_custom_reference *reference)
{
    for (const cJSON *one = ccm_json_elements(to); one != NULL; one = one->next) {
        if (lbc_custom_text(one, "group", "")[0] == '\0' &&
            ccm_text_equal(ccm_json_text(one, "kind"), reference->kind) &&
            strcmp(lbc_custom_text(one, "name", reference->name), reference->name) == 0) {
            return true;
        }
    }
    return false;
}

/* What the grant lets them refer to, into `ret`, if it is about them. 0 or -ENOMEM. */
static int grant_add_to(const struct ccm_raw *grant, const struct lbc_custom_reference *reference,
                        cJSON *ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    cJSON *spec = NULL;
    cJSON *to = NULL;

    if (ccm_json_parse(grant->json, strlen(grant->json), &json) < 0) {
        return -ENOMEM;
    }
    spec = cJSON_GetObjectItemCaseSensitive(json, "spec");
    if (!grant_is_from(spec, reference) || !cJSON_IsArray(ccm_json_get(spec, "to"))) {
        return 0;
    }
    to = cJSON_DetachItemFromObjectCaseSensitive(spec, "to");
    if (to != NULL && !cJSON_AddItemToArray(ret, to)) {
        cJSON_Delete(to);
        return -ENOMEM;
    }
    return 0;
}

/* What grants of the namespace that is referred to let objects of that kind and namespace refer to:
 * an array of arrays `to`. NULL on ENOMEM. */
static cJSON *grants_read(const struct ccm_host *host, const struct lbc_custom_reference *reference)
{
    static const char *const versions[] = { GRANTS "/v1", GRANTS "/v1beta1" };
    CCM_CLEANUP(ccm_json_freep) cJSON *found = cJSON_CreateArray();
    int r = found == NULL ? -ENOMEM : 0;

    for (size_t v = 0; r == 0 && v < CCM_ARRAY_LEN(versions); v++) {
        const struct ccm_object *const *grants = NULL;
        size_t count = 0;

        lbc_custom_objects_list(host, versions[v], "referencegrants", &grants, &count);
        for (size_t i = 0; r == 0 && i < count; i++) {
            if (strcmp(grants[i]->namespace_, reference->namespace_) == 0) {
                r = grant_add_to((const struct ccm_raw *)grants[i], reference, found);
            }
        }
        host->release_list(host, grants, count);
    }
    return r < 0 ? NULL : CCM_STEAL(found);
}

static bool grants_allow(const cJSON *grants, const struct lbc_custom_reference *reference)
{
    for (const cJSON *to = ccm_json_elements(grants); to != NULL; to = to->next) {
        if (grant_is_to(to, reference)) {
            return true;
        }
    }
    return false;
}

static bool reference_stays_inside(const struct lbc_custom_reference *reference)
{
    return strcmp(reference->namespace_, reference->from_namespace) == 0;
}

bool lbc_custom_reference_is_granted(const struct ccm_host *host,
                                     const struct lbc_custom_reference *reference)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *grants = NULL;

    if (reference_stays_inside(reference)) {
        return true;
    }
    grants = grants_read(host, reference);
    return grants_allow(grants, reference);
}

static void grants_free(void *grants)
{
    cJSON_Delete(grants);
}

struct ccm_strmap *lbc_custom_grants_cache_new(void)
{
    return ccm_strmap_new(grants_free);
}

int lbc_custom_grants_ask(struct ccm_strmap *cache, const struct ccm_host *host,
                          const struct lbc_custom_reference *reference, bool *ret)
{
    cJSON *grants = NULL;

    *ret = reference_stays_inside(reference);
    if (*ret) {
        return 0;
    }
    grants = ccm_strmap_get(cache, reference->namespace_);
    if (grants == NULL) {
        grants = grants_read(host, reference);
        if (grants == NULL || ccm_strmap_set(cache, reference->namespace_, grants) < 0) {
            cJSON_Delete(grants);
            return -ENOMEM;
        }
    }
    *ret = grants_allow(grants, reference);
    return 0;
}
