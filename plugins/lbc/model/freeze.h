/*
 * The guard against mass removal: the rule for backends that are not wanted any more, although
 * nobody sent them away: their node is not ready, or a node or an EndpointSlice is missing, or only
 * a rule of ccmd's own is against them. Absence is no order to delete. Some go, the others are
 * frozen: they stay in their group as they are.
 * util/leaving.h decides, with a budget per group. A person may lift all of it for a time. Which of
 * the causes it is, freeze_cause.c finds out (lbc_freeze_find_cause()); freeze_pass.c applies the
 * rule in a pass (lbc_freeze_end()). Routes have a floor of their own: route/floor.c. Pure; one
 * thread.
 */
/* clang-format off: a table */
/*
 *   node not ready   goes when another backend stays, and the floor allows it
 *   node missing     its deletion was seen: goes when the floor allows it, or when the cloud says
 *                    that the instance is gone; else not before it has been missing for some time
 *   slice missing    the same, but nobody can be asked
 *   own rule         stays until its endpoint is not ready any more, or its node is gone: those are
 *                    other causes
 */
/* clang-format on */
#ifndef CCM_LBC_FREEZE_H
#define CCM_LBC_FREEZE_H

#include "lbc/model/backend.h"
#include "lbc/model/own_rule.h"
#include "util/attr.h"
#include "util/leaving.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lbc_freeze_cause {
    LBC_FREEZE_NONE, /* somebody said so: it goes at once */
    LBC_FREEZE_NOT_READY,
    LBC_FREEZE_NODE,
    LBC_FREEZE_SLICE,
    LBC_FREEZE_RULE, /* of own_rule.h */
};

/* One backend that is there and not wanted. */
struct lbc_freeze_case {
    enum lbc_freeze_cause cause; /* not LBC_FREEZE_NONE */
    enum lbc_own_rule rule;      /* of LBC_FREEZE_RULE */
    bool seen;                   /* a watch saw the deletion */
    int64_t since_ms;            /* else: missing since then, monotonic */
};

/* What went from one group because of nodes or slices. Zeroed memory is an empty one. */
struct lbc_freeze_past {
    struct lbc_freeze_gone {
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

void lbc_freeze_past_fini(struct lbc_freeze_past *past);
/* Out of memory forgets. */
void lbc_freeze_past_record(struct lbc_freeze_past *past, const struct lbc_backend *one,
                            size_t size, int64_t now_ms);
/* Forget what counts no more: of more than a window ago, and what is there again or wanted again:
 * nodes that come back have not gone. */
void lbc_freeze_past_prune(struct lbc_freeze_past *past, const struct ccm_removal_rule *rule,
                           const struct lbc_backends *have, const struct lbc_backends *want,
                           int64_t now_ms);

struct lbc_absent; /* absence.h */

/* One present group, as a pass hands it on, see freeze_pass.h. */
struct lbc_freeze_group {
    const char *id;                  /* borrowed, as the next two */
    struct lbc_backends *want;       /* where what stays is put */
    const struct lbc_backends *have; /* what is there */
    struct lbc_backends leaving;     /* of it: ours, and not wanted; moved */
    size_t size;                     /* of it: ours */
    size_t staying;                  /* wanted, by whoever shares the group */
    /* The rest is filled in; one per leaving backend that is not simply sent away. */
    struct lbc_freeze_case *cases;
    struct ccm_leaving *decided;
    struct lbc_absent *absents; /* what is known of its node */
    size_t *items;              /* its place in `leaving` */
    size_t count;
};

/* What the decision about a group goes by; borrowed. */
struct lbc_freeze_input {
    const struct ccm_removal_rule *rule;
    const struct lbc_freeze_past *past; /* pruned */
    size_t size;                        /* backends of ours that are there */
    size_t staying;                     /* that are wanted */
    int64_t server_since_ms;            /* host->server_since_ms() */
    int64_t now_ms;
};

/* Decide about all cases of a group, see ccm_leaving_decide(). */
int64_t lbc_freeze_decide(const struct lbc_freeze_input *in, const struct lbc_freeze_case *cases,
                          struct ccm_leaving *ret, size_t count);

#endif
