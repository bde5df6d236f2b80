/* On whose behalf something is done, and until when. A value for the stack of one call. */
#ifndef CCM_ALICLOUD_CTX_H
#define CCM_ALICLOUD_CTX_H

#include "alicloud/client.h"

struct ali_ctx {
    const struct ccm_host *host;
    const struct ccm_request *req; /* may be NULL */
    int64_t deadline_ms;           /* monotonic */
};

/* Deadline of the request, or fallback_ms from now without one. */
static inline struct ali_ctx ali_ctx(const struct ccm_host *host, const struct ccm_request *req,
                                     int64_t fallback_ms)
{
    return (struct ali_ctx){
        .host = host,
        .req = req,
        .deadline_ms = req != NULL ? req->deadline_ms : host->now_ms(host) + fallback_ms,
    };
}

static inline int64_t ali_ctx_left(const struct ali_ctx *ctx)
{
    return ctx->deadline_ms - ctx->host->now_ms(ctx->host);
}

/* Time limit of one exchange: at most `most` ms, never past the deadline. */
static inline uint64_t ali_ctx_timeout(const struct ali_ctx *ctx, int64_t most)
{
    const int64_t left = ali_ctx_left(ctx);

    return (uint64_t)(left < 1 ? 1 : (left < most ? left : most));
}

/* 0 after the wait, or -ECANCELED at once when it would end after the deadline or is cancelled. */
CCM_NODISCARD static inline int ali_ctx_wait(const struct ali_ctx *ctx, int64_t ms)
{
    if (ms > ali_ctx_left(ctx)) {
        return -ECANCELED;
    }
    return ctx->host->wait(ctx->host, ctx->req, (uint64_t)ms) < 0 ? -ECANCELED : 0;
}

#endif
