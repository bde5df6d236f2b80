/* What the codes of the cloud mean: one table drives kinds, retries, event texts and documentation.
 */
#ifndef CCM_ALICLOUD_ERROR_H
#define CCM_ALICLOUD_ERROR_H

#include "alicloud/client.h"

enum ali_class {
    ALI_CLASS_THROTTLED,
    ALI_CLASS_BUSY,   /* an earlier change of the resource is not finished: try again in a moment
                       */
    ALI_CLASS_SERVER, /* the cloud's own fault */
    ALI_CLASS_NOT_FOUND,
    ALI_CLASS_CREDENTIAL,
    ALI_CLASS_PERMISSION,
    ALI_CLASS_QUOTA,   /* quota, money, capacity: a person has to act */
    ALI_CLASS_REQUEST, /* the request itself is refused */
    ALI_CLASS_STATE,   /* the resource, or one it needs, is in the wrong state: look again */
    ALI_CLASS_OTHER,   /* nothing is known about it: ordinary backoff */
};

struct ali_error_row {
    const char *code; /* as the cloud spells it; '*' at the end matches any rest, at the front any
                         beginning; "" is an answer without a code */
    const char *text; /* must also occur in the message; NULL = any */
    enum ali_class class_;
    const char *cause;  /* one sentence for people */
    const char *remedy; /* what to do; NULL = nothing but wait */
};

/* The row for a code and message, never NULL. code and message may be NULL. Without a code the
 * HTTP status decides; 0 there means that no answer came at all. */
ALI_API const struct ali_error_row *ali_error_find(const char *code, const char *message,
                                                   uint64_t http_status);

/* CCM_ERROR_* for a class. */
ALI_API uint64_t ali_error_kind(enum ali_class class_);

/* Rows of the table by number, NULL beyond the end: for the documentation. */
ALI_API const struct ali_error_row *ali_error_row_at(size_t index);

/* Whether a failed ali_call() says nothing about what the cloud holds: rate, busy, credentials,
 * rights, quota, shutdown. Anything else may mean that it holds something else than the caller
 * thinks. */
ALI_API bool ali_error_is_wait(const struct ccm_error *err);

/* Whether a failed ali_call() was not sent, or not sent again, because its turn comes later than
 * its patience lasts: err->retry_after_ms tells when to call again. */
ALI_API bool ali_error_is_put_off(const struct ccm_error *err);

/* Remedy for a failed ali_call(), or NULL: for events. */
ALI_API const char *ali_error_remedy(const struct ccm_error *err);

#endif
