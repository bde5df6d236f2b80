#include "lbc/service/written.h"

#include "util/text.h"

#define UNKNOWN     1
#define FIRST       2      /* of the numbers that stand for a content */
#define DISTRUST_MS 120000 /* so long may a watch be broken before anybody notices */

uint64_t lbc_written_what(const char *text)
{
    const uint64_t hash = ccm_text_hash(text); /* nobody gains by a collision */

    return hash < FIRST ? hash + FIRST : hash;
}

enum lbc_written_verdict lbc_written_decide(const struct lbc_written *slot, int64_t seen_ms,
                                            bool shown, uint64_t want)
{
    const int64_t age_ms = seen_ms - slot->ms; /* negative: written since */

    if (slot->what != 0 && slot->what != want && age_ms < DISTRUST_MS) {
        return LBC_WRITTEN_ANEW;
    }
    if (shown) {
        return LBC_WRITTEN_WELL;
    }
    return slot->what == want && age_ms < LBC_WRITTEN_LAG_MS ? LBC_WRITTEN_COMING
                                                             : LBC_WRITTEN_WRITE;
}

void lbc_written_record(struct lbc_written *slot, int64_t now_ms, int r, uint64_t what)
{
    slot->what = r < 0 ? UNKNOWN : what;
    slot->ms = now_ms;
}
