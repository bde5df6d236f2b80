/*
 * Failures of passes: the one event about them, which lasts until one is over, and how many there
 * were in a row. One thread per pass.
 */
#ifndef CCM_LBC_FAILURE_H
#define CCM_LBC_FAILURE_H

#include "ccm/error.h"
#include "util/retry_text.h"

#include <stdbool.h>
#include <stdint.h>

struct lbc_pass;

/* Of one Service. Starts zeroed. */
struct lbc_failure_memory {
    uint32_t count;     /* passes in a row that failed */
    uint32_t unsaid;    /* and whose condition could not be written either */
    uint64_t unsaid_ms; /* of the last pass: when its condition is written again; 0 = it is said */
    bool stands;        /* the event is out */
};

/* Whether the last pass did not fail. */
static inline bool lbc_failure_is_first(const struct lbc_failure_memory *memory)
{
    return memory->count == 0;
}
/* Whether it fails so often that tries wait in the last lane, as of the queue. */
static inline bool lbc_failure_repeats(const struct lbc_failure_memory *memory)
{
    return memory->count >= 2;
}
static inline bool lbc_failure_stands(const struct lbc_failure_memory *memory)
{
    return memory->stands;
}
/* A pass has ended, r of it. */
void lbc_failure_count(struct lbc_failure_memory *memory, int r, const struct ccm_error *err);
/* The condition of a failed pass: w and err of its write, 0 = it was written, or the pass did not
 * fail. */
void lbc_failure_note_unsaid(struct lbc_pass *pass, int w, const struct ccm_error *err);
/* At the end of a pass: in how many ms that is written again; 0 = it was. */
uint64_t lbc_failure_take_unsaid_ms(struct lbc_failure_memory *memory);

/* When a failure of the pass is tried again. */
void lbc_pass_format_retry(const struct lbc_pass *pass, const struct ccm_error *err,
                           char ret[static CCM_RETRY_TEXT]);
/* The failure of the pass before is over. */
void lbc_pass_end_failure(struct lbc_pass *pass);
/* All of them are over. */
void lbc_pass_end_standing(struct lbc_pass *pass);
/* "{what} [{id}]: {message} ({remedy}). {when it is tried again}" as a Warning event that lasts;
 * reason and what as the pass ensures or releases. Returns r. */
int lbc_pass_fail(struct lbc_pass *pass, int r, struct ccm_error *err);
int lbc_pass_fail_as(struct lbc_pass *pass, const char *reason, const char *what, int r,
                     struct ccm_error *err);
/* The same for an answer of the API server, which has no remedy. */
int lbc_pass_fail_kube(struct lbc_pass *pass, const char *reason, const char *what, int r,
                       struct ccm_error *err);
/* The same for all problems; -EIO with their sum in err. */
int lbc_pass_fail_all(struct lbc_pass *pass, struct ccm_error *err);
/* What cannot be used of the Service becomes the first of the problems. */
void lbc_pass_join_refused(struct lbc_pass *pass);

#endif
