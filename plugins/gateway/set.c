#include "set.h"

#include "lbc/custom/selector.h"
#include "subject.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- whose they are --- */

static const cJSON *set_parent(const cJSON *set)
{
    const cJSON *parent = ccm_json_get(ccm_json_get(set, "spec"), "parentRef");

    return strcmp(lbc_custom_text(parent, "group", GATEWAY_GROUP), GATEWAY_GROUP) == 0 &&
                   strcmp(lbc_custom_text(parent, "kind", "Gateway"), "Gateway") == 0
               ? parent
               : NULL;
}

bool gateway_set_is_of(const cJSON *set, const struct ccm_object *object,
                       const struct ccm_object *gateway)
{
    const cJSON *parent = set_parent(set);

    return strcmp(lbc_custom_text(parent, "name", ""), gateway->name) == 0 &&
           strcmp(lbc_custom_text(parent, "namespace", object->namespace_), gateway->namespace_) ==
               0;
}

int gateway_set_find_gateway(const cJSON *set, const char *namespace_, char **ret)
{
    const cJSON *parent = set_parent(set);

    *ret = parent == NULL ? NULL
                          : lbc_custom_key(lbc_custom_text(parent, "namespace", namespace_),
                                           lbc_custom_text(parent, "name", ""));
    return parent != NULL && *ret == NULL ? -ENOMEM : 0;
}

int gateway_parent_find(const struct ccm_host *host, const cJSON *parent, const char *namespace_,
                        char **ret, char **ret_set)
{
    const char *kind = lbc_custom_text(parent, "kind", "Gateway");
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    struct lbc_custom_item set = { 0 };
    int r = 0;

    *ret = NULL;
    *ret_set = NULL;
    if (strcmp(lbc_custom_text(parent, "group", GATEWAY_GROUP), GATEWAY_GROUP) != 0 ||
        (strcmp(kind, "Gateway") != 0 && strcmp(kind, GATEWAY_SET) != 0)) {
        return 0;
    }
    key = lbc_custom_key(lbc_custom_text(parent, "namespace", namespace_),
                         lbc_custom_text(parent, "name", ""));
    if (key == NULL || strcmp(kind, "Gateway") == 0) {
        *ret = CCM_STEAL(key);
        return *ret == NULL ? -ENOMEM : 0;
    }
    r = lbc_custom_item_get(host, GATEWAY_V1, GATEWAY_SETS, key, &set);
    if (r == 0 && set.object != NULL) {
        r = gateway_set_find_gateway(set.json, set.object->namespace_, ret);
        *ret_set = CCM_STEAL(key);
    }
    lbc_custom_item_fini(host, &set);
    return r;
}

/* --- those of a Gateway --- */

bool gateway_set_is_allowed(const struct ccm_host *host, const struct ccm_object *gateway,
                            const cJSON *spec, const char *namespace_)
{
    return lbc_custom_namespace_is_from(
        host, ccm_json_get(ccm_json_get(spec, "allowedListeners"), "namespaces"), "None",
        gateway->namespace_, namespace_);
}

static int set_compare_age(const void *a, const void *b)
{
    return lbc_custom_compare_age(*(const struct ccm_object *const *)a,
                                  *(const struct ccm_object *const *)b);
}

/* Those of namespaces that the Gateway lets in, by precedence, before any is read: others may be
 * many. Heap, borrowed from `found`; NULL on ENOMEM. */
static const struct ccm_object **sets_select(const struct gateway_subject *subject,
                                             const struct ccm_object *const *found, size_t count,
                                             size_t *ret_len)
{
    const struct ccm_object **all = calloc(count + 1, sizeof(*all));
    const char *last = NULL;
    bool allowed = false;

    *ret_len = 0;
    for (size_t i = 0; all != NULL && i < count; i++) {
        if (last == NULL || strcmp(last, found[i]->namespace_) != 0) {
            last = found[i]->namespace_;
            allowed = gateway_set_is_allowed(subject->host, subject->gateway.object,
                                             ccm_json_get(subject->gateway.json, "spec"), last);
        }
        if (allowed) {
            all[(*ret_len)++] = found[i];
        }
    }
    if (all != NULL && *ret_len > 0) {
        qsort(all, *ret_len, sizeof(*all), set_compare_age);
    }
    return all;
}

static int sets_add(const struct gateway *self, struct gateway_subject *subject, const char *key)
{
    struct gateway_sets *sets = &subject->sets;
    struct gateway_set set = { .first = subject->count };
    struct gateway_owner owner = { GATEWAY_SET, NULL, NULL, false };
    int r = lbc_custom_item_get(subject->host, GATEWAY_V1, GATEWAY_SETS, key, &set.item);

    if (r == 0) {
        r = ccm_array_grow(&sets->items, &sets->cap, sets->len + 1, sizeof(*sets->items));
    }
    if (r < 0 || set.item.object == NULL ||
        !gateway_set_is_of(set.item.json, set.item.object, subject->gateway.object)) {
        lbc_custom_item_fini(subject->host, &set.item);
        return r;
    }
    owner.object = set.item.object;
    owner.json = set.item.json;
    r = gateway_listeners_read(self, &owner, subject->listeners, &subject->count);
    set.count = subject->count - set.first;
    sets->items[sets->len++] = set;
    return r;
}

int gateway_sets_read(const struct gateway *self, struct gateway_subject *subject)
{
    const cJSON *allowed =
        ccm_json_get(ccm_json_get(subject->gateway.json, "spec"), "allowedListeners");
    const struct ccm_object *const *found = NULL;
    CCM_CLEANUP(ccm_freep) const struct ccm_object **sets = NULL;
    size_t count = 0;
    size_t len = 0;
    int r = 0;

    if (allowed == NULL ||
        self->host->list_raw_by(self->host, GATEWAY_V1, GATEWAY_SETS, GATEWAY_BY_PARENT,
                                subject->gateway.object->name, &found, &count) < 0) {
        return 0;
    }
    sets = sets_select(subject, found, count, &len);
    r = sets == NULL ? -ENOMEM : 0;
    for (size_t i = 0; r == 0 && i < len && subject->count < GATEWAY_LISTENERS_MAX; i++) {
        r = sets_add(self, subject, sets[i]->key);
    }
    self->host->release_list(self->host, found, count);
    return r;
}

void gateway_sets_fini(const struct ccm_host *host, struct gateway_sets *sets)
{
    for (size_t i = 0; i < sets->len; i++) {
        lbc_custom_item_fini(host, &sets->items[i].item);
    }
    free(sets->items);
}

const struct gateway_set *gateway_set_find(const struct gateway_sets *sets, const char *key)
{
    for (size_t i = 0; i < sets->len; i++) {
        if (strcmp(sets->items[i].item.object->key, key) == 0) {
            return &sets->items[i];
        }
    }
    return NULL;
}

static size_t set_count_usable(const struct gateway_subject *subject, const struct gateway_set *set)
{
    size_t usable = 0;

    for (size_t i = set->first; i < set->first + set->count; i++) {
        usable += subject->listeners[i].unusable ? 0 : 1;
    }
    return usable;
}

size_t gateway_sets_count_accepted(const struct gateway_subject *subject)
{
    size_t accepted = 0;

    for (size_t i = 0; subject->invalid == NULL && i < subject->sets.len; i++) {
        accepted += set_count_usable(subject, &subject->sets.items[i]) > 0 ? 1 : 0;
    }
    return accepted;
}

/* --- how they are served --- */

uint64_t gateway_set_mark(const struct gateway_subject *subject, const struct gateway_set *set,
                          bool programmed)
{
    uint64_t said = 0;
    char text[256];

    for (size_t i = 0; i < set->count; i++) {
        const struct gateway_listener *one = &subject->listeners[set->first + i];

        said = said * 31 + (one->unusable ? 1 : 0) +
               (one->why == NULL ? 0 : ccm_text_hash(one->why)) +
               (one->unresolved_why == NULL ? 0 : ccm_text_hash(one->unresolved_why));
    }
    ccm_text_printf(text, sizeof(text), "%s %" PRId64 " %s %" PRIx64 " %d", set->item.object->uid,
                    set->item.object->generation, subject->gateway.object->uid, said, programmed);
    return ccm_text_hash(text) | 1U;
}

void gateway_sets_mark(const struct gateway *self, const struct gateway_subject *subject,
                       bool programmed)
{
    for (size_t i = 0; i < subject->sets.len; i++) {
        const struct gateway_set *set = &subject->sets.items[i];
        CCM_CLEANUP(ccm_freep)
        char *key = ccm_text_format("%s%s", GATEWAY_SET_KEY, set->item.object->key);

        if (key != NULL && lbc_custom_record_mark(self->front.custom.records, key,
                                                  gateway_set_mark(subject, set, programmed))) {
            self->host->enqueue(self->host, key, CCM_LANE_SPEC, 0);
        }
    }
}
