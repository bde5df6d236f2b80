/*
 * A request whose answer is read as it arrives: the bridge between the I/O thread, which may not
 * block, and the reflector's thread, which decodes. Chunks go from the I/O thread into a bounded
 * queue of blocks, and from there to the reader.
 *
 * Back-pressure: when the queue is full the exchange is paused, so that the peer waits; it goes on
 * when half of the queue has been read.
 *
 * open, read and close: one thread. abort: any thread.
 */
#ifndef CCM_KUBE_STREAM_H
#define CCM_KUBE_STREAM_H

#include "kube/client/client.h"

struct kube_stream;

/* max_pending: bytes that may wait for the reader. The client is borrowed. NULL on ENOMEM. */
struct kube_stream *kube_stream_new(struct kube_client *client, size_t max_pending);
/* Closes. NULL is fine. */
void kube_stream_free(struct kube_stream *stream);

/* Send GET path. head_ms: longest wait for the head of the answer. 0; -ECANCELED after an abort;
 * -ENOMEM; or what kube_begin() refuses. The stream must be closed before it is opened again. */
CCM_NODISCARD int kube_stream_open(struct kube_stream *stream, const char *path, int64_t head_ms);

#define KUBE_STREAM_WOKEN 2

/*
 * Wait for the next bytes. 1: *ret_data and *ret_len are set, valid until the next call; *ret_len
 * is 0 once, when the head of a 2xx answer has come. KUBE_STREAM_WOKEN: somebody called wake. 0:
 * the answer is complete. Negative: -ETIME (monotonic deadline), -ECANCELED (aborted), or why the
 * request failed: err tells, as kube_do() does.
 */
CCM_NODISCARD int kube_stream_read(struct kube_stream *stream, int64_t deadline_ms,
                                   const char **ret_data, size_t *ret_len, struct ccm_error *err);

/* Give up the request if it still runs, and wait for its end. What was not read is dropped. */
void kube_stream_close(struct kube_stream *stream);

/* From now on every open and read fails with -ECANCELED. Returns at once. */
void kube_stream_abort(struct kube_stream *stream);

/* The read that waits, or else the next one that would wait, returns KUBE_STREAM_WOKEN. */
void kube_stream_wake(struct kube_stream *stream);

#endif
