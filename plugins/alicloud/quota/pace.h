/*
 * How soon after one change of a resource the next one is taken. Some resources (a load balancer
 * with all its groups and listeners) refuse changes for a while after each; how long is not
 * documented, so it is learned: a first refusal costs a long pause, what came through after it is
 * known to be enough, and the changes that follow are sent much sooner. As long as that is taken,
 * the pause was another client's doing and is soon nothing; once first tries are refused
 * repeatedly, what is in doubt is halved, with at most one refusal each, and less is tried ever
 * more rarely. A resource that refuses nothing is never waited for, and what was learned is
 * forgotten after a while.
 *
 * Reads no clock: time is an argument (monotonic ms). Every thread.
 */
#ifndef CCM_ALICLOUD_QUOTA_PACE_H
#define CCM_ALICLOUD_QUOTA_PACE_H

#include "util/attr.h"

#include <stdint.h>

struct ali_paces;

/* NULL on ENOMEM. */
struct ali_paces *ali_paces_new(void);
void ali_paces_free(struct ali_paces *paces);

/* Ms to wait before the next change of the resource; 0 = none. After a refusal no change is sent
 * before the pause that ali_pace_refused() returned. */
int64_t ali_pace_wait_ms(struct ali_paces *paces, const char *id, int64_t now_ms);
/* A change that was sent at sent_ms was taken, as is known now. */
void ali_pace_done(struct ali_paces *paces, const char *id, int64_t sent_ms, int64_t now_ms);
/* It was refused because an earlier change is not finished, for the tries-th time (from 1 on).
 * Ms to wait before it is sent again. Without memory nothing is learned. */
int64_t ali_pace_refused(struct ali_paces *paces, const char *id, int64_t sent_ms, int64_t now_ms,
                         unsigned int tries);

/*
 * How often a call was refused before it was put off, so that its pauses go on to grow, and end,
 * when it comes again. key: names the call. take forgets it; 0 = it was not, or long ago.
 */
unsigned ali_pace_take_tries(struct ali_paces *paces, const char *key, int64_t now_ms);
/* Without memory it begins anew. */
void ali_pace_keep_tries(struct ali_paces *paces, const char *key, unsigned count, int64_t now_ms);

#endif
