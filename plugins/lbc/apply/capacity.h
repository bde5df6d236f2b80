/*
 * How many more backends fit, as far as refusals tell; and the way of one group from the actual to
 * the desired backends when they do not fit beside each other. Pure: the caller makes the calls and
 * says what came of them. One thread.
 */
#ifndef CCM_LBC_CAPACITY_H
#define CCM_LBC_CAPACITY_H

#include "lbc/model/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* Of a group, or of all groups of a load balancer. Zeroed: nothing was refused yet. */
struct lbc_capacity {
    bool is_known; /* there was a refusal */
    size_t fits;   /* so many more fit for certain */
    size_t below;  /* so many do not; always more than `fits` */
    size_t lack;   /* so many have to go before anything fits: a quota that became smaller */
};

/* What the cloud says with a refusal: how many there are, and how many there may be. */
struct lbc_usage {
    size_t used;
    size_t most;
};

/* That many more backends were refused. */
void lbc_capacity_refuse(struct lbc_capacity *capacity, size_t count);
void lbc_capacity_set(struct lbc_capacity *capacity, const struct lbc_usage *usage);
/* Backends have come, or gone. */
void lbc_capacity_use(struct lbc_capacity *capacity, size_t count);
void lbc_capacity_free(struct lbc_capacity *capacity, size_t count);
/* Whether so many more are known to be refused: not worth a call. */
bool lbc_capacity_lacks(const struct lbc_capacity *capacity, size_t count);
/* Reads a message of the form "... usage 398/400 ..."; false: it does not say. */
bool lbc_capacity_parse(const char *message, struct lbc_usage *ret);

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
