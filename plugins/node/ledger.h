/*
 * How many Node objects were deleted lately, kept where it survives this process: each deletion is
 * written beforehand into the annotation NODE_LEDGER of a node that stays (the keeper), with all
 * others of the window, so that a restart or another leader begins with no new share. When the
 * keeper goes another node becomes it.
 *
 * What has become of a deletion may not be known: the process ended before the answer came, or the
 * API server failed. Such a one is open, and noted with the node and the version of it that it was
 * about: it counts for all other nodes, not for that one, until the API server has been asked
 * whether the node is still there. If it is, in another version or a minute later, it was never
 * deleted, and nothing counts.
 *
 * Whoever may patch nodes may edit it; a kubelet can do so with its own. More or later deletions
 * than there were hold others back for one window after each start; fewer give a new share to the
 * next process, no more. What is not of the form is skipped. Lost when the keeper is deleted by
 * somebody else while no ccmd runs, or before a new one had its first node to delete.
 *
 * One thread at a time.
 */
#ifndef CCM_NODE_LEDGER_H
#define CCM_NODE_LEDGER_H

#include "run.h"

/* As core/kube/object/decode.c keeps it: "SECONDS:COUNT SECONDS:1 UID/VERSION", since 1970; of a
 * note that is followed by a node one deletion is open. */
#define NODE_LEDGER       "ccmd/deleted-nodes"
#define NODE_LEDGER_OPEN  ((size_t)8) /* so many at a time; beyond them nothing is deleted */
#define NODE_LEDGER_NOTES (CCM_REMOVAL_MOMENTS + NODE_LEDGER_OPEN)

struct node_ledger {
    bool known;       /* the budget has what earlier processes deleted */
    char keeper[254]; /* "" = nobody has it yet */
    char keeper_uid[64];
    struct node_ledger_open {
        char name[254];
        char uid[64];
        char version[64];
        int64_t at_ms;    /* monotonic: of the deletion */
        int64_t asked_ms; /* the call that asked about it last; 0 = none has */
    } open[NODE_LEDGER_OPEN];
    size_t open_count;
};

/* What a text says. */
struct node_ledger_text {
    struct node_ledger_note {
        int64_t at_s;
        uint64_t count; /* with those that are open */
    } notes[NODE_LEDGER_NOTES];
    size_t len;
    struct node_ledger_name {
        size_t note; /* index of the one that it belongs to */
        char uid[64];
        char version[64];
    } names[NODE_LEDGER_OPEN];
    size_t name_count;
};

/* Deletions of a text (NULL: none) after since_s, oldest first, those later than now_s as of now.
 * Pure. */
void node_ledger_parse(const char *text, int64_t since_s, int64_t now_s,
                       struct node_ledger_text *ret);

/* Put what earlier processes have deleted within the window into the budget, which has seen no
 * deletion yet; only the first time. 0, or -1: it cannot be read now. */
CCM_NODISCARD int node_ledger_read(struct node_ledger *ledger, const struct node_run *run,
                                   struct ccm_removal_budget *budget);

/* Write that this node, as the API server has it, goes, beside all of the budget; it is open then.
 * 0 or negative with err: then it may not go. Of a node that is the only one nothing is written.
 * Blocks. */
CCM_NODISCARD int node_ledger_write(struct node_ledger *ledger, const struct node_run *run,
                                    const struct ccm_object *node,
                                    const struct ccm_removal_budget *budget, struct ccm_error *err);

/* What has become of the deletion of that node is known: the budget has it if it counts. */
void node_ledger_close(struct node_ledger *ledger, const char *uid);

/* Ask the API server about those that are open, once in a call of reconcile: what is gone goes into
 * the budget, `size` nodes being there. Blocks. */
void node_ledger_ask(struct node_ledger *ledger, const struct node_run *run,
                     struct ccm_removal_budget *budget, size_t size);

/* How many are open of other nodes than that one. */
size_t node_ledger_count_others(const struct node_ledger *ledger, const char *uid);

/* Has another node keep it when the keeper has gone; what fails is tried again the next time.
 * Blocks. */
void node_ledger_move(struct node_ledger *ledger, const struct node_run *run,
                      const struct ccm_removal_budget *budget);

#endif
