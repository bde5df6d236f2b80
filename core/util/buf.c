#include "util/buf.h"

#include "util/secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void buf_give_back(struct ccm_buf *buf)
{
    if (buf->wipe && buf->data != NULL) {
        ccm_secret_wipe(buf->data, buf->cap);
    }
    free(buf->data);
    buf->data = NULL;
}

void ccm_buf_fini(struct ccm_buf *buf)
{
    buf_give_back(buf);
    *buf = (struct ccm_buf){ .max = buf->max, .wipe = buf->wipe };
}

/* realloc() would leave the old text where it was. */
static char *buf_grow_wiped(struct ccm_buf *buf, size_t want)
{
    char *grown = malloc(want);

    if (grown != NULL && buf->data != NULL) {
        memcpy(grown, buf->data, buf->len + 1);
        buf_give_back(buf);
    }
    return grown;
}

void ccm_buf_reset(struct ccm_buf *buf)
{
    buf->len = 0;
    buf->error = 0;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

/* Room for `more` bytes and the NUL; records the failure. */
static int buf_reserve_bytes(struct ccm_buf *buf, size_t more)
{
    const size_t max = buf->max == 0 ? CCM_BUF_MAX : buf->max;

    if (buf->error != 0) {
        return buf->error;
    }
    if (more > max - buf->len) {
        buf->error = -EMSGSIZE;
        return buf->error;
    }
    if (buf->data != NULL && buf->len + more < buf->cap) {
        return 0;
    }

    size_t want = buf->cap < 64 ? 64 : buf->cap * 2;

    if (want < buf->len + more + 1) {
        want = buf->len + more + 1;
    }
    if (want > max + 1) {
        want = max + 1;
    }

    char *grown = buf->wipe ? buf_grow_wiped(buf, want) : realloc(buf->data, want);

    if (grown == NULL) {
        buf->error = -ENOMEM;
        return buf->error;
    }
    buf->data = grown;
    buf->cap = want;
    return 0;
}

void ccm_buf_add(struct ccm_buf *buf, const void *data, size_t len)
{
    if (buf_reserve_bytes(buf, len) < 0) {
        return;
    }
    if (len > 0) {
        memcpy(buf->data + buf->len, data, len);
    }
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void ccm_buf_adds(struct ccm_buf *buf, const char *text)
{
    ccm_buf_add(buf, text, strlen(text));
}

void ccm_buf_addc(struct ccm_buf *buf, char c)
{
    /* The capacity is never more than max + 1. */
    if (buf->error == 0 && buf->data != NULL && buf->len + 1 < buf->cap) {
        buf->data[buf->len++] = c;
        buf->data[buf->len] = '\0';
        return;
    }
    ccm_buf_add(buf, &c, 1);
}

void ccm_buf_addf(struct ccm_buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ccm_buf_vaddf(buf, format, args);
    va_end(args);
}

void ccm_buf_vaddf(struct ccm_buf *buf, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);

    const int need = vsnprintf(NULL, 0, format, again);

    va_end(again);
    if (need < 0) {
        buf->error = buf->error != 0 ? buf->error : -EINVAL;
        return;
    }
    if (buf_reserve_bytes(buf, (size_t)need) < 0) {
        return;
    }
    (void)vsnprintf(buf->data + buf->len, (size_t)need + 1, format, args); /* as measured */
    buf->len += (size_t)need;
}

void ccm_buf_add_name(struct ccm_buf *buf, size_t *count, const char *format, ...)
{
    const size_t before = (*count)++;

    if (before == CCM_BUF_NAMES) {
        ccm_buf_adds(buf, " and others");
    }
    if (before < CCM_BUF_NAMES) {
        va_list args;

        ccm_buf_adds(buf, before == 0 ? "" : ", ");
        va_start(args, format);
        ccm_buf_vaddf(buf, format, args);
        va_end(args);
    }
}

void ccm_buf_consume(struct ccm_buf *buf, size_t n)
{
    if (n == 0 || buf->data == NULL) {
        return;
    }
    memmove(buf->data, buf->data + n, buf->len - n + 1);
    buf->len -= n;
}

const char *ccm_buf_str(const struct ccm_buf *buf)
{
    return buf->data == NULL ? "" : buf->data;
}

int ccm_buf_error(const struct ccm_buf *buf)
{
    return buf->error;
}

int ccm_buf_take(struct ccm_buf *buf, char **ret_text)
{
    ccm_buf_add(buf, "", 0); /* an empty buffer still hands out a string */
    if (buf->error != 0) {
        return buf->error;
    }
    *ret_text = buf->data;
    buf->data = NULL;
    ccm_buf_fini(buf);
    return 0;
}
