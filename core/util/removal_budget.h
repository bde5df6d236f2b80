/*
 * The floor of removals "because of nodes": how many entries of one table, or backends of one
 * group, may go because Node objects are missing or say that they are not ready. Absence is no
 * order to delete, so of what somebody else's mistake would take away all at once, a share stays.
 *
 * Within a window at most a share of what was there goes. What was there is the largest size within
 * the window, but not more than what is there now and what went because of nodes: what other
 * reasons took away gives no right to more. Of a small one (up to CCM_REMOVAL_SMALL) one goes per
 * window. A removal counts for one window from when it was noted; the window is what catches nodes
 * that go one after the other.
 *
 * Pure: no clock, no lock, no allocation. now_ms is monotonic and never goes back; one budget
 * belongs to one thread at a time. A zeroed budget is one that has seen nothing. It is lost with
 * the process: whoever uses it treats what it finds after a restart by other means.
 *
 *     size_t left = ccm_removal_allowed(&group->budget, &rule, group->len, now);
 *     ... remove at most `left`, count those that succeeded ...
 *     ccm_removal_record(&group->budget, &rule, group->len, removed, now);
 *     ... what is held: requeue at ccm_removal_next_ms(), host->note_held() ...
 */
#ifndef CCM_UTIL_REMOVAL_BUDGET_H
#define CCM_UTIL_REMOVAL_BUDGET_H

#include "ccm/host.h"
#include "ccm/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CCM_REMOVAL_SMALL   3  /* up to this size one goes per window, whatever the share says */
#define CCM_REMOVAL_MOMENTS 20 /* what lies closer than a 16th of the window is one note */
#define CCM_REMOVAL_NEVER   INT64_MAX

/* What holds for all budgets of a plugin. Zeroed: nothing may go. */
struct ccm_removal_rule {
    int64_t window_ms;         /* 1 or more */
    uint32_t share_percent;    /* 0 = none goes because of nodes, 100 = there is no floor */
    int64_t released_until_ms; /* a person lets all go until then; 0 = nobody did */
    int64_t missing_wait_ms;   /* for ccm_removal_due_ms() */
};

/* Some 700 bytes: allocate it for those that lose something, not for each. */
struct ccm_removal_budget {
    struct ccm_removal_moment {
        int64_t from_ms; /* of the first thing in this note */
        int64_t gone_ms; /* of the last removal: they count from here */
        int64_t size_ms; /* of the last size */
        uint32_t gone;
        uint32_t size; /* the largest */
    } notes[CCM_REMOVAL_MOMENTS];
    size_t len;
};

/* How many of the `size` that are there may go now. Notes the size. */
size_t ccm_removal_allowed(struct ccm_removal_budget *budget, const struct ccm_removal_rule *rule,
                           size_t size, int64_t now_ms);

/* `count` of the `size` that were there have gone because of nodes. Also those that went by the
 * floor's leave, and those that a person released: all count for those that follow. */
void ccm_removal_record(struct ccm_removal_budget *budget, const struct ccm_removal_rule *rule,
                        size_t size, size_t count, int64_t now_ms);

/* When at least one more may go: now_ms when it may now; CCM_REMOVAL_NEVER when nothing is there or
 * the share is 0. As far as is known today: it does not move away but by removals. */
int64_t ccm_removal_next_ms(const struct ccm_removal_budget *budget,
                            const struct ccm_removal_rule *rule, size_t size, int64_t now_ms);

/* Whether nothing in it counts any more: it may be freed, or zeroed. */
bool ccm_removal_is_idle(const struct ccm_removal_budget *budget,
                         const struct ccm_removal_rule *rule, int64_t now_ms);

/* A person lets everything go for one window (allow_removals() of struct ccm_plugin). */
void ccm_removal_release(struct ccm_removal_rule *rule, int64_t now_ms);

/*
 * When something may count as gone that a list lacks and no DELETED event reported
 * (CCM_CHANGE_MISSING): missing_wait_ms after it was missed, on a server that answered consistently
 * all the while. server_since_ms: host->server_since_ms(); 0 = CCM_REMOVAL_NEVER, look again later.
 * Then it is still subject to the floor.
 */
int64_t ccm_removal_due_ms(const struct ccm_removal_rule *rule, int64_t missing_since_ms,
                           int64_t server_since_ms);

/* host->server_since_ms(), or of a host that is older than it: 1, as if it was always the same. */
int64_t ccm_removal_server_since(const struct ccm_host *host);

/* host->note_held() where there is one. */
void ccm_removal_record_held(const struct ccm_host *host, const char *object, uint64_t count,
                             const char *reason);

/* Options of a plugin that removes because of nodes: put CCM_REMOVAL_OPTIONS into its table. All of
 * them are live. */
extern const struct ccm_option ccm_removal_opt_share;
extern const struct ccm_option ccm_removal_opt_window;
extern const struct ccm_option ccm_removal_opt_wait;

#define CCM_REMOVAL_OPTIONS &ccm_removal_opt_share, &ccm_removal_opt_window, &ccm_removal_opt_wait

/* Share, window and wait as the options say; a release stays. */
void ccm_removal_rule_read(struct ccm_removal_rule *rule, const struct ccm_host *host);

#endif
