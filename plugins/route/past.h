/* What nodes had and want no more, until it is gone from the tables. Lost at a restart: the search
 * for orphans finds the rest. Every thread; nothing blocks. */
#ifndef CCM_ROUTE_PAST_H
#define CCM_ROUTE_PAST_H

#include "plan.h"

/* More are not remembered: the oldest is forgotten. */
#define ROUTE_PASTS_MAX 10000

struct route_pasts;

struct route_pasts *route_pasts_new(void);
void route_pasts_free(struct route_pasts *pasts);

/* A node changed (after) or has gone (after NULL): note each network that it leaves, and how it
 * came about; the last word counts. An excluded node keeps what it has. True when there is
 * something to do. */
bool route_pasts_record(struct route_pasts *pasts, const struct ccm_node *before,
                        const struct ccm_node *after, enum route_loss loss, int64_t now_ms);

/* A copy of all; free it with route_past_list_free(). 0 or -ENOMEM. */
CCM_NODISCARD int route_pasts_copy(struct route_pasts *pasts, struct route_past **ret,
                                   size_t *ret_count);
void route_past_list_free(struct route_past *list, size_t count);

/* Whether something of that node is remembered. */
bool route_pasts_has(struct route_pasts *pasts, const char *node);

/* It is gone. */
void route_pasts_forget(struct route_pasts *pasts, const struct route_past *past);

#endif
