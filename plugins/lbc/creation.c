#include "lbc/creation.h"

#define FIRST_MS 1000 /* until the second look; then each time as long as it took so far */

void lbc_creation_record(struct lbc_creation *creation, bool made, bool once, int64_t now_ms)
{
    if (!made) {
        creation->sent = true;
        creation->named = false;
    }
    if (made || !once) {
        creation->late = true;
        creation->count++;
        creation->asked_ms = now_ms;
    }
}

void lbc_creation_end_token(struct lbc_creation *creation, int64_t now_ms)
{
    creation->taken_ms = creation->taken_ms == 0 ? now_ms : creation->taken_ms;
    creation->named = false;
    if ((creation->bound_here && !creation->sent) ||
        now_ms - creation->taken_ms >= LBC_CREATION_LAG_MS) {
        creation->sent = false;
        creation->taken_ms = 0;
        creation->attempt++;
    }
}

void lbc_creation_start_over(struct lbc_creation *creation)
{
    *creation = (struct lbc_creation){ .bound_here = true, .attempt = creation->attempt + 1 };
}

void lbc_creation_found(struct lbc_creation *creation)
{
    creation->sent = false;
    creation->named = true;
    creation->late = false;
    creation->taken_ms = 0;
}

void lbc_creation_forgive(struct lbc_creation *creation)
{
    creation->count = 0;
}

bool lbc_creation_is_new(const struct lbc_creation *creation, int64_t now_ms)
{
    return creation->late && now_ms - creation->asked_ms < LBC_CREATION_LAG_MS;
}

enum lbc_creation_verdict lbc_creation_judge(struct lbc_creation *creation, bool once, bool earlier,
                                             int64_t now_ms, uint64_t *ret_wait_ms)
{
    if (!once && earlier && creation->asked_ms == 0) {
        creation->late = true;
        creation->asked_ms = now_ms;
    }

    const int64_t passed = now_ms - creation->asked_ms;

    if (!once && lbc_creation_is_new(creation, now_ms)) {
        const int64_t left = LBC_CREATION_LAG_MS - passed;
        const int64_t next = passed < FIRST_MS ? FIRST_MS : passed;

        *ret_wait_ms = (uint64_t)(next < left ? next : left);
        return LBC_CREATION_LATER;
    }
    return creation->count >= LBC_CREATION_MOST && passed < LBC_CREATION_PAUSE_MS
               ? LBC_CREATION_NO_MORE
               : LBC_CREATION_NOW;
}
