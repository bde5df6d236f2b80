/* What people are told. One thread at a time. */
#ifndef CCM_NODE_EVENTS_H
#define CCM_NODE_EVENTS_H

#include "run.h"

/* What is wrong with each node of the call, or that it is not any more. */
void node_emit_items(struct node_run *run);

/* Why a call of the cloud failed for all of its nodes; that none did. */
void node_emit_sync(struct node_run *run);

/* The node is gone: nothing stands about it any more. */
void node_events_forget(struct node_control *control, const char *name);

/* One that is over at once. */
void node_emit_event(const struct node_control *control, const struct ccm_object *object,
                     bool warning, const char *reason, const char *message);

/* One that lasts, about a node; message "": it is over. cause NULL: the message. */
#define NODE_TOPIC_TWIN "twin"

struct node_standing {
    const char *reason; /* NULL = SyncNodeFailed */
    const char *topic;
    const char *cause;
    const char *message;
    uint64_t after_ms; /* said only when it has not ended by then */
};
void node_stand(struct node_control *control, const struct ccm_object *object,
                const struct node_standing *what);

#endif
