/*
 * What is remembered of a release between the passes of one Service. What a pass does: pass.h.
 */
#ifndef CCM_LBC_RELEASE_H
#define CCM_LBC_RELEASE_H

#include <stdbool.h>

/* How far it is. */
enum lbc_release_stage {
    LBC_RELEASE_NONE,    /* the Service is wanted, or something of it is left */
    LBC_RELEASE_GONE,    /* nothing of ours is left in the cloud */
    LBC_RELEASE_CLEANED, /* nor at the Service: finalizer, labels and address are taken away */
};

/* Starts zeroed. */
struct lbc_release_memory {
    enum lbc_release_stage stage;
    bool left_alone; /* its load balancer stays, since it is not the Service's any more */
    bool several;    /* the last look by tag or name found more than its own */
};

/* In one pass. Starts zeroed. */
struct lbc_release_now {
    bool insists;   /* its load balancer goes, ready or not */
    bool last_user; /* no other Service uses a person's load balancer */
    bool several;   /* there is another load balancer of the Service after this one */
};

static inline bool lbc_release_insists(const struct lbc_release_now *now)
{
    return now->insists;
}
static inline bool lbc_release_is_last_user(const struct lbc_release_now *now)
{
    return now->last_user;
}
static inline void lbc_release_note_last_user(struct lbc_release_now *now, bool last_user)
{
    now->last_user = last_user;
}
/* Whether a look has found another one. */
static inline void lbc_release_note_more(struct lbc_release_now *now, bool more)
{
    now->several = more;
}
/* The Service is wanted, after all. */
static inline void lbc_release_reopen(struct lbc_release_memory *memory)
{
    memory->stage = LBC_RELEASE_NONE;
}
static inline bool lbc_release_is_gone(const struct lbc_release_memory *memory)
{
    return memory->stage != LBC_RELEASE_NONE;
}
/* What a look by tag or name has found. */
static inline void lbc_release_note_several(struct lbc_release_memory *memory, bool several)
{
    memory->several = several;
}

#endif
