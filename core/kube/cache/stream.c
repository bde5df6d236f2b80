#include "kube/cache/stream.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)32 * 1024 - 64)

struct block {
    struct block *next;
    size_t len;
    char data[BLOCK_BYTES];
};

struct kube_stream {
    struct kube_client *client;
    size_t max_pending;
    pthread_t helper;
    bool open; /* the reader's own: a helper is to be joined */
    char *path;
    int64_t head_deadline_ms;
    struct block *lent; /* the reader's own: the block it looks at */
    struct ccm_cancel cancel;

    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t changed;
    struct block *first;
    struct block *last;
    size_t pending;
    bool full;  /* the I/O thread was turned away */
    bool head;  /* came, and is still to be told */
    bool ended; /* result and err are final */
    bool aborted;
    bool woken;
    int result;
    struct ccm_error err;
};

static void signal_locked(struct kube_stream *s)
{
    ccm_wake_all(&s->changed);
}

struct kube_stream *kube_stream_new(struct kube_client *client, size_t max_pending)
{
    CCM_CLEANUP(ccm_freep) struct kube_stream *s = calloc(1, sizeof(*s));

    if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0) {
        return NULL;
    }
    if (ccm_clock_cond_init(&s->changed) < 0) {
        ccm_lock_fini(&s->lock);
        return NULL;
    }
    s->client = client;
    s->max_pending = max_pending;
    return CCM_STEAL(s);
}

void kube_stream_free(struct kube_stream *s)
{
    if (s != NULL) {
        kube_stream_close(s);
        ccm_cond_fini(&s->changed);
        ccm_lock_fini(&s->lock);
        free(s);
    }
}

/* The I/O thread: a good answer begins. */
static int on_head(void *arg, uint32_t status)
{
    struct kube_stream *s = arg;

    (void)status; /* always 2xx */
    ccm_lock(&s->lock);
    s->head = true;
    signal_locked(s);
    ccm_unlock(&s->lock);
    return 0;
}

/* Room at the end of the queue, or NULL when memory runs out. */
static struct block *tail_locked(struct kube_stream *s)
{
    if (s->last != NULL && s->last->len < BLOCK_BYTES) {
        return s->last;
    }

    struct block *block = malloc(sizeof(*block));

    if (block == NULL) {
        return NULL;
    }
    block->next = NULL;
    block->len = 0;
    if (s->last == NULL) {
        s->first = block;
    } else {
        s->last->next = block;
    }
    s->last = block;
    return block;
}

/* The I/O thread: copy and go. All of the chunk is queued or the stream ends. */
static int on_chunk(void *arg, const char *data, size_t len)
{
    struct kube_stream *s = arg;
    int r = 0;

    ccm_lock(&s->lock);
    if (s->pending > 0 && s->pending + len > s->max_pending) {
        s->full = true;
        ccm_unlock(&s->lock);
        return NET_HTTP_PAUSE;
    }
    while (r == 0 && len > 0) {
        struct block *block = tail_locked(s);

        if (block == NULL) {
            r = -ENOMEM;
            break;
        }

        const size_t room = BLOCK_BYTES - block->len;
        const size_t n = len < room ? len : room;

        memcpy(block->data + block->len, data, n);
        block->len += n;
        s->pending += n;
        data += n;
        len -= n;
    }
    signal_locked(s);
    ccm_unlock(&s->lock);
    return r;
}

static void *helper_main(void *arg)
{
    struct kube_stream *s = arg;
    const struct kube_call call = {
        .method = "GET",
        .path = s->path,
        .deadline_ms = s->head_deadline_ms,
        .cancel = &s->cancel,
        .on_chunk = on_chunk,
        .on_head = on_head,
        .arg = s,
    };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = kube_do(s->client, &call, NULL, &err);

    ccm_lock(&s->lock);
    s->result = r;
    s->err = err;
    s->ended = true;
    signal_locked(s);
    ccm_unlock(&s->lock);
    return NULL;
}

static int start_helper(struct kube_stream *s)
{
    pthread_attr_t attr;

    if (pthread_attr_init(&attr) != 0) {
        return -ENOMEM;
    }
    /* The helper waits; the request runs in the I/O thread. */
    (void)pthread_attr_setstacksize(&attr, (size_t)256 * 1024); /* refused: the default is fine */

    const int r = pthread_create(&s->helper, &attr, helper_main, s);

    (void)pthread_attr_destroy(&attr); /* a valid attribute object */
    return -r;
}

int kube_stream_open(struct kube_stream *s, const char *path, int64_t head_ms)
{
    ccm_lock(&s->lock);

    const bool aborted = s->aborted;

    if (!aborted) {
        /* The last helper has been joined: no exchange carries the flag any more. */
        atomic_store(&s->cancel.cancelled, false);
        s->head = false;
        s->ended = false;
        s->full = false;
        s->result = 0;
    }
    ccm_unlock(&s->lock);
    if (aborted) {
        return -ECANCELED;
    }
    s->path = strdup(path);
    if (s->path == NULL) {
        return -ENOMEM;
    }
    s->head_deadline_ms = ccm_clock_now_ms() + head_ms;

    const int r = start_helper(s);

    if (r < 0) {
        free(s->path);
        s->path = NULL;
        return r;
    }
    s->open = true;
    return 0;
}

/* What the reader is to be told now. Not an errno, so that it is none of those a request may end
 * with. */
#define NOTHING_YET 3

static int poll_locked(struct kube_stream *s, struct ccm_error *err)
{
    if (s->aborted) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "stopped");
    }
    if (s->head || s->first != NULL) {
        return 1;
    }
    if (s->ended) {
        *err = s->err;
        return s->result < 0 ? s->result : 0;
    }
    if (s->woken) {
        s->woken = false;
        return KUBE_STREAM_WOKEN;
    }
    return NOTHING_YET;
}

/* Hand out the head or the first block. */
static void lend_locked(struct kube_stream *s, const char **ret_data, size_t *ret_len)
{
    if (s->head) {
        s->head = false;
        *ret_data = "";
        *ret_len = 0;
        return;
    }
    s->lent = s->first;
    s->first = s->lent->next;
    if (s->first == NULL) {
        s->last = NULL;
    }
    s->pending -= s->lent->len;
    *ret_data = s->lent->data;
    *ret_len = s->lent->len;
}

int kube_stream_read(struct kube_stream *s, int64_t deadline_ms, const char **ret_data,
                     size_t *ret_len, struct ccm_error *err)
{
    free(s->lent);
    s->lent = NULL;
    ccm_lock(&s->lock);

    int r = poll_locked(s, err);

    while (r == NOTHING_YET) {
        const int waited = ccm_clock_cond_wait(&s->changed, &s->lock, deadline_ms);

        r = poll_locked(s, err);
        if (r == NOTHING_YET && waited == -ETIMEDOUT) {
            r = -ETIME; /* not -ETIMEDOUT: that is what a request itself may end with */
        }
    }
    if (r == 1) {
        lend_locked(s, ret_data, ret_len);
    }

    const bool resume = s->full && s->pending <= s->max_pending / 2;

    s->full = s->full && !resume;
    ccm_unlock(&s->lock);
    if (resume) {
        net_http_resume(kube_client_http(s->client));
    }
    return r;
}

static void drop_blocks(struct kube_stream *s)
{
    free(s->lent);
    s->lent = NULL;
    while (s->first != NULL) {
        struct block *block = s->first;

        s->first = block->next;
        free(block);
    }
    s->last = NULL;
    s->pending = 0;
}

void kube_stream_close(struct kube_stream *s)
{
    if (!s->open) {
        return;
    }
    ccm_http_cancel(kube_client_http(s->client), &s->cancel);
    (void)pthread_join(s->helper, NULL); /* a thread of ours that nobody else joins */
    s->open = false;
    free(s->path);
    s->path = NULL;
    drop_blocks(s);
}

void kube_stream_abort(struct kube_stream *s)
{
    ccm_lock(&s->lock);
    s->aborted = true;
    signal_locked(s);
    ccm_unlock(&s->lock);
    ccm_http_cancel(kube_client_http(s->client), &s->cancel);
}

void kube_stream_wake(struct kube_stream *s)
{
    ccm_lock(&s->lock);
    s->woken = true;
    signal_locked(s);
    ccm_unlock(&s->lock);
}
