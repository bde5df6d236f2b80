#include "lbc/look.h"

#include "lbc/creation.h"
#include "lbc/pass.h"
#include "util/text.h"

/* Somebody else than we has changed what we keep on the Service. */
static bool look_is_foreign(struct lbc_pass *pass)
{
    struct lbc_look *look = &pass->entry->look;
    const bool touched = look->touched;

    look->touched = false;
    return touched && !lbc_life_shows_ours(&pass->life, pass->service);
}

/* Until when no further look is taken; in the past when it may be taken now. */
static int64_t look_free_ms(const struct lbc_look *look)
{
    return look->last_ms == 0 ? INT64_MIN : look->last_ms + LBC_LOOK_PAUSE_MS;
}

static void look_requeue(const struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    const int64_t now_ms = host->now_ms(host);
    const int64_t free_ms = look_free_ms(&pass->entry->look);

    host->enqueue(host, pass->service->meta.key, CCM_LANE_SPEC,
                  free_ms > now_ms ? (uint64_t)(free_ms - now_ms) : 0);
}

void lbc_look_again_later(struct lbc_pass *pass)
{
    struct lbc_look *look = &pass->entry->look;

    if (look->late_ms == 0) {
        look->late_ms = pass->lbc->host->now_ms(pass->lbc->host) + LBC_CREATION_LAG_MS;
    }
}

void lbc_look_begin(struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    struct lbc_entry *entry = pass->entry;
    struct lbc_look *look = &entry->look;
    const uint64_t hash = ccm_text_hash(pass->hash.text) | 1; /* never 0 */

    look->foreign = look_is_foreign(pass) || look->foreign;
    const bool edited = look->asked || (look->hash != 0 && look->hash != hash);

    if (edited) {
        lbc_creation_forgive(&entry->creation);
    }
    pass->look.late = look->late_ms != 0 && host->now_ms(host) >= look->late_ms;
    look->wanted = pass->look.late || look->wanted || look->foreign || edited;
    look->hash = hash;
    pass->look.remembered = lbc_entry_has_lb(entry);
    if (look->wanted && !look->asked && pass->look.remembered &&
        host->now_ms(host) < look_free_ms(look)) {
        pass->look.put_off = true;
        look_requeue(pass);
        return;
    }
    look->late_ms = pass->look.late ? 0 : look->late_ms;
    if (look->wanted && pass->look.remembered) {
        look->last_ms = host->now_ms(host);
        pass->look.looked = true;
        pass->look.remembered = false;
        lbc_entry_put_aside(entry);
    }
    pass->look.asked = look->asked;
    look->asked = false;
    look->wanted = false; /* without a mirror it is read in any case */
    look->foreign = false;
}

static bool look_uses_mirror_alone(const struct lbc_pass *pass)
{
    return pass->look.remembered && pass->writes == 0;
}

/* The hash label says that all is done. */
static bool look_is_new_success(const struct lbc_pass *pass)
{
    return pass->problems.count == 0 && pass->refused.problems.count == 0 &&
           pass->hash.verdict != LBC_HASH_SAME;
}

bool lbc_look_is_unverified(struct lbc_pass *pass)
{
    struct lbc_look *look = &pass->entry->look;

    if (!look_uses_mirror_alone(pass)) {
        return false;
    }
    if (pass->look.put_off) {
        return look->foreign;
    }
    look->wanted = look_is_new_success(pass);
    if (look->wanted) {
        look_requeue(pass);
    }
    return look->wanted;
}
