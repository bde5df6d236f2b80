/* What the codes of the cloud mean: one table drives kinds, retries, event texts and documentation.
 */
#ifndef CCM_ALICLOUD_ERROR_H
#define CCM_ALICLOUD_ERROR_H

#include "alicloud/client.h"

enum ccm_ali_class {
    CCM_ALI_CLASS_THROTTLED,
    CCM_ALI_CLASS_BUSY, /* an earlier change of the resource is not finished: try again in a moment
                         */
    CCM_ALI_CLASS_SERVER, /* the cloud's own fault */
    CCM_ALI_CLASS_NOT_FOUND,
    CCM_ALI_CLASS_CREDENTIAL,
    CCM_ALI_CLASS_PERMISSION,
    CCM_ALI_CLASS_QUOTA,   /* quota, money, capacity: a person has to act */
    CCM_ALI_CLASS_REQUEST, /* the request itself is refused */
    CCM_ALI_CLASS_STATE,   /* the resource, or one it needs, is in the wrong state: look again */
    CCM_ALI_CLASS_OTHER,   /* nothing is known about it: ordinary backoff */
};

struct ccm_ali_error_row {
    const char *code; /* as the cloud spells it; '*' at the end matches any rest, at the front any
                         beginning; "" is an answer without a code */
    const char *text; /* must also occur in the message; NULL = any */
    enum ccm_ali_class class_;
    const char *cause;  /* one sentence for people */
    const char *remedy; /* what to do; NULL = nothing but wait */
};

/* The row for a code and message, never NULL. code and message may be NULL. Without a code the
 * HTTP status decides; 0 there means that no answer came at all. */
CCM_ALI_API const struct ccm_ali_error_row *
ccm_ali_error_find(const char *code, const char *message, uint64_t http_status);

/* CCM_ERROR_* for a class. */
CCM_ALI_API uint64_t ccm_ali_error_kind(enum ccm_ali_class class_);

/* Rows of the table by number, NULL beyond the end: for the documentation. */
CCM_ALI_API const struct ccm_ali_error_row *ccm_ali_error_row_at(size_t index);

/* Whether a failed ccm_ali_call() says nothing about what the cloud holds: rate, busy, credentials,
 * rights, quota, shutdown. Anything else may mean that it holds something else than the caller
 * thinks. */
CCM_ALI_API bool ccm_ali_error_is_wait(const struct ccm_error *err);

/* Remedy for a failed ccm_ali_call(), or NULL: for events. */
CCM_ALI_API const char *ccm_ali_error_remedy(const struct ccm_error *err);

#endif
