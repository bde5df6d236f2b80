/*
 * The failures of one pass, collected: a broken port does not stop the others, and the event shows
 * all of them. One thread.
 */
#ifndef CCM_LBC_PROBLEM_H
#define CCM_LBC_PROBLEM_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct lbc_problems {
    size_t count;
    size_t waits;           /* of these: calls that were put off until their turn comes, */
    uint64_t wait_ms;       /* the first of them after that */
    struct ccm_error worst; /* the one that decides about the retry */
    struct ccm_buf text;    /* all messages with remedies, for people */
    struct ccm_buf cause; /* the same without details of tries: equal means "nothing new to say" */
};

#define LBC_PROBLEMS_INIT                                                                          \
    {                                                                                              \
        .worst = CCM_ERROR_INIT, .text = { .max = 16384 }, .cause = {.max = 16384 }                \
    }

void lbc_problems_fini(struct lbc_problems *problems);

/* Whether an error says no more than that a call has to come again after err->retry_after_ms: our
 * own side holds it back, the cloud was not asked. */
bool lbc_error_is_put_off(const struct ccm_error *err);

/* Whether that is all that there is. */
bool lbc_problems_only_wait(const struct lbc_problems *problems);

/* Add one. remedy (what a person can do) may be NULL. A repeated message only counts, as does a
 * call that was put off. */
void lbc_problems_add(struct lbc_problems *problems, const struct ccm_error *err,
                      const char *remedy);

/* Add all of `from`. */
void lbc_problems_join(struct lbc_problems *problems, const struct lbc_problems *from);

/* All as one error: the whole text, and the kind that asks for the earliest retry. Calls that were
 * put off are an error of their own only where nothing else went wrong; beside a failure wait_ms
 * says when they come again, and the failure keeps its own backoff. */
void lbc_problems_sum(const struct lbc_problems *problems, struct ccm_error *ret);

#endif
