/*
 * The periodic look takes nodes page by page, each of one region, so that a call of the cloud is
 * about as many as it can name. Where the next page begins is remembered as a place: "REGION NAME"
 * of the last node. Pure but for what it takes from the caches.
 */
#ifndef CCM_NODE_PAGE_H
#define CCM_NODE_PAGE_H

#include "run.h"

/* Take the next page into the run. Sets page_end, NULL when there is nothing behind it. 0, -ENOMEM
 * or what the host says of its caches. */
CCM_NODISCARD int node_page_take(struct node_run *run);

/* All of the page was looked at: the next time it is the next one. */
void node_page_turn(struct node_run *run);

/* In how many ms the next page is due, after a page that was looked at: all pages of a round within
 * half of the period, spread; the next round after the whole of it. */
uint64_t node_page_delay_ms(const struct node_run *run);

#endif
