#include "lbc/audit.h"

#include "util/spread.h"

#include <stdint.h>

#define AT_ONCE_MAX  2    /* audits of one plugin */
#define PUT_OFF_MS   1000 /* when it is due but cannot be now; doubled by passes that write */
#define PUT_OFF_MOST 12   /* doublings */
#define JITTER_PARTS 5    /* of the interval, to either side */

static int64_t next_due(const struct lbc_audit *audit)
{
    return audit->host->now_ms(audit->host) +
           ccm_spread(audit->host, audit->interval_ms, JITTER_PARTS);
}

/* Further away than any look can be: the interval was longer when it was set. */
static bool is_of_longer_interval(const struct lbc_audit *audit, const struct lbc_entry *entry)
{
    return entry->audit.due_ms - audit->host->now_ms(audit->host) >
           audit->interval_ms + audit->interval_ms / JITTER_PARTS;
}

static bool get_place(struct lbc_audit *audit)
{
    if (atomic_fetch_add(&audit->running, 1) < AT_ONCE_MAX) {
        return true;
    }
    atomic_fetch_sub(&audit->running, 1);
    return false;
}

bool lbc_audit_begin(struct lbc_audit *audit, struct lbc_entry *entry, bool was_valid, bool idle)
{
    if (audit->interval_ms == 0) {
        return false;
    }
    if (!was_valid || entry->audit.due_ms == 0) {
        entry->audit.due_ms = next_due(audit); /* it was read just now */
        return false;
    }
    if (is_of_longer_interval(audit, entry)) {
        entry->audit.due_ms = next_due(audit);
    }
    if (audit->host->now_ms(audit->host) < entry->audit.due_ms) {
        return false;
    }
    entry->audit.put_off = idle ? 0 : entry->audit.put_off + 1;
    if (!idle || !get_place(audit)) {
        return false;
    }
    lbc_entry_put_aside(entry);
    return true;
}

void lbc_audit_end(struct lbc_audit *audit, struct lbc_entry *entry, bool looked)
{
    atomic_fetch_sub(&audit->running, 1);
    if (looked) {
        entry->audit.due_ms = next_due(audit);
    }
}

/* Soon, but a Service that has something to write in every pass gets slower and slower. */
static int64_t audit_pause(const struct lbc_audit *audit, const struct lbc_entry *entry)
{
    const uint32_t busy = entry->audit.put_off < 1 ? 0 : entry->audit.put_off - 1;
    const int64_t pause = (int64_t)PUT_OFF_MS << (busy < PUT_OFF_MOST ? busy : PUT_OFF_MOST);
    const int64_t most = audit->interval_ms;

    return pause <= PUT_OFF_MS || pause < most ? pause : most;
}

void lbc_audit_schedule(const struct lbc_audit *audit, const struct lbc_entry *entry)
{
    const bool audits = audit->interval_ms != 0 && entry->audit.due_ms != 0;
    const int64_t late_ms = entry->look.late_ms == 0 ? INT64_MAX : entry->look.late_ms;
    const int64_t due_ms = audits && entry->audit.due_ms < late_ms ? entry->audit.due_ms : late_ms;

    if (due_ms == INT64_MAX) {
        return;
    }
    const int64_t rest = due_ms - audit->host->now_ms(audit->host);
    const int64_t pause = audit_pause(audit, entry);

    audit->host->enqueue(audit->host, entry->key, CCM_LANE_BULK,
                         (uint64_t)(rest > pause ? rest : pause));
}
