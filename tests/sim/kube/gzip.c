#include "gzip.h"

#include "util/cleanup.h"
#include "util/parse.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#define PIECE 65536

/* windowBits of zlib for a gzip envelope */
#define GZIP_WINDOW (15 + 16)

static bool accepts(const struct ccm_sim_request *req)
{
    const char *cursor = ccm_sim_request_header(req, "accept-encoding");
    const char *start;
    size_t len;

    while (cursor != NULL && ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len == 4 && strncmp(start, "gzip", 4) == 0) {
            return true;
        }
    }
    return false;
}

static bool compress_body(const struct ccm_buf *in, struct ccm_buf *out)
{
    CCM_CLEANUP(ccm_freep) unsigned char *piece = malloc(PIECE);
    z_stream z = { 0 };
    int r = Z_OK;

    if (piece == NULL ||
        deflateInit2(&z, 1, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return false;
    }
    z.next_in = (unsigned char *)in->data;
    z.avail_in = (uInt)in->len;
    while (r == Z_OK) {
        z.next_out = piece;
        z.avail_out = PIECE;
        r = deflate(&z, Z_FINISH);
        ccm_buf_add(out, piece, PIECE - z.avail_out);
    }
    (void)deflateEnd(&z); /* all output is taken */
    return r == Z_STREAM_END && ccm_buf_error(out) == 0;
}

void ccm_ks_gzip(const struct ccm_sim_request *req, struct ccm_sim_reply *reply)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf out = { .max = reply->body.max };

    if (reply->stream.next != NULL || reply->status != 200 || reply->body.len < CCM_KS_GZIP_MIN ||
        strcmp(req->method, "GET") != 0 || !accepts(req) || !compress_body(&reply->body, &out)) {
        return;
    }
    if (ccm_sim_params_add(&reply->headers, "Content-Encoding", "gzip") < 0 ||
        ccm_sim_params_add(&reply->headers, "Vary", "Accept-Encoding") < 0) {
        reply->drop = true; /* no memory even for a header */
        return;
    }
    ccm_buf_fini(&reply->body);
    reply->body = out;
    out = (struct ccm_buf){ 0 };
}
