/*
 * Creations that a pass leaves out because there is no room for more of the kind: the first refusal
 * stands for those that would follow, and one problem names them all. One thread.
 */
#ifndef CCM_LBC_ROOM_H
#define CCM_LBC_ROOM_H

#include "lbc/model/problem.h"

#include <stdbool.h>

struct lbc_room {
    bool full;
    struct ccm_error why; /* the refusal */
    struct ccm_buf names; /* of what was left out */
    size_t unnamed;       /* more of them than a message can hold */
};

#define LBC_ROOM_INIT                                                                              \
    {                                                                                              \
        .full = false, .why = CCM_ERROR_INIT, .names = {.max = 560 }                               \
    }

void lbc_room_fini(struct lbc_room *room);

/* A creation was refused with that error for lack of room. */
void lbc_room_fill(struct lbc_room *room, const struct ccm_error *err);
/* Something has gone: the next creation may try again. */
void lbc_room_free(struct lbc_room *room);
/* A creation was not tried. */
void lbc_room_leave_out(struct lbc_room *room, const char *name);
/* Add what was left out, as one problem; what says what kind of step it was. */
void lbc_room_tell(const struct lbc_room *room, const char *what, struct lbc_problems *problems);

#endif
