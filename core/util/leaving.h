/*
 * What is there and not wanted, although no one asked for its removal: backends of a group, routes
 * of a table, Node objects, load balancers without a Service. Absence is no order to delete. The
 * caller says of each how certain it is and from when on it may go; the rule and the budget are
 * those of removal_budget.h. Pure, but for what is published; one thread.
 */
#ifndef CCM_UTIL_LEAVING_H
#define CCM_UTIL_LEAVING_H

#include "util/attr.h"
#include "util/removal_budget.h"
#include "util/strmap.h"

#define CCM_LEAVING_RANKS 4

struct ccm_leaving {
    unsigned rank;  /* below CCM_LEAVING_RANKS; the lowest goes first: most certainly gone */
    bool provable;  /* the cloud can confirm that it is gone */
    bool proven;    /* it has confirmed it: this one goes, and takes nothing of the budget */
    bool goes;      /* out */
    bool asks;      /* out: it stays because of the budget alone, and is provable */
    int64_t due_ms; /* monotonic; it goes no earlier. CCM_REMOVAL_NEVER: something has to change */
    int64_t
        again_ms; /* when to decide again; in: as long as it is not due; out: of one that stays */
};

/* When it may go: now if its deletion was seen, else when it has been missing for long enough. */
int64_t ccm_leaving_due_ms(const struct ccm_removal_rule *rule, bool seen, int64_t since_ms,
                           int64_t server_since_ms, int64_t now_ms);

/* A search for what has no owner: `seen` has what this look has found so far, `before` what the
 * one before it found (NULL = there was none), each with the time of the first look in a row that
 * found it. *ret_first_ms: that of key; 0 = this look is the first. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_leaving_see(const struct ccm_strmap *before, struct ccm_strmap *seen,
                                  const char *key, int64_t now_ms, int64_t *ret_first_ms);

/* Decide about all that leave one thing of this size. Notes the size in the budget; what has gone
 * the caller records. Returns when to decide again, CCM_REMOVAL_NEVER = when something changes. */
int64_t ccm_leaving_decide(const struct ccm_removal_rule *rule, struct ccm_removal_budget *budget,
                           size_t size, int64_t now_ms, struct ccm_leaving *cases, size_t count);

/* What stays, for people. */
struct ccm_leaving_held {
    const char *component; /* of the event on the Lease, as its topic */
    const char *topic;
    const char *object; /* of note_held(); NULL = it is not noted there */
    uint64_t count;     /* 0 = nothing stays any more */
    const char *reason; /* for note_held() */
    const char *text;   /* of the event */
};

/* Note what stays, and report it by the event RemovalsHeld: the first of it, then when there is
 * twice as much. *reported: how much was reported last. */
void ccm_leaving_publish(const struct ccm_host *host, const struct ccm_leaving_held *held,
                         uint64_t *reported);

#endif
