/*
 * What is remembered of the creations of one Service's load balancer, and whether another one may
 * be sent when none is found. A list by tags may be late: for some time after a creation, or after
 * a restart, it may lack a load balancer that exists. One that vanishes each time is not created
 * without end. Pure; the holder of the claim.
 */
#ifndef CCM_LBC_CREATION_H
#define CCM_LBC_CREATION_H

#include <stdbool.h>
#include <stdint.h>

#define LBC_CREATION_LAG_MS   60000  /* so long a list by tags may lack what was created */
#define LBC_CREATION_MOST     3      /* without one that serves; then they pause */
#define LBC_CREATION_PAUSE_MS 600000 /* as long as what fails for good waits at least */

/* Starts zeroed. */
struct lbc_creation {
    bool bound_here; /* this process put the finalizer on, so no earlier one has created anything */
    bool sent;       /* with this ClientToken one was asked for, and its end is not known */
    bool named;      /* and it was looked for by name since then */
    bool late;       /* one may exist that no list by tags has shown yet */
    uint32_t attempt; /* part of the ClientToken */
    uint32_t count;   /* sent since a load balancer last served the Service */
    int64_t asked_ms; /* monotonic: when the last of these was sent, or when one of an earlier
                         process was first thought of; 0 = never */
    int64_t taken_ms; /* monotonic: since when the cloud has said that the ClientToken stands for
                         another request; 0 = it has not */
};

enum lbc_creation_verdict {
    LBC_CREATION_NOW,
    LBC_CREATION_LATER,   /* look again first */
    LBC_CREATION_NO_MORE, /* until the Service changes, an operator asks, or the pause is over */
};

/* One was sent. made: the load balancer exists; else it may. once: a repeated creation creates no
 * second one. */
void lbc_creation_record(struct lbc_creation *creation, bool made, bool once, int64_t now_ms);
/* The ClientToken stands for another request, says the cloud. It was used up, so the next creation
 * takes another; or that request may have made what is there, which is looked for first. */
void lbc_creation_end_token(struct lbc_creation *creation, int64_t now_ms);
/* Nothing that was created is left: what follows is another creation, of this process. */
void lbc_creation_start_over(struct lbc_creation *creation);
/* A list has shown the load balancer. */
void lbc_creation_found(struct lbc_creation *creation);
/* It serves, or a person has changed something, so that it may succeed now. */
void lbc_creation_forgive(struct lbc_creation *creation);
/* Whether one was sent so lately that a list by tags may lack it. */
bool lbc_creation_is_new(const struct lbc_creation *creation, int64_t now_ms);

/* No load balancer was found: whether one may be created. once: as above. earlier: a process before
 * this one may have. *ret_wait_ms, with LBC_CREATION_LATER: until the next look. */
enum lbc_creation_verdict lbc_creation_judge(struct lbc_creation *creation, bool once, bool earlier,
                                             int64_t now_ms, uint64_t *ret_wait_ms);

#endif
