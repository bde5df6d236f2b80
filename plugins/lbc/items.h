/*
 * What one reading of the inventory has found: for each Service that will ask, what the cloud holds
 * of its load balancer, as a mirror of the plugin's type. One thread at a time.
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

/*
 * One load balancer that the cloud lists; the same one may come again. *ret: the empty state that
 * is to be filled; NULL when it is nobody's who will ask, or is known already. Where two carry the
 * same tag the Service has to be told, by its own look: it gets neither. 0 or -ENOMEM.
 */
CCM_NODISCARD int lbc_items_add(struct lbc_items *items, const char *lb_id,
                                const struct lbc_tags *tags, struct lbc_state **ret);

/* The state of a load balancer that was added, or of the Service that a resource with these tags
 * belongs to; NULL when there is none. */
struct lbc_state *lbc_items_find(const struct lbc_items *items, const char *lb_id);
struct lbc_state *lbc_items_find_owner(const struct lbc_items *items, const struct lbc_tags *tags);
/* All that can be handed out, one by one: start with *cursor = NULL; NULL at the end. */
struct lbc_state *lbc_items_next(const struct lbc_items *items, void **cursor);

/* Move what is known about the Service's own load balancer into an empty state. False: nothing. */
bool lbc_items_take(struct lbc_items *items, const struct ccm_service *service,
                    struct lbc_state *state);

#endif
