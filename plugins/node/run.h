/* One call of reconcile: its keys, the nodes that it is about, and what becomes of each. */
#ifndef CCM_NODE_RUN_H
#define CCM_NODE_RUN_H

#include "api.h"
#include "node.h"

#define NODE_NOBODY SIZE_MAX

/* What the cloud said about the instance of a node. */
enum node_answer {
    NODE_NOT_ASKED,
    NODE_FOUND,
    NODE_ABSENT,   /* not in an answer that has one that is there for certain */
    NODE_UNPROVED, /* not in an answer that proves nothing */
};

struct node_item {
    const struct ccm_object *object; /* owned */
    struct node_subject subject;
    size_t key; /* index in req->keys; NODE_NOBODY: the periodic look came by */
    enum node_answer answer;
    const cJSON *machine;            /* when it was found */
    char witness[ALI_PROVIDER_PART]; /* who was there for certain, when it is absent */
    bool closed;                     /* its interface does not forward yet: the taint stays */
    bool forwards;                   /* of a dry run: its interface is to forward */
    bool failed;                     /* err says why */
    bool shared;                     /* with others, for one reason */
    bool waits;                      /* for the turn of a call, run->wait_ms */
    uint64_t again_ms;               /* when to look again although all is well; 0 = on change */
    struct ccm_error err;
    char problem[240]; /* what is wrong although it did not fail; "" = nothing */
};

struct node_run {
    struct node_control *control;
    const struct ccm_request *req;
    int64_t started_ms;
    bool dry; /* nothing may be changed */

    struct node_item *items;
    size_t len;
    size_t cap;
    size_t pass_key;  /* NODE_NOBODY: none of the keys is the periodic look */
    char *page_end;   /* where the look goes on if all of it succeeds; NULL = it is through */
    size_t page_rest; /* pages behind it */

    struct node_answers answers;
    size_t halves;         /* calls for ids that the cloud does not take */
    uint64_t wait_ms;      /* when calls that were put off come again; 0 = none was */
    struct ccm_error sync; /* why something failed as a whole; kind 0 = it did not */
};

static inline const struct ccm_node *node_item_object(const struct node_item *item)
{
    return (const struct ccm_node *)item->object;
}

/* Take a node into the call; key NODE_NOBODY: unless it is in it already. 0 or -ENOMEM. The object
 * is owned by the run then, in any case. */
CCM_NODISCARD int node_run_add(struct node_run *run, const struct ccm_object *object, size_t key);
void node_run_fini(struct node_run *run);

/* Note a failure; the first one counts. shared: it is that of many, err of all of them. A call that
 * was put off is none: the node waits. */
void node_run_fail(struct node_run *run, struct node_item *item, const struct ccm_error *err,
                   bool shared);

/* Who calls the cloud for this run. */
struct node_call node_run_call(const struct node_run *run);

#endif
