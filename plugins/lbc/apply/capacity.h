/*
 * How many more backends a group or a load balancer takes, as far as refusals tell. Pure. One
 * thread.
 */
#ifndef CCM_LBC_CAPACITY_H
#define CCM_LBC_CAPACITY_H

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

#endif
