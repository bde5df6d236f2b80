/*
 * Several failures of one pass, collected: a broken port does not stop the others, and the person
 * who reads the event sees all of them. One thread.
 */
#ifndef CCM_SERVICE_PROBLEM_H
#define CCM_SERVICE_PROBLEM_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stddef.h>

struct ccm_problems {
    size_t count;
    struct ccm_error worst;   /* the one that decides about the retry */
    struct ccm_buf text;      /* all messages with remedies, for people */
    struct ccm_buf signature; /* the same without request ids: equal means "nothing new to say" */
};

#define CCM_PROBLEMS_INIT                                                                          \
    {                                                                                              \
        .worst = CCM_ERROR_INIT, .text = { .max = 16384 }, .signature = {.max = 16384 }            \
    }

void ccm_problems_fini(struct ccm_problems *problems);

/* Add one. remedy (what a person can do) may be NULL. A message that is there already counts but is
 * not repeated. */
void ccm_problems_add(struct ccm_problems *problems, const struct ccm_error *err,
                      const char *remedy);

/* Add all of `from`. */
void ccm_problems_join(struct ccm_problems *problems, const struct ccm_problems *from);

/* The sum as one error: the kind that asks for the earliest retry wins; the message is the whole
 * text. */
void ccm_problems_sum(const struct ccm_problems *problems, struct ccm_error *ret);

#endif
