#include "lbc/survey.h"
#include "lbc/names.h"

#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "lbc/pass.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct item {
    const struct lbc_state_type *type;
    bool witness;            /* its state is of no interest */
    bool twice;              /* two load balancers carry the tag */
    struct lbc_state *state; /* NULL: none was found */
};

struct lbc_survey {
    const struct lbc_instance *lbc;
    size_t claims;
    size_t known;
    struct ccm_strmap *by_owner; /* name of the load balancer, which is also its ownership tag */
    struct ccm_strmap *by_lb;    /* id of the load balancer -> item, not owned */
};

static bool item_is_usable(const struct item *item)
{
    return item != NULL && item->state != NULL && !item->twice;
}

static void item_free(void *value)
{
    struct item *item = value;

    if (item != NULL && item->state != NULL) {
        lbc_state_fini(item->state, item->type);
        free(item->state);
    }
    free(item);
}

void lbc_survey_free(struct lbc_survey *survey)
{
    if (survey == NULL) {
        return;
    }
    ccm_strmap_free(survey->by_lb);
    ccm_strmap_free(survey->by_owner);
    free(survey);
}

static void survey_freep(struct lbc_survey **survey)
{
    lbc_survey_free(*survey);
}

int lbc_survey_services(const struct lbc_instance *lbc,
                        int (*fn)(void *arg, const struct ccm_service *service), void *arg)
{
    const struct ccm_host *host = lbc->host;
    const struct ccm_object *const *services = NULL;
    size_t count = 0;
    int r = host->list(host, CCM_KIND_SERVICE, NULL, NULL, &services, &count) < 0 ? -ENOMEM : 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        r = fn(arg, (const struct ccm_service *)services[i]);
    }
    host->release_list(host, services, count);
    return r;
}

struct claimants {
    struct lbc_instance *lbc;
    enum lbc_claim (*claim)(struct lbc_instance *lbc, const struct ccm_service *service);
    struct ccm_strmap *names;
};

static int claimants_add(void *arg, const struct ccm_service *service)
{
    static char witness;
    const struct claimants *claimants = arg;
    const enum lbc_claim claim = claimants->claim(claimants->lbc, service);
    char name[LBC_OWNER_LB_NAME];

    if (claim == LBC_CLAIM_NONE) {
        return 0;
    }
    lbc_owner_lb_name(&service->meta, name);
    return ccm_strmap_set(claimants->names, name, claim == LBC_CLAIM_WITNESS ? &witness : NULL);
}

struct ccm_strmap *lbc_survey_names(struct lbc_instance *lbc,
                                    enum lbc_claim (*claim)(struct lbc_instance *lbc,
                                                            const struct ccm_service *service))
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *names = ccm_strmap_new(NULL);
    struct claimants claimants = { lbc, claim, names };

    return names == NULL || lbc_survey_services(lbc, claimants_add, &claimants) < 0
               ? NULL
               : CCM_STEAL(names);
}

struct lbc_survey *lbc_survey_new(const struct lbc_instance *lbc, const struct ccm_strmap *names)
{
    CCM_CLEANUP(survey_freep) struct lbc_survey *survey = calloc(1, sizeof(*survey));
    void *cursor = NULL;
    void *witness = NULL;
    const char *name = NULL;

    if (survey == NULL) {
        return NULL;
    }
    survey->lbc = lbc;
    survey->by_owner = ccm_strmap_new(item_free);
    survey->by_lb = ccm_strmap_new(NULL);
    if (survey->by_owner == NULL || survey->by_lb == NULL) {
        return NULL;
    }
    while (ccm_strmap_next(names, &cursor, &name, &witness) != 0) {
        struct item *item = calloc(1, sizeof(*item));

        if (item == NULL || ccm_strmap_set(survey->by_owner, name, item) < 0) {
            free(item);
            return NULL;
        }
        item->type = lbc->ops->mirror;
        item->witness = witness != NULL;
        survey->claims += item->witness ? 0 : 1;
    }
    return CCM_STEAL(survey);
}

size_t lbc_survey_count_claims(const struct lbc_survey *survey)
{
    return survey->claims;
}

size_t lbc_survey_count_known(const struct lbc_survey *survey)
{
    return survey->known;
}

/* Of the owner that the tags of this cluster name; NULL = it claims none. */
static struct item *survey_find_owner(const struct lbc_survey *survey, const struct lbc_tags *tags)
{
    const char *owner =
        ccm_text_equal(lbc_tags_get(tags, lbc_names.tag_cluster), lbc_cluster_id(survey->lbc))
            ? lbc_tags_get(tags, lbc_names.tag_owner)
            : NULL;

    return owner == NULL ? NULL : ccm_strmap_get(survey->by_owner, owner);
}

int lbc_survey_add(struct lbc_survey *survey, const char *lb_id, const struct lbc_tags *tags,
                   struct lbc_state **ret)
{
    const struct ccm_host *host = survey->lbc->host;
    struct item *item = survey_find_owner(survey, tags);

    *ret = NULL;
    survey->known += item != NULL ? 1 : 0;
    if (item == NULL || item->witness || ccm_strmap_has(survey->by_lb, lb_id)) {
        return 0;
    }
    if (item->state != NULL) {
        item->twice = true;
        host->log(host, CCM_LEVEL_WARN, "inventory",
                  "load balancers %s and %s carry the same tag %s=%s: only one of them can be the "
                  "Service's",
                  lbc_state_lb(item->state)->id, lb_id, lbc_names.tag_owner,
                  lbc_tags_get(tags, lbc_names.tag_owner));
        return 0;
    }
    if (ccm_strmap_set(survey->by_lb, lb_id, item) < 0) {
        return -ENOMEM;
    }
    item->state = calloc(1, item->type->size);
    *ret = item->state;
    return item->state == NULL ? -ENOMEM : 0;
}

struct lbc_state *lbc_survey_find(const struct lbc_survey *survey, const char *lb_id)
{
    const struct item *item = ccm_strmap_get(survey->by_lb, lb_id);

    return item == NULL ? NULL : item->state;
}

struct lbc_state *lbc_survey_find_owner(const struct lbc_survey *survey,
                                        const struct lbc_tags *tags)
{
    const struct item *item = survey_find_owner(survey, tags);

    return item == NULL ? NULL : item->state;
}

struct lbc_state *lbc_survey_next(const struct lbc_survey *survey, void **cursor)
{
    void *value = NULL;

    while (ccm_strmap_next(survey->by_owner, cursor, NULL, &value) != 0) {
        const struct item *item = value;

        if (item_is_usable(item)) {
            return item->state;
        }
    }
    return NULL;
}

bool lbc_survey_has(const struct lbc_survey *survey, const struct ccm_object *service)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(service, name);
    return item_is_usable(ccm_strmap_get(survey->by_owner, name));
}

bool lbc_survey_take(struct lbc_survey *survey, const struct ccm_service *service,
                     struct lbc_state *state)
{
    char name[LBC_OWNER_LB_NAME];
    struct item *item;

    lbc_owner_lb_name(&service->meta, name);
    item = ccm_strmap_take(survey->by_owner, name);

    const bool usable = item_is_usable(item);

    if (usable) {
        memcpy(state, item->state, item->type->size);
        free(item->state);
        item->state = NULL;
    }
    item_free(item);
    return usable;
}
