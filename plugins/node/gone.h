/*
 * When the Node object of an instance that is gone is deleted. A node is never deleted for what one
 * answer says:
 *
 * - its Ready condition is Unknown: nobody hears of it;
 * - two answers, gone_confirm_s apart or more, lack its instance, and have another instance each
 * that is there for certain since its node is ready: a wrong region, account or right shows none,
 * and lack none of the ready nodes that are asked for besides (look.h);
 * - asked for with one such instance alone, it is lacking once more;
 * - the instance was seen in the cloud before (NODE_LABEL_SEEN): one of another account was not;
 * - no more than removal_share_percent of all nodes go within removal_window_s, restarts and other
 * leaders included (ledger.h);
 * - read once more it is the same node, still Unknown; it is deleted in that version only.
 */
#ifndef CCM_NODE_GONE_H
#define CCM_NODE_GONE_H

#include "run.h"

struct node_absences;

struct node_absences *node_absences_new(void);
/* NULL is fine. */
void node_absences_free(struct node_absences *absences);

/* Decide about all nodes of the call, and delete. Writes. One thread at a time. */
void node_gone(struct node_run *run);

/* Whether the node is deleted if further answers lack its instance, too, and the share allows it.
 */
bool node_gone_is_likely(const struct node_item *item);

/* The node is not there any more. */
void node_gone_forget(struct node_control *control, const char *name);

/* Why the node is still there, as the last call about it has it; NULL: its instance is not lacking.
 */
const char *node_gone_explain(const struct node_control *control, const char *name);

/* Tell how many are held, and why, when that has changed. */
void node_gone_publish(struct node_control *control);

#endif
