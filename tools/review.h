/*
 * What `ccmd webhook` answers: an AdmissionReview (admission.k8s.io/v1) with a Service becomes the
 * verdict of lint. Services that are made or changed in what a person writes are looked at; all
 * else is allowed without a word. Every thread; nothing blocks.
 */
#ifndef CCM_TOOLS_REVIEW_H
#define CCM_TOOLS_REVIEW_H

#include "daemon/plugin_options.h"
#include "util/buf.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The API server cuts a longer warning, and drops what comes after so much in all. */
#define TOOL_REVIEW_WARNING     256
#define TOOL_REVIEW_WARNINGS    4096
#define TOOL_REVIEW_STATUS_OK   200U
#define TOOL_REVIEW_STATUS_BAD  400U
#define TOOL_REVIEW_STATUS_FULL 500U

enum tool_review_result {
    TOOL_REVIEW_ALLOWED, /* nothing to say */
    TOOL_REVIEW_WARNED,
    TOOL_REVIEW_DENIED,
    TOOL_REVIEW_BAD, /* no request that could be answered */
    TOOL_REVIEW_RESULT_COUNT
};

extern const char *const tool_review_results[TOOL_REVIEW_RESULT_COUNT];

struct tool_review {
    const struct daemon_plugin_options *plugins; /* each has lint(); borrowed */
    size_t plugin_count;
    const struct ccm_watch *const *watches; /* as in struct kube_decode_kind; borrowed */
    bool denies; /* errors refuse a Service, and a change that adds one; else they are warnings */
    atomic_ullong counts[TOOL_REVIEW_RESULT_COUNT];
};

/* The HTTP status of the answer to a body, which is appended: JSON with 200, else a line of text
 * that says what is wrong with the request. */
unsigned tool_review_answer(struct tool_review *review, const char *body, size_t len,
                            struct ccm_buf *answer);

#endif
