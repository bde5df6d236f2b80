#include "kube/cache/reflector.h"

#include "kube/cache/reflector_priv.h"
#include "kube/object/version.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/entropy.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define MAX_FETCHES   64
#define WAIT_SLICE_MS 100
#define JOIN_SLICE_MS 60000
#define SLACK_MS      300000 /* longest for what comes in one piece, change functions included */

static void default_if_zero(uint32_t *value, uint32_t fallback)
{
    if (*value == 0) {
        *value = fallback;
    }
}

static void fill_defaults(struct kube_reflector_config *config)
{
    struct kube_reflector_timing *timing = &config->timing;

    default_if_zero(&timing->backoff_min_ms, 200);
    default_if_zero(&timing->backoff_max_ms, 30000);
    default_if_zero(&timing->refused_ms, 30000);
    default_if_zero(&timing->progress_ms, 90000);
    default_if_zero(&timing->initial_ms, 10000);
    default_if_zero(&timing->paged_ms, 600000);
    default_if_zero(&timing->head_ms, 65000);
    default_if_zero(&timing->own_ms, 30000);
    default_if_zero(&timing->watch_min_s, 300);
    default_if_zero(&timing->watch_max_s, 600);
    default_if_zero(&config->page_limit, 500);
    if (timing->watch_max_s < timing->watch_min_s) {
        timing->watch_max_s = timing->watch_min_s;
    }
    if (timing->seed == 0) {
        timing->seed = ccm_entropy_seed();
    }
    if (config->max_pending == 0) {
        config->max_pending = (size_t)256 * 1024;
    }
}

static int init_sync(struct kube_reflector *r)
{
    if (pthread_mutex_init(&r->lock, NULL) != 0) {
        return -ENOMEM;
    }
    if (ccm_clock_cond_init(&r->changed) < 0) {
        ccm_lock_fini(&r->lock);
        return -ENOMEM;
    }
    return 0;
}

struct kube_reflector *kube_reflector_new(const struct kube_reflector_config *config)
{
    struct kube_reflector *r = calloc(1, sizeof(*r));

    if (r == NULL || init_sync(r) < 0) {
        free(r);
        return NULL;
    }
    r->config = *config;
    fill_defaults(&r->config);
    r->written = config->kind;
    r->cache = config->continuity == NULL ? 0 : kube_continuity_add(config->continuity);
    r->random = r->config.timing.seed;
    r->streaming = true;
    r->version.max = 4096;
    r->main = kube_stream_new(config->client, r->config.max_pending);
    r->side = kube_stream_new(config->client, r->config.max_pending);
    r->builder = kube_builder_new();
    r->fetches = ccm_strmap_new(NULL);
    if (r->main == NULL || r->side == NULL || r->builder == NULL || r->fetches == NULL) {
        kube_reflector_free(r);
        return NULL;
    }
    return r;
}

void kube_reflector_free(struct kube_reflector *r)
{
    if (r == NULL) {
        return;
    }
    if (r->thread.started) {
        kube_reflector_stop(r);
        while (kube_reflector_join(r, ccm_clock_now_ms() + JOIN_SLICE_MS) < 0) {
            /* whoever cannot wait has joined before */
        }
    }
    kube_stream_free(r->main);
    kube_stream_free(r->side);
    kube_builder_free(r->builder);
    ccm_strmap_free(r->fetches);
    ccm_buf_fini(&r->version);
    ccm_cond_fini(&r->changed);
    ccm_lock_fini(&r->lock);
    free(r);
}

/* Wait before the next attempt, or until stopped. */
static void reflector_wait_pause(struct kube_reflector *r, int64_t ms)
{
    const int64_t deadline = ccm_clock_now_ms() + ms;

    kube_reflector_set_due(r, deadline);
    ccm_lock(&r->lock);
    while (!r->stopping && ccm_clock_now_ms() < deadline) {
        (void)ccm_clock_cond_wait(&r->changed, &r->lock, deadline); /* the loop looks again */
    }
    ccm_unlock(&r->lock);
}

static void thread_main(void *arg)
{
    struct kube_reflector *r = arg;

    kube_reflector_await_after(r);
    while (!kube_reflector_stopping(r)) {
        struct kube_reflector_end end = { .err = CCM_ERROR_INIT };

        if (!r->listed) {
            kube_reflector_await_ahead(r);
            r->streaming = ccm_clock_now_ms() >= r->paged_until_ms;
        }
        kube_reflector_set_due(r, ccm_clock_now_ms());
        if (r->listed && r->server_uncertain) {
            kube_reflector_check_server(r, &end);
        } else if (r->listed || r->streaming) {
            kube_reflector_watch(r, !r->listed, &end);
        } else {
            kube_reflector_list(r, &end);
        }
        if (!kube_reflector_stopping(r)) {
            reflector_wait_pause(r, kube_reflector_handle_end(r, &end));
        }
    }
}

int kube_reflector_start(struct kube_reflector *r)
{
    return ccm_thread_start(&r->thread, thread_main, r);
}

void kube_reflector_stop(struct kube_reflector *r)
{
    ccm_lock(&r->lock);
    r->stopping = true;
    ccm_wake_all(&r->changed);
    ccm_unlock(&r->lock);
    kube_stream_abort(r->main);
    kube_stream_abort(r->side);
}

int kube_reflector_join(struct kube_reflector *r, int64_t deadline_ms)
{
    return ccm_thread_join(&r->thread, deadline_ms);
}

size_t kube_reflector_cache(const struct kube_reflector *r)
{
    return r->cache;
}

void kube_reflector_status(struct kube_reflector *r, struct kube_reflector_status *ret)
{
    ccm_lock(&r->lock);
    *ret = r->status;
    ret->requested = r->recheck || r->relist || r->serving || r->served < r->asked;
    ccm_unlock(&r->lock);
    ret->objects = kube_store_len(r->config.store);
    ret->too_large = kube_store_too_large(r->config.store);
}
