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
    struct ccm_cancel cancel;

    /* The reader's own. */
    struct kube_exchange *exchange; /* NULL: none, or its end is told */
    char *path;
    struct block *lent; /* the block it looks at */
    int result;         /* when there is no exchange; so is err */
    struct ccm_error err;

    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t changed;
    struct block *first;
    struct block *last;
    size_t pending;
    bool full;  /* the I/O thread was turned away */
    bool head;  /* came, and is still to be told */
    bool ended; /* the exchange is over */
    bool aborted;
    bool woken;
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
    while (len > 0) {
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

/* The I/O thread: nothing comes any more. */
static void on_end(void *arg)
{
    struct kube_stream *s = arg;

    ccm_lock(&s->lock);
    s->ended = true;
    signal_locked(s);
    ccm_unlock(&s->lock);
}

/* Make ready for an exchange. -ECANCELED after an abort. */
static int stream_rewind(struct kube_stream *s)
{
    ccm_lock(&s->lock);

    const bool aborted = s->aborted;

    if (!aborted) {
        /* No exchange carries the flag any more. */
        atomic_store(&s->cancel.cancelled, false);
        s->head = false;
        s->ended = false;
        s->full = false;
    }
    ccm_unlock(&s->lock);
    return aborted ? -ECANCELED : 0;
}

int kube_stream_open(struct kube_stream *s, const char *path, int64_t head_ms)
{
    struct ccm_error err = CCM_ERROR_INIT;
    int r = stream_rewind(s);

    if (r < 0) {
        return r;
    }
    s->path = strdup(path);
    if (s->path == NULL) {
        return -ENOMEM;
    }

    const struct kube_call call = {
        .method = "GET",
        .path = s->path,
        .deadline_ms = ccm_clock_now_ms() + head_ms,
        .cancel = &s->cancel,
        .on_chunk = on_chunk,
        .on_head = on_head,
        .on_end = on_end,
        .arg = s,
    };

    r = kube_begin(s->client, &call, &s->exchange, &err);
    if (r < 0) {
        free(s->path);
        s->path = NULL;
    }
    return r;
}

/* The exchange is over: keep what came of it, unless it goes on. */
static void stream_end_exchange(struct kube_stream *s)
{
    ccm_lock(&s->lock);
    s->ended = false; /* before it may go on, and end once more */
    ccm_unlock(&s->lock);
    ccm_error_clear(&s->err);

    const int r = kube_end(s->exchange, NULL, &s->err);

    if (r != KUBE_REPEATED) {
        s->exchange = NULL;
        s->result = r;
    }
}

/* What the reader is to be told now. Not an errno, so that it is none of those a request may end
 * with. */
#define NOTHING_YET 3
#define ENDED       4

static int poll_locked(struct kube_stream *s, struct ccm_error *err)
{
    if (s->aborted) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "stopped");
    }
    if (s->head || s->first != NULL) {
        return 1;
    }
    if (s->ended || s->exchange == NULL) {
        return ENDED;
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

/* Wait for something to tell. */
static int stream_wait(struct kube_stream *s, int64_t deadline_ms, struct ccm_error *err)
{
    ccm_lock(&s->lock);

    int r = poll_locked(s, err);

    while (r == NOTHING_YET) {
        const int waited = ccm_clock_cond_wait(&s->changed, &s->lock, deadline_ms);

        r = poll_locked(s, err);
        if (r == NOTHING_YET && waited == -ETIMEDOUT) {
            r = -ETIME; /* not -ETIMEDOUT: that is what a request itself may end with */
        }
    }
    ccm_unlock(&s->lock);
    return r;
}

int kube_stream_read(struct kube_stream *s, int64_t deadline_ms, const char **ret_data,
                     size_t *ret_len, struct ccm_error *err)
{
    free(s->lent);
    s->lent = NULL;

    int r = stream_wait(s, deadline_ms, err);

    while (r == ENDED && s->exchange != NULL) {
        stream_end_exchange(s);
        r = s->exchange == NULL ? ENDED : stream_wait(s, deadline_ms, err);
    }
    if (r == ENDED) {
        *err = s->err;
        return s->result;
    }
    ccm_lock(&s->lock);
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
    if (s->exchange != NULL) {
        ccm_http_cancel(kube_client_http(s->client), &s->cancel);
    }
    while (s->exchange != NULL) {
        stream_end_exchange(s);
    }
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
