/*
 * How many Node objects were deleted lately, kept where it survives this process: each deletion is
 * written beforehand into the annotation NODE_LEDGER of a node that stays (the keeper), with all
 * others of the window, so that a restart or another leader begins with no new share. When the
 * keeper goes another node becomes it.
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

/* As core/kube/object/decode.c keeps it: "SECONDS:COUNT SECONDS:COUNT", since 1970. */
#define NODE_LEDGER       "ccmd/deleted-nodes"
#define NODE_LEDGER_NOTES (CCM_REMOVAL_MOMENTS + 1)

struct node_ledger {
    bool known;       /* the budget has what earlier processes deleted */
    char keeper[254]; /* "" = nobody has it yet */
    char keeper_uid[64];
};

struct node_ledger_note {
    int64_t at_s;
    uint64_t count;
};

/* Deletions of a text (NULL: none) after since_s, oldest first, those later than now_s as of now.
 * notes has room for NODE_LEDGER_NOTES. Returns how many; there are no more than that. Pure. */
size_t node_ledger_parse(const char *text, int64_t since_s, int64_t now_s,
                         struct node_ledger_note *notes);

/* Put what earlier processes have deleted within the window into the budget, which has seen no
 * deletion yet; only the first time. 0, or -1: it cannot be read now. */
CCM_NODISCARD int node_ledger_read(struct node_ledger *ledger, const struct node_run *run,
                                   struct ccm_removal_budget *budget);

/* Write that this node goes, beside all of the budget. 0 or negative with err: then it may not go.
 * Of a node that is the only one nothing is written. Blocks. */
CCM_NODISCARD int node_ledger_write(struct node_ledger *ledger, const struct node_run *run,
                                    const struct node_item *item,
                                    const struct ccm_removal_budget *budget, struct ccm_error *err);

/* Has another node keep it when the keeper has gone; what fails is tried again the next time.
 * Blocks. */
void node_ledger_move(struct node_ledger *ledger, const struct node_run *run,
                      const struct ccm_removal_budget *budget);

#endif
