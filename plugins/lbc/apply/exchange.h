/*
 * The order of additions and removals in one group that has no room for old and new backends beside
 * each other: portions leave, and others take their places. Where there is room, all additions come
 * before all removals: plan_groups.c:target_change_backends(); after a failed addition none go that
 * the group needs: executor.c:step_would_starve(). Pure: executor_exchange.c makes the calls and
 * says what came of them. One thread.
 */
#ifndef CCM_LBC_EXCHANGE_H
#define CCM_LBC_EXCHANGE_H

#include "lbc/apply/capacity.h"
#include "lbc/model/backend.h"

enum lbc_exchange_move {
    LBC_EXCHANGE_END,
    LBC_EXCHANGE_ADD,
    LBC_EXCHANGE_REMOVE,
};

/*
 * Old backends go in portions, at most half of those that serve per call, and new ones take their
 * places before the next portion goes: the group serves all the while, unless only one backend
 * fits. In the end it has what is wanted, or as much of it as fits. Finding out how much fits takes
 * three refusals at most, the first one included.
 */
struct lbc_exchange {
    struct lbc_backends add;       /* still to come */
    struct lbc_backends remove;    /* still to go */
    size_t stays;                  /* what is there, serves, and is not in `remove` */
    size_t batch;                  /* backends per call */
    struct lbc_capacity *capacity; /* borrowed; may be that of several groups */
    bool is_single;                /* a portion was refused: the next ones are of one */
    unsigned surprises;            /* refusals of what must have fitted */
    bool is_robbed;                /* so often that somebody else takes what goes */
    bool is_failed;                /* an addition failed for another reason */
    bool is_stuck;                 /* a removal failed */
    bool lacks;                    /* backends were left out of `add`: none replaces the last one */
};

void lbc_exchange_fini(struct lbc_exchange *exchange);

/* The next call, with its backends appended to an empty set; then call one of the three below.
 * LBC_EXCHANGE_END: what is left in `add` did not fit, or failed. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_exchange_next(const struct lbc_exchange *exchange,
                                    enum lbc_exchange_move *ret_move,
                                    struct lbc_backends *ret_part);
void lbc_exchange_done(struct lbc_exchange *exchange, enum lbc_exchange_move move,
                       const struct lbc_backends *part);
/* An addition was refused for want of capacity. usage: what the cloud says about it, NULL =
 * nothing; with several quotas it may say something else the next time. */
void lbc_exchange_refuse(struct lbc_exchange *exchange, const struct lbc_backends *part,
                         const struct lbc_usage *usage);
/* Any other failure. */
void lbc_exchange_fail(struct lbc_exchange *exchange, enum lbc_exchange_move move);
/* Something has become free elsewhere: what did not fit may be tried again. */
void lbc_exchange_renew(struct lbc_exchange *exchange);

#endif
