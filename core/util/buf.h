/*
 * Bounded, growing, always NUL-terminated byte buffer with sticky failure: append freely, look at
 * the outcome once (ccm_buf_error or ccm_buf_take). A zeroed struct with `max` set is ready for
 * use:
 *
 *     CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = 64 * 1024 };
 *
 * One thread at a time per buffer.
 */
#ifndef CCM_UTIL_BUF_H
#define CCM_UTIL_BUF_H

#include "util/attr.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct ccm_buf {
    char *data; /* NULL while empty: read through ccm_buf_str() */
    size_t len; /* bytes, without the NUL */
    size_t cap;
    size_t max; /* most bytes it may hold, without the NUL; 0 means CCM_BUF_MAX */
    int error;  /* 0, -ENOMEM, -EMSGSIZE (more than max); sticky */
    bool wipe;  /* there may be a secret in it: memory that it gives back is filled with zeros */
};

#define CCM_BUF_MAX ((size_t)64 * 1024 * 1024)

/* Free the memory and forget the failure; `max` and `wipe` stay. Safe on a zeroed or already
 * finished buffer.
 */
void ccm_buf_fini(struct ccm_buf *buf);

/* Empty it, keep its memory, forget the failure. */
void ccm_buf_reset(struct ccm_buf *buf);

/* Append bytes, a string, one byte, formatted text. After a failure they do nothing. */
void ccm_buf_add(struct ccm_buf *buf, const void *data, size_t len);
void ccm_buf_adds(struct ccm_buf *buf, const char *text);
void ccm_buf_addc(struct ccm_buf *buf, char c);
void ccm_buf_addf(struct ccm_buf *buf, const char *format, ...) CCM_PRINTF(2, 3);
void ccm_buf_vaddf(struct ccm_buf *buf, const char *format, va_list args) CCM_PRINTF(2, 0);

/* Append one name to a list of them, "a, b": of many the first CCM_BUF_NAMES and " and others".
 * count: how many came before it; it becomes one more. */
#define CCM_BUF_NAMES 5
void ccm_buf_add_name(struct ccm_buf *buf, size_t *count, const char *format, ...) CCM_PRINTF(3, 4);

/* Drop the first n bytes (n <= len), moving the rest to the front. */
void ccm_buf_consume(struct ccm_buf *buf, size_t n);

/* The text, borrowed, valid until the next change; "" while empty. */
const char *ccm_buf_str(const struct ccm_buf *buf);

/* 0 or the sticky failure. */
CCM_NODISCARD int ccm_buf_error(const struct ccm_buf *buf);

/* Move the text out (the caller frees it, and wipes it; never NULL on success) and leave the buffer
 * empty. Returns 0, or the sticky failure, or -ENOMEM; on failure *ret_text is untouched. */
CCM_NODISCARD int ccm_buf_take(struct ccm_buf *buf, char **ret_text);

#endif
