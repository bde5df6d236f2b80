/*
 * One failure, as a value: what kind, what text, what the cloud called it. No allocation, so
 * reporting never fails.
 *
 * The caller owns the struct and starts it with CCM_ERROR_INIT; whoever fails first sets it,
 * callers on the way out wrap it with context. The negative errno that functions return says that
 * there is an error; the kind decides what happens next. One thread at a time per struct.
 *
 * A plugin in C or C++ needs no library for the functions; ccm/function.h tells of the one for
 * other languages. Those without calls of variable length use the forms with `_text`.
 *
 * Both sides of the ABI write this struct, into memory of the other side too, with the functions
 * below as each of them was built. So its size never changes within a major: later members come out
 * of `reserved`.
 */
#ifndef CCM_ERROR_H
#define CCM_ERROR_H

#include "ccm/function.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the caller should do about it. Values never change; unknown ones count as transient. */
#define CCM_ERROR_NONE      UINT64_C(0)
#define CCM_ERROR_TRANSIENT UINT64_C(1) /* try again, with backoff */
#define CCM_ERROR_THROTTLED UINT64_C(2) /* nothing was done; try again after retry_after_ms */
#define CCM_ERROR_CONFLICT  UINT64_C(3) /* changed by somebody else, or busy: look and try again */
#define CCM_ERROR_NOT_FOUND UINT64_C(4) /* the object is not there; retried as TRANSIENT */
#define CCM_ERROR_AUTH      UINT64_C(5) /* credentials or permissions: an operator has to act */
#define CCM_ERROR_TERMINAL  UINT64_C(6) /* until object or configuration change; tried seldom */
#define CCM_ERROR_CANCELLED UINT64_C(7) /* shutdown or deadline; says nothing about the object */
#define CCM_ERROR_BUG       UINT64_C(8) /* cannot happen; report it */

#define CCM_ERROR_MESSAGE_MAX 1024
#define CCM_ERROR_CODE_MAX    96

struct ccm_error {
    uint64_t struct_size;
    uint64_t kind;                       /* CCM_ERROR_* */
    uint64_t retry_after_ms;             /* hint of the other side; 0 = none */
    uint64_t http_status;                /* 0 = no answer */
    char code[CCM_ERROR_CODE_MAX];       /* the cloud's code or the Status reason; "" = none */
    char request_id[CCM_ERROR_CODE_MAX]; /* the cloud's request id; "" = none */
    char message[CCM_ERROR_MESSAGE_MAX]; /* for people; cut when longer */
    /* Bytes at the end of the message that differ from try to try of the same cause: a request id,
     * how long it waits. What stands before them names the cause. 0 = none. */
    uint64_t detail_len;
    uint64_t reserved[3]; /* 0 */
};

#ifdef __cplusplus /* before C++20 without names of members */
#define CCM_ERROR_INIT                                                                             \
    {                                                                                              \
        sizeof(struct ccm_error), 0, 0, 0, "", "", "", 0,                                          \
        {                                                                                          \
        }                                                                                          \
    }
#else
#define CCM_ERROR_INIT                                                                             \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_error)                                                    \
    }
#endif

/* Forget the failure. */
CCM_FUNCTION void ccm_error_clear(struct ccm_error *err);

/* Copy, for errors that outlive a call. */
CCM_FUNCTION void ccm_error_copy(struct ccm_error *to, const struct ccm_error *from);

/* Set kind and message, clearing what was there. Returns `result` (a negative errno), so that a
 * caller can write `return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "...");`. err may be
 * NULL; the arguments may not point into *err. */
__attribute__((format(printf, 4, 5))) CCM_FUNCTION int
ccm_error_set(struct ccm_error *err, int result, uint64_t kind, const char *format, ...);

/* The same with a text that is taken as it is. */
CCM_FUNCTION int ccm_error_set_text(struct ccm_error *err, int result, uint64_t kind,
                                    const char *text);

/* Put "context: " in front of the message, keep everything else. Returns `result`. err may be NULL.
 */
__attribute__((format(printf, 3, 4))) CCM_FUNCTION int
ccm_error_wrap(struct ccm_error *err, int result, const char *format, ...);

/* The same with a context that is taken as it is. */
CCM_FUNCTION int ccm_error_wrap_text(struct ccm_error *err, int result, const char *context);

/* Put a text behind the message that differs from try to try of the same cause. */
CCM_FUNCTION void ccm_error_add_detail(struct ccm_error *err, const char *text);

/* Set request_id, and put " (RequestId {id})" behind the message as a detail. */
CCM_FUNCTION void ccm_error_add_request_id(struct ccm_error *err, const char *id);

/* Length of the message without its details: equal up to there is the same cause. */
CCM_FUNCTION uint64_t ccm_error_cause_len(const struct ccm_error *err);

/* "Out of memory" in one word: sets a transient error and returns -ENOMEM. err may be NULL. */
CCM_FUNCTION int ccm_error_nomem(struct ccm_error *err);

#ifndef CCM_EXTERN_FUNCTIONS

CCM_FUNCTION void ccm_error_clear(struct ccm_error *err)
{
    memset(err, 0, sizeof(*err));
    err->struct_size = sizeof(*err);
}

CCM_FUNCTION void ccm_error_copy(struct ccm_error *to, const struct ccm_error *from)
{
    memcpy(to, from, sizeof(*to));
}

CCM_FUNCTION int ccm_error_set(struct ccm_error *err, int result, uint64_t kind, const char *format,
                               ...)
{
    if (err != NULL) {
        va_list args;

        ccm_error_clear(err);
        err->kind = kind;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof(err->message), format, args); /* cut by contract */
        va_end(args);
    }
    return result;
}

CCM_FUNCTION int ccm_error_set_text(struct ccm_error *err, int result, uint64_t kind,
                                    const char *text)
{
    return ccm_error_set(err, result, kind, "%s", text);
}

CCM_FUNCTION int ccm_error_wrap(struct ccm_error *err, int result, const char *format, ...)
{
    if (err != NULL) {
        char inner[CCM_ERROR_MESSAGE_MAX];
        va_list args;

        memcpy(inner, err->message, sizeof(inner));
        inner[sizeof(inner) - 1] = '\0';
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof(err->message), format, args); /* cut by contract */
        va_end(args);

        const size_t used = strlen(err->message);

        if (used + 3 < sizeof(err->message)) {
            const size_t room = sizeof(err->message) - used - 3;
            const size_t whole = strlen(inner);
            const size_t length = whole < room ? whole : room;

            memcpy(err->message + used, ": ", 2);
            memcpy(err->message + used + 2, inner, length);
            err->message[used + 2 + length] = '\0';
            err->detail_len -= whole - length < err->detail_len ? whole - length : err->detail_len;
        }
    }
    return result;
}

CCM_FUNCTION int ccm_error_wrap_text(struct ccm_error *err, int result, const char *context)
{
    return ccm_error_wrap(err, result, "%s", context);
}

CCM_FUNCTION void ccm_error_add_detail(struct ccm_error *err, const char *text)
{
    const size_t used = strlen(err->message);
    const size_t room = sizeof(err->message) - used - 1;
    const size_t whole = strlen(text);
    const size_t length = whole < room ? whole : room;

    memcpy(err->message + used, text, length);
    err->message[used + length] = '\0';
    err->detail_len += length;
}

CCM_FUNCTION void ccm_error_add_request_id(struct ccm_error *err, const char *id)
{
    (void)snprintf(err->request_id, sizeof(err->request_id), "%s", id); /* cut by contract */
    ccm_error_add_detail(err, " (RequestId ");
    ccm_error_add_detail(err, err->request_id);
    ccm_error_add_detail(err, ")");
}

CCM_FUNCTION uint64_t ccm_error_cause_len(const struct ccm_error *err)
{
    const size_t whole = strlen(err->message);

    return err->detail_len < whole ? whole - err->detail_len : whole;
}

CCM_FUNCTION int ccm_error_nomem(struct ccm_error *err)
{
    return ccm_error_set(err, -ENOMEM, CCM_ERROR_TRANSIENT, "out of memory");
}

#endif

#ifdef __cplusplus
}
#endif

#endif
