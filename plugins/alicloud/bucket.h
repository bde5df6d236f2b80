/*
 * One action in the governor: the calls of its window, who waits for it, how much of its quota is
 * ours, and from that whose turn it is. Pure; time is an argument (monotonic ms). The governor's
 * lock guards it.
 */
#ifndef CCM_ALICLOUD_BUCKET_H
#define CCM_ALICLOUD_BUCKET_H

#include "alicloud/line.h"
#include "alicloud/quota.h"
#include "alicloud/share.h"
#include "alicloud/window.h"

struct ali_bucket {
    enum ali_product product;
    char action[64];
    struct ali_rate rate;
    struct ali_share share;
    struct ali_window window;
    struct ali_line line;
    struct ali_lately retries;
    int64_t shown;   /* the share as the metric has it */
    int64_t took_ms; /* a call, in the mean */
    bool heals;      /* the last call of what failed again and again succeeded */
};

/* NULL on ENOMEM. */
struct ali_bucket *ali_bucket_new(enum ali_product product, const char *action);
/* A struct ali_bucket, or NULL. */
void ali_bucket_free(void *bucket);
/* How long a call counts: its window, and a little more for what we cannot know. */
int64_t ali_bucket_span(const struct ali_bucket *bucket);

/* What has waited behind everybody else for long enough does not any more. */
void ali_bucket_age(struct ali_bucket *bucket, struct ali_ticket *ticket, int64_t now_ms);
/* How long what has failed again and again still waits behind everybody else; 0 or less: it does
 * not. */
int64_t ali_bucket_age_ms(const struct ali_bucket *bucket, const struct ali_ticket *ticket,
                          int64_t now_ms);
/* Ms until the turn of the ticket, which is in the line; 0 = now. */
int64_t ali_bucket_poll_ms(struct ali_bucket *bucket, const struct ali_ticket *ticket, bool careful,
                           int64_t now_ms);
/* It is served: it leaves the line, and its call is one of the window. */
void ali_bucket_serve(struct ali_bucket *bucket, struct ali_ticket *ticket, int64_t now_ms);
/* The call is over, after so long; it counts from now on. */
void ali_bucket_end(struct ali_bucket *bucket, int64_t took_ms, int64_t now_ms);

#endif
