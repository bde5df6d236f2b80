/*
 * The periodic look takes nodes page by page, each of one region, so that a call of the cloud is
 * about as many as it can name. Where the next page begins is remembered as a place: "REGION NAME"
 * of the last node.
 *
 * A round begins once per period and is through after half of it. Each call of reconcile waits
 * NODE_BURST_MS for more keys, which is part of the time between two pages: when there are more
 * pages than such waits, a call takes several, up to NODE_KEYS_MAX nodes. Pure but for the clock
 * and what it takes from the caches.
 */
#ifndef CCM_NODE_PAGE_H
#define CCM_NODE_PAGE_H

#include "run.h"

/* Take the next page, or pages, into the run. Sets page_end, NULL when there is nothing behind it.
 * 0, -ENOMEM or what the host says of its caches. */
CCM_NODISCARD int node_page_take(struct node_run *run);

/* All of the page was looked at: the next time it is the next one. */
void node_page_turn(struct node_run *run);

/* When the key of the look is to be ready again after a page that was looked at, in ms from now:
 * the call comes NODE_BURST_MS later. */
uint64_t node_page_delay_ms(const struct node_run *run);

#endif
