/*
 * What is remembered of each node between calls: how it looks when all is well, so that changes of
 * others are seen and our own are not. Locks by itself; every thread. Lost with the process, which
 * costs one look.
 */
#ifndef CCM_NODE_MEMORY_H
#define CCM_NODE_MEMORY_H

#include "util/attr.h"
#include "want.h"

struct node_memory;

struct node_memory *node_memory_new(void);
/* NULL is fine. */
void node_memory_free(struct node_memory *memory);

/*
 * The node is written as `want` says, or is right when that has nothing to write. facts:
 * node_want_facts() of what the cloud said. To be called before the first write: the watch is fast.
 * Without memory for it nothing is known of the node.
 */
void node_memory_expect(struct node_memory *memory, const struct ccm_node *node,
                        const struct node_want *want, uint32_t facts, int64_t now_ms);

/* Facts of the last time; 0 when nothing is known. */
uint32_t node_memory_facts(struct node_memory *memory, const char *name);

/*
 * Whether somebody else has changed what we decide about. *ret_wait_ms: how long to wait before it
 * is put right: whoever changes it again and again is not answered each time.
 */
bool node_memory_is_changed(struct node_memory *memory, const struct ccm_node *before,
                            const struct ccm_node *after, int64_t now_ms, uint64_t *ret_wait_ms);

void node_memory_forget(struct node_memory *memory, const char *name);

#endif
