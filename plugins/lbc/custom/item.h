/*
 * Objects of custom resources as the caches have them, and their JSON. No I/O. Every thread; an
 * item belongs to one.
 */
#ifndef CCM_LBC_CUSTOM_ITEM_H
#define CCM_LBC_CUSTOM_ITEM_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/json.h"

#include <stdbool.h>
#include <stddef.h>

struct lbc_custom_item {
    const struct ccm_object *object; /* a reference; NULL = there is none */
    cJSON *json;
    unsigned kind;           /* the plugin's own */
    const char *api_version; /* a constant */
};

struct lbc_custom_items {
    struct lbc_custom_item *items;
    size_t len;
    size_t cap;
};

/* The object, with object NULL when it is not there. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_custom_item_get(const struct ccm_host *host, const char *api_version,
                                      const char *resource, const char *key,
                                      struct lbc_custom_item *ret);
void lbc_custom_item_fini(const struct ccm_host *host, struct lbc_custom_item *item);

/* All by an index into `ret`, each with kind and api_version of `head`. 0, -ENOMEM, or -ENOENT: the
 * server does not have the resource. */
CCM_NODISCARD int lbc_custom_items_add_by(const struct ccm_host *host, struct lbc_custom_item head,
                                          const char *resource, const char *index,
                                          const char *value, struct lbc_custom_items *ret);
void lbc_custom_items_fini(const struct ccm_host *host, struct lbc_custom_items *items);

/* All objects of a resource, the caller releases them with release_list(); none when the server
 * does not have it. */
void lbc_custom_objects_list(const struct ccm_host *host, const char *api_version,
                             const char *resource, const struct ccm_object *const **ret,
                             size_t *ret_count);

/* The order in which objects were made, by name where that is the same moment; as strcmp(). */
int lbc_custom_compare_age(const struct ccm_object *a, const struct ccm_object *b);

/* A text of an object of the API, `fallback` where it is absent or empty. */
const char *lbc_custom_text(const cJSON *parent, const char *name, const char *fallback);
/* "namespace/name"; NULL on ENOMEM. */
char *lbc_custom_key(const char *namespace_, const char *name);

#endif
