#include "lbc/apply/quota.h"

#include "util/text.h"

#include <stdio.h>
#include <string.h>

void lbc_quota_fini(struct lbc_quota *room)
{
    ccm_buf_fini(&room->names);
}

void lbc_quota_set_full(struct lbc_quota *room, const struct ccm_error *err)
{
    room->full = true;
    ccm_error_copy(&room->why, err);
}

void lbc_quota_clear_full(struct lbc_quota *room)
{
    room->full = false;
}

void lbc_quota_leave_out(struct lbc_quota *room, const char *name)
{
    if (room->unnamed > 0 || room->names.len + strlen(name) + 2 > room->names.max) {
        room->unnamed++;
        return;
    }
    ccm_buf_addf(&room->names, "%s%s", room->names.len == 0 ? "" : ", ", name);
}

void lbc_quota_report(const struct lbc_quota *room, const char *what, struct lbc_problems *problems)
{
    struct ccm_error err = room->why;
    char more[40] = "";

    if (room->names.len == 0 && room->unnamed == 0) {
        return;
    }
    if (room->unnamed > 0) {
        ccm_text_printf(more, sizeof(more), " and %zu more", room->unnamed);
    }
    (void)ccm_error_set(&err, 0, room->why.kind, "%s: left out for the same lack of room: %s%s",
                        what, ccm_buf_str(&room->names), more); /* the text is what counts */
    lbc_problems_add(problems, &err, NULL);
}
