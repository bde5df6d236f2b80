/*
 * ListenerSets: which are part of a Gateway, in which order, and what they say of themselves.
 * gateway_set_reconcile() blocks for the API server and belongs to the worker of the key; the
 * others read the caches alone, every thread.
 */
#ifndef CCM_GATEWAY_SET_H
#define CCM_GATEWAY_SET_H

#include "gateway.h"
#include "lbc/custom/item.h"

#include <stdint.h>

#define GATEWAY_SETS    "listenersets"
#define GATEWAY_SET     "ListenerSet"
#define GATEWAY_SET_KEY GATEWAY_SET " " /* with "namespace/name" behind: a key of the queue */

struct gateway_subject;

/* One that a Gateway has taken in. */
struct gateway_set {
    struct lbc_custom_item item;
    size_t first; /* of its listeners among those of the Gateway, */
    size_t count; /* and how many there was room for */
};

struct gateway_sets {
    struct gateway_set *items;
    size_t len;
    size_t cap;
};

/* Key of the Gateway that a parentRef leads to, itself or by a ListenerSet, *ret_set then being the
 * key of that, else NULL. NULL with 0: to none that is there. Both on the heap. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_parent_find(const struct ccm_host *host, const cJSON *parent,
                                      const char *namespace_, char **ret, char **ret_set);
/* Key of the Gateway that a ListenerSet names, on the heap; NULL with 0: it names something else. 0
 * or -ENOMEM. */
CCM_NODISCARD int gateway_set_find_gateway(const cJSON *set, const char *namespace_, char **ret);
/* Whether a ListenerSet of the caches names that Gateway. */
bool gateway_set_is_of(const cJSON *set, const struct ccm_object *object,
                       const struct ccm_object *gateway);

/* Whether the Gateway, with that spec, takes ListenerSets of a namespace. */
bool gateway_set_is_allowed(const struct ccm_host *host, const struct ccm_object *gateway,
                            const cJSON *spec, const char *namespace_);

/* Add those of a Gateway, with their listeners behind its own, as far as there is room. 0 or
 * -ENOMEM; the subject is finished in any case. */
CCM_NODISCARD int gateway_sets_read(const struct gateway *self, struct gateway_subject *subject);
void gateway_sets_fini(const struct ccm_host *host, struct gateway_sets *sets);
/* NULL = it is not among them. */
const struct gateway_set *gateway_set_find(const struct gateway_sets *sets, const char *key);
/* Of how many some listener can be served. */
size_t gateway_sets_count_accepted(const struct gateway_subject *subject);

/* Stands for one with those of its listeners that can be served, and whether they are. */
uint64_t gateway_set_mark(const struct gateway_subject *subject, const struct gateway_set *set,
                          bool programmed);
/* Remember how the load balancer serves those of a subject, which is what it was made from; those
 * that have to say something else now are looked at. */
void gateway_sets_mark(const struct gateway *self, const struct gateway_subject *subject,
                       bool programmed);

/* Write the status of one, if its Gateway is ours. 0
 * or negative with err. */
CCM_NODISCARD int gateway_set_reconcile(const struct gateway *self, const struct ccm_request *req,
                                        struct ccm_error *err);

#endif
