#include "lbc/apply/quota.h"

#include "util/text.h"

#include <stdio.h>
#include <string.h>

void lbc_quota_fini(struct lbc_quota *quota)
{
    ccm_buf_fini(&quota->names);
}

void lbc_quota_set_full(struct lbc_quota *quota, const struct ccm_error *err)
{
    quota->full = true;
    ccm_error_copy(&quota->why, err);
}

void lbc_quota_clear_full(struct lbc_quota *quota)
{
    quota->full = false;
}

void lbc_quota_leave_out(struct lbc_quota *quota, const char *name)
{
    if (quota->unnamed > 0 || quota->names.len + strlen(name) + 2 > quota->names.max) {
        quota->unnamed++;
        return;
    }
    ccm_buf_addf(&quota->names, "%s%s", quota->names.len == 0 ? "" : ", ", name);
}

void lbc_quota_report(const struct lbc_quota *quota, const char *what,
                      struct lbc_problems *problems)
{
    struct ccm_error err = quota->why;
    char more[40] = "";

    if (quota->names.len == 0 && quota->unnamed == 0) {
        return;
    }
    if (quota->unnamed > 0) {
        ccm_text_printf(more, sizeof(more), " and %zu more", quota->unnamed);
    }
    (void)ccm_error_set(&err, 0, quota->why.kind, "%s: left out for the same lack of room: %s%s",
                        what, ccm_buf_str(&quota->names), more); /* the text is what counts */
    lbc_problems_add(problems, &err, NULL);
}
