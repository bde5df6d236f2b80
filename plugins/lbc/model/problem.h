/*
 * The failures of one pass, collected: a broken port does not stop the others, and the event shows
 * all of them. One thread.
 */
#ifndef CCM_LBC_PROBLEM_H
#define CCM_LBC_PROBLEM_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stddef.h>

struct lbc_problems {
    size_t count;
    struct ccm_error worst;   /* the one that decides about the retry */
    struct ccm_buf text;      /* all messages with remedies, for people */
    struct ccm_buf signature; /* the same without request ids: equal means "nothing new to say" */
};

#define LBC_PROBLEMS_INIT                                                                          \
    {                                                                                              \
        .worst = CCM_ERROR_INIT, .text = { .max = 16384 }, .signature = {.max = 16384 }            \
    }

void lbc_problems_fini(struct lbc_problems *problems);

/* Add one. remedy (what a person can do) may be NULL. A repeated message only counts. */
void lbc_problems_add(struct lbc_problems *problems, const struct ccm_error *err,
                      const char *remedy);

/* Add all of `from`. */
void lbc_problems_join(struct lbc_problems *problems, const struct lbc_problems *from);

/* All as one error: the whole text, and the kind that asks for the earliest retry. */
void lbc_problems_sum(const struct lbc_problems *problems, struct ccm_error *ret);

#endif
