/*
 * What was seen of each node last, for its status page. Locks by itself; every thread. Lost with
 * the process, until the next look.
 */
#ifndef CCM_NODE_VIEW_H
#define CCM_NODE_VIEW_H

#include "run.h"

struct node_views;

struct node_views *node_views_new(void);
/* NULL is fine. */
void node_views_free(struct node_views *views);

/* Keep what the call has found out about its nodes, and decided. After node_gone(). Without memory
 * for it nothing new is known of a node. */
void node_views_take(struct node_run *run);
void node_views_forget(struct node_views *views, const char *name);

/* As describe() of a plugin: about one node. */
int node_views_describe(const struct node_control *control, const char *name,
                        const struct ccm_view_sink *sink);

#endif
