#include "alicloud/quota/share.h"

#define RISE_PART  32 /* of the quota, per window */
#define FLOOR_PART 16
#define PAUSE_PART 64 /* of a window: the first pause without a hint; then twice as long */
#define PAUSE_MOST 7  /* doublings */
#define HINT_MOST  60000

static int64_t part_of(int64_t quota, int64_t part)
{
    return quota < part ? 1 : quota / part;
}

void ali_quota_share_init(struct ali_quota_share *share, int64_t quota, int64_t now_ms,
                          int64_t window_ms)
{
    *share = (struct ali_quota_share){
        .quota = quota,
        .allowed = quota,
        .rise_ms = now_ms + window_ms,
        .fell_ms = INT64_MIN,
        .hold_ms = now_ms,
    };
}

void ali_quota_share_follow(struct ali_quota_share *share, int64_t quota)
{
    if (share->allowed == share->quota || share->allowed > quota) {
        share->allowed = quota;
    }
    share->quota = quota;
}

void ali_quota_share_rise(struct ali_quota_share *share, int64_t now_ms, int64_t window_ms)
{
    const int64_t step = part_of(share->quota, RISE_PART);

    while (now_ms >= share->rise_ms) {
        if (share->allowed < share->quota) {
            share->allowed += step;
            share->allowed = share->allowed > share->quota ? share->quota : share->allowed;
        } else { /* as long as that was: nothing happens */
            share->rise_ms = now_ms;
        }
        share->rise_ms += window_ms;
    }
}

void ali_quota_share_fall(struct ali_quota_share *share, int64_t sent_ms, int64_t now_ms,
                          int64_t window_ms, int64_t hint_ms)
{
    const bool fresh = sent_ms > share->fell_ms;
    int64_t pause = hint_ms > HINT_MOST ? HINT_MOST : hint_ms;

    if (fresh && (share->refusals == 0 || sent_ms - share->fell_ms >= window_ms)) {
        const int64_t least = part_of(share->quota, FLOOR_PART);

        share->allowed = share->allowed / 2 < least ? least : share->allowed / 2;
    }
    if (fresh) {
        if (hint_ms <= 0) {
            pause = window_ms / PAUSE_PART << share->refusals;
        }
        share->refusals += share->refusals < PAUSE_MOST ? 1 : 0;
        share->fell_ms = now_ms;
        share->probe_ms = now_ms + window_ms / PAUSE_PART;
    }
    if (share->hold_ms < now_ms + pause) {
        share->hold_ms = now_ms + pause;
    }
    share->rise_ms = share->hold_ms + window_ms;
}

void ali_quota_share_succeed(struct ali_quota_share *share, int64_t sent_ms)
{
    if (sent_ms > share->fell_ms) {
        share->refusals = 0;
        share->probed = false;
    }
}

int64_t ali_quota_share_held_ms(const struct ali_quota_share *share, int64_t now_ms, bool probe)
{
    const bool sooner = probe && !share->probed && share->probe_ms < share->hold_ms;
    const int64_t at = sooner ? share->probe_ms : share->hold_ms;

    return at <= now_ms ? 0 : at - now_ms;
}

void ali_quota_share_send(struct ali_quota_share *share, int64_t now_ms)
{
    share->probed = now_ms < share->hold_ms;
}
