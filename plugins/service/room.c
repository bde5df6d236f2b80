#include "service/room.h"

#include <stdio.h>
#include <string.h>

void ccm_room_fini(struct ccm_room *room)
{
    ccm_buf_fini(&room->names);
}

void ccm_room_fill(struct ccm_room *room, const struct ccm_error *err)
{
    room->full = true;
    ccm_error_copy(&room->why, err);
}

void ccm_room_free(struct ccm_room *room)
{
    room->full = false;
}

void ccm_room_leave_out(struct ccm_room *room, const char *name)
{
    if (room->unnamed > 0 || room->names.len + strlen(name) + 2 > room->names.max) {
        room->unnamed++;
        return;
    }
    ccm_buf_addf(&room->names, "%s%s", room->names.len == 0 ? "" : ", ", name);
}

void ccm_room_tell(const struct ccm_room *room, const char *what, struct ccm_problems *problems)
{
    struct ccm_error err = room->why;
    char more[40] = "";

    if (room->names.len == 0 && room->unnamed == 0) {
        return;
    }
    if (room->unnamed > 0) {
        (void)snprintf(more, sizeof(more), " and %zu more", room->unnamed); /* fits */
    }
    (void)ccm_error_set(&err, 0, room->why.kind, "%s: left out for the same lack of room: %s%s",
                        what, ccm_buf_str(&room->names), more); /* the text is what counts */
    ccm_problems_add(problems, &err, NULL);
}
