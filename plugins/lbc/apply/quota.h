/*
 * Creations that a pass leaves out because there is no room for more of the kind: the first refusal
 * stands for those that would follow, and one problem names them all. One thread.
 */
#ifndef CCM_LBC_QUOTA_H
#define CCM_LBC_QUOTA_H

#include "lbc/model/problem.h"

#include <stdbool.h>

struct lbc_quota {
    bool full;
    struct ccm_error why; /* the refusal */
    struct ccm_buf names; /* of what was left out */
    size_t unnamed;       /* more of them than a message can hold */
};

#define LBC_QUOTA_INIT                                                                             \
    {                                                                                              \
        .full = false, .why = CCM_ERROR_INIT, .names = {.max = 560 }                               \
    }

void lbc_quota_fini(struct lbc_quota *quota);

/* A creation was refused with that error for lack of room. */
void lbc_quota_set_full(struct lbc_quota *quota, const struct ccm_error *err);
/* Something has gone: the next creation may try again. */
void lbc_quota_clear_full(struct lbc_quota *quota);
/* A creation was not tried. */
void lbc_quota_leave_out(struct lbc_quota *quota, const char *name);
/* Add what was left out, as one problem; what says what kind of step it was. */
void lbc_quota_report(const struct lbc_quota *quota, const char *what,
                      struct lbc_problems *problems);

#endif
