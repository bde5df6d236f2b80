/*
 * Steps that are in the mirror as done while the cloud is still at their jobs: a pass does not wait
 * for long ones in its worker, the next one asks what came of them before it does anything else.
 * One thread at a time.
 */
#ifndef CCM_LBC_UNDERWAY_H
#define CCM_LBC_UNDERWAY_H

#include "lbc/apply/step.h"

/* What of a step is needed to tell its failure. */
struct lbc_underway_job {
    char id[LBC_JOB_MAX];
    char request_id[CCM_ERROR_CODE_MAX];
    unsigned type;
    uint16_t port;
    enum lbc_protocol protocol;
    char *group_id; /* NULL: it is about none */
    struct lbc_backends backends;
};

/* Zeroed: none. */
struct lbc_underway {
    struct lbc_underway_job *items;
    size_t len;
    size_t cap;
    int64_t end_ms; /* monotonic: what has not ended by then has failed */
};

void lbc_underway_fini(struct lbc_underway *underway);
/* Add a step that was sent. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_underway_add(struct lbc_underway *underway, const struct lbc_step *step);
/* Drop all that `keep`, which has `len`, says false of. */
void lbc_underway_keep(struct lbc_underway *underway, const bool *keep);

#endif
