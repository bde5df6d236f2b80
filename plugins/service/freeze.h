/*
 * The rule about backends that nobody wants any more, but that somebody has not sent away either:
 * their node is not ready, or a node or an EndpointSlice is missing. Absence is no order to delete.
 * Some go, the others are frozen: they stay in their group as they are. Pure; one thread.
 *
 *   node not ready       goes when another backend stays, and the floor allows it
 *   node missing         its deletion was seen: when the floor allows it, or the cloud says that
 * the instance is gone; else not before it has been missing for some time slice missing        the
 * same, but nobody can be asked
 *
 * The floor: util/removal_budget.h, per group. A person may lift all of it for a time.
 */
#ifndef CCM_SERVICE_FREEZE_H
#define CCM_SERVICE_FREEZE_H

#include "service/backend.h"
#include "util/attr.h"
#include "util/removal_budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ccm_freeze_cause {
    CCM_FREEZE_NONE, /* somebody said so: it goes at once */
    CCM_FREEZE_NOT_READY,
    CCM_FREEZE_NODE,
    CCM_FREEZE_SLICE,
};

/* One backend that is there and not wanted. */
struct ccm_freeze_case {
    enum ccm_freeze_cause cause; /* not CCM_FREEZE_NONE */
    bool seen;                   /* a watch saw the deletion */
    int64_t since_ms;            /* else: missing since then, monotonic */
    bool goes;                   /* out */
    bool asks;                   /* out: it stays, unless the cloud says that it is gone */
};

/* What went from one group because of nodes or slices. Zeroed memory is an empty one. */
struct ccm_freeze_past {
    struct ccm_freeze_gone {
        char *server;
        char *address;
        uint16_t port;
        uint8_t type;
        uint32_t size; /* of the group before */
        int64_t at_ms;
    } * items; /* in order of time */
    size_t len;
    size_t cap;
};

void ccm_freeze_past_fini(struct ccm_freeze_past *past);
/* Out of memory forgets. */
void ccm_freeze_past_note(struct ccm_freeze_past *past, const struct ccm_backend *one, size_t size,
                          int64_t now_ms);
/* Forget what counts no more: of more than a window ago, and what is there again or wanted again:
 * nodes that come back have not gone. */
void ccm_freeze_past_prune(struct ccm_freeze_past *past, const struct ccm_removal_rule *rule,
                           const struct ccm_backends *have, const struct ccm_backends *want,
                           int64_t now_ms);

struct ccm_absent; /* absence.h */

/* One present group, as a pass hands it on, see freeze_pass.h. */
struct ccm_freeze_group {
    const char *id;                  /* borrowed, as the next two */
    struct ccm_backends *want;       /* where what stays is put */
    const struct ccm_backends *have; /* what is there */
    struct ccm_backends leaving;     /* of it: ours, and not wanted; moved */
    size_t size;                     /* of it: ours */
    size_t staying;                  /* wanted, by whoever shares the group */
    /* The rest is filled in; one per leaving backend that is not simply sent away. */
    struct ccm_freeze_case *cases;
    struct ccm_absent *absents; /* what is known of its node */
    size_t *items;              /* its place in `leaving` */
    size_t count;
};

/* What the decision about a group goes by; borrowed. */
struct ccm_freeze_input {
    const struct ccm_removal_rule *rule;
    const struct ccm_freeze_past *past; /* pruned */
    size_t size;                        /* backends of ours that are there */
    size_t staying;                     /* that are wanted */
    int64_t server_since_ms;            /* host->server_since_ms() */
    int64_t now_ms;
};

/* Decide about all cases of a group. Returns when to decide again, monotonic, CCM_REMOVAL_NEVER =
 * when something changes. */
int64_t ccm_freeze_judge(const struct ccm_freeze_input *in, struct ccm_freeze_case *cases,
                         size_t count);

#endif
