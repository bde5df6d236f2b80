#include "common/stream.h"

#include "util/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* How long the source may wait before the kit looks whether the client is still there. */
#define WAIT_MS 250

#define BLOCK_SIZE (16 * 1024)

struct sending {
    struct ccm_sim_stream stream; /* next == NULL: all there is lies in buf */
    struct ccm_buf buf;
    size_t done;   /* bytes of buf that are sent */
    int64_t limit; /* bytes that may still be sent; -1 = no limit */
    int fd;
    int end; /* 0, or what `next` said in the end */
    const atomic_bool *stopping;
};

bool ccm_sim_client_gone(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Wait until buf holds unsent bytes. 1, or the negative end of the stream. */
static int fill(struct sending *sending)
{
    while (sending->done == sending->buf.len) {
        if (sending->stream.next == NULL) {
            return -ENODATA;
        }
        if (sending->end < 0) {
            return sending->end;
        }
        if (atomic_load(sending->stopping) || ccm_sim_client_gone(sending->fd)) {
            return -ECANCELED;
        }
        ccm_buf_reset(&sending->buf);
        sending->done = 0;

        int r = sending->stream.next(sending->stream.self, &sending->buf, WAIT_MS);

        if (ccm_buf_error(&sending->buf) < 0) {
            return ccm_buf_error(&sending->buf);
        }
        sending->end = r < 0 ? r : 0;
    }
    return 1;
}

static ssize_t on_read(void *cls, uint64_t pos, char *to, size_t size)
{
    struct sending *sending = cls;

    (void)pos; /* the body is read once, front to back */
    if (sending->limit == 0) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }

    int r = fill(sending);

    if (r < 0) {
        return r == -ENODATA ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
    }

    size_t n = sending->buf.len - sending->done;

    n = n > size ? size : n;
    if (sending->limit >= 0 && n > (size_t)sending->limit) {
        n = (size_t)sending->limit;
    }
    memcpy(to, sending->buf.data + sending->done, n);
    sending->done += n;
    sending->limit -= sending->limit >= 0 ? (int64_t)n : 0;
    return (ssize_t)n;
}

static void on_free(void *cls)
{
    struct sending *sending = cls;

    if (sending->stream.close != NULL) {
        sending->stream.close(sending->stream.self);
    }
    ccm_buf_fini(&sending->buf);
    free(sending);
}

static struct MHD_Response *plain_response(struct ccm_sim_reply *reply)
{
    size_t len = reply->body.len;
    char *text = NULL;

    if (ccm_buf_take(&reply->body, &text) < 0) {
        return NULL;
    }

    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

    if (response == NULL) {
        free(text);
    }
    return response;
}

struct MHD_Response *ccm_sim_stream_response(struct ccm_sim_reply *reply, int fd, int64_t limit,
                                             const atomic_bool *stopping)
{
    if (reply->stream.next == NULL && limit < 0) {
        return plain_response(reply);
    }

    struct sending *sending = calloc(1, sizeof(*sending));

    if (sending == NULL) {
        return NULL;
    }
    *sending = (struct sending){
        .stream = reply->stream,
        .buf = reply->body,
        .limit = limit,
        .fd = fd,
        .stopping = stopping,
    };
    reply->body = (struct ccm_buf){ 0 };
    reply->stream = (struct ccm_sim_stream){ 0 };

    uint64_t total = sending->stream.next == NULL ? sending->buf.len : MHD_SIZE_UNKNOWN;
    struct MHD_Response *response =
        MHD_create_response_from_callback(total, BLOCK_SIZE, on_read, sending, on_free);

    if (response == NULL) {
        on_free(sending);
    }
    return response;
}
