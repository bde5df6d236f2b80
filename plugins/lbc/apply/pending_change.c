#include "lbc/apply/pending_change.h"

#include <string.h>

void lbc_pending_change_record(struct lbc_pending_change *change, uint64_t before, uint64_t wanted,
                               int64_t now_ms)
{
    *change = (struct lbc_pending_change){ .before = before, .wanted = wanted, .ms = now_ms };
}

bool lbc_pending_change_stands(const struct lbc_pending_change *change, uint64_t before,
                               uint64_t wanted, int64_t now_ms)
{
    return change->wanted != 0 && change->before == before && change->wanted == wanted &&
           now_ms - change->ms < LBC_PENDING_CHANGE_MS;
}

void lbc_pending_change_see(struct lbc_pending_change *change, uint64_t shown)
{
    if (change->wanted == shown) {
        memset(change, 0, sizeof(*change));
    }
}
