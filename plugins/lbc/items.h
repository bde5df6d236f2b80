/*
 * What one reading of the inventory has found: for each Service that will ask, the state of its
 * load balancer. One thread at a time.
 */
#ifndef CCM_LBC_ITEMS_H
#define CCM_LBC_ITEMS_H

#include "ccm/object.h"
#include "lbc/apply/state.h"
#include "lbc/model/tags.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>

struct lbc_instance;
struct lbc_items;

/* expected: the Services that will ask, by the name of their load balancer (lbc_owner_lb_name(),
 * which is also its ownership tag). NULL on ENOMEM. */
struct lbc_items *lbc_items_new(const struct lbc_instance *lbc, const struct ccm_strmap *expected);
/* NULL is fine. */
void lbc_items_free(struct lbc_items *items);

/* A load balancer in the cloud's list; it may come again. *ret: the empty state to fill; NULL when
 * no expected Service owns it, or it is known already. When two carry the same tag, the Service
 * gets neither, and reports it after its own lookup. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_items_add(struct lbc_items *items, const char *lb_id,
                                const struct lbc_tags *tags, struct lbc_state **ret);

/* Load balancers by whose presence one knows that the list is one of the right account: by their
 * names, as above; borrowed. */
void lbc_items_set_witnesses(struct lbc_items *items, const struct ccm_strmap *names);
/* How many of the load balancers that were added are those of expected Services or witnesses. */
size_t lbc_items_count_known(const struct lbc_items *items);

/* The state of a load balancer that was added, or of the Service that a resource with these tags
 * belongs to; NULL when there is none. */
struct lbc_state *lbc_items_find(const struct lbc_items *items, const char *lb_id);
struct lbc_state *lbc_items_find_owner(const struct lbc_items *items, const struct lbc_tags *tags);
/* All usable states, one by one: start with *cursor = NULL; NULL at the end. */
struct lbc_state *lbc_items_next(const struct lbc_items *items, void **cursor);

/* Move the state of the Service's own load balancer into an empty one. False: nothing is known. */
bool lbc_items_take(struct lbc_items *items, const struct ccm_service *service,
                    struct lbc_state *state);

#endif
