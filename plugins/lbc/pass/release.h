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
