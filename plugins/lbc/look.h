/*
 * When a person's edit has the mirror read again. Changes made by machines go by the mirror. When
 * the hash of a Service changes, or somebody changes what we keep on it (finalizer, labels,
 * status), the next pass reads the cloud before it decides: once in ten seconds per Service. An
 * edit within these ten seconds is carried out by the mirror, and the look follows when they are
 * over, unless an operator asks for it (lbc_mirrors_ask()). Success is never reported from an older
 * mirror, and a status that somebody cleared is not written from it: the look comes first. Holder
 * of the claim only; nothing blocks.
 */
#ifndef CCM_LBC_LOOK_H
#define CCM_LBC_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct lbc_pass;

#define LBC_LOOK_PAUSE_MS 10000 /* between two looks at one Service */

/* Of one Service. Starts zeroed. */
struct lbc_look {
    uint64_t hash;   /* stands for the Service as the last pass saw it; 0 = none yet */
    int64_t last_ms; /* monotonic: when an edit last made us read; 0 = never */
    bool touched;    /* what we keep on the Service has changed, by whom is not known yet */
    bool wanted;     /* an edit still waits for its look */
    bool asked;      /* an operator asks for one: at once, whenever the last one was */
    bool foreign;    /* and it changed what we keep on the Service */
    int64_t
        late_ms; /* monotonic: when what was read from late lists is read again; 0 = not at all */
};

/* In one pass. Starts zeroed. */
struct lbc_look_now {
    bool remembered; /* it begins with the mirror of an earlier pass */
    bool looked;     /* the mirror was put aside because of a person's edit */
    bool asked;      /* an operator asked for it: the answer is an event */
    bool put_off;    /* a person's edit that is compared later */
    bool late;       /* what an earlier process left may show now: that is no change by others */
};

/* In these two the pass believes only what it reads itself. */
static inline bool lbc_look_is_taken(const struct lbc_look_now *now)
{
    return now->looked;
}
static inline bool lbc_look_is_asked(const struct lbc_look_now *now)
{
    return now->asked;
}

static inline bool lbc_look_is_put_off(const struct lbc_look_now *now)
{
    return now->put_off;
}
/* Before a pass that ensures, with pass->hash set. Puts the mirror aside if the look is due
 * (lbc_look_is_taken()), or enqueues the Service for when it will be (lbc_look_is_put_off()). */
void lbc_look_begin(struct lbc_pass *pass);
/* What was read may lack parts that were created shortly before, and that nothing asks for any
 * more: it is read once more when no list is late any longer. */
void lbc_look_again_later(struct lbc_pass *pass);

/* Before something is published: whether only the mirror vouches for it, so that a look has to come
 * first. The Service is enqueued for it. */
bool lbc_look_is_unverified(struct lbc_pass *pass);

#endif
