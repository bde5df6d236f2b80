/*
 * Writing JSON straight into a buffer: commas and quotes are the writer's business, order is the
 * caller's. Failures (memory, size) stick in the buffer and are looked at once, when the text is
 * taken.
 *
 *     struct ccm_jsonw w = { .buf = &body };
 *     ccm_jsonw_open(&w, NULL, '{');
 *     ccm_jsonw_str(&w, "RequestId", id);
 *     ccm_jsonw_open(&w, "Items", '[');
 *     ccm_jsonw_i64(&w, NULL, 7);
 *     ccm_jsonw_close(&w, ']');
 *     ccm_jsonw_close(&w, '}');
 *
 * `key` is NULL for the outermost value and inside arrays. One thread at a time per writer.
 */
#ifndef CCM_UTIL_JSONW_H
#define CCM_UTIL_JSONW_H

#include "util/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct ccm_jsonw {
    struct ccm_buf *buf; /* borrowed */
    bool comma;          /* a value was written at this level; starts false */
};

/* bracket is '{' or '[' to open, '}' or ']' to close. */
void ccm_jsonw_open(struct ccm_jsonw *w, const char *key, char bracket);
void ccm_jsonw_close(struct ccm_jsonw *w, char bracket);
/* Several at once, the innermost first: "]}}". */
void ccm_jsonw_close_all(struct ccm_jsonw *w, const char *brackets);

/* One value. NULL text is written as null; bytes that are no UTF-8 become U+FFFD. */
void ccm_jsonw_str(struct ccm_jsonw *w, const char *key, const char *text);
void ccm_jsonw_i64(struct ccm_jsonw *w, const char *key, int64_t number);
void ccm_jsonw_bool(struct ccm_jsonw *w, const char *key, bool value);

/* A value that is JSON text already. */
void ccm_jsonw_raw(struct ccm_jsonw *w, const char *key, const char *json);

#endif
