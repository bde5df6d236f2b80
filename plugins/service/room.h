/*
 * Creations that a pass leaves out because there is no room for more of the kind: the first refusal
 * stands for those that would follow, and one problem names them all. One thread.
 */
#ifndef CCM_SERVICE_ROOM_H
#define CCM_SERVICE_ROOM_H

#include "service/problem.h"

#include <stdbool.h>

struct ccm_room {
    bool full;
    struct ccm_error why; /* the refusal */
    struct ccm_buf names; /* of what was left out */
    size_t unnamed;       /* more of them than a message can hold */
};

#define CCM_ROOM_INIT                                                                              \
    {                                                                                              \
        .full = false, .why = CCM_ERROR_INIT, .names = {.max = 560 }                               \
    }

void ccm_room_fini(struct ccm_room *room);

/* A creation was refused with that error for lack of room. */
void ccm_room_fill(struct ccm_room *room, const struct ccm_error *err);
/* Something has gone: the next creation may try again. */
void ccm_room_free(struct ccm_room *room);
/* A creation was not tried. */
void ccm_room_leave_out(struct ccm_room *room, const char *name);
/* Add what was left out, as one problem; what says what kind of step it was. */
void ccm_room_tell(const struct ccm_room *room, const char *what, struct ccm_problems *problems);

#endif
