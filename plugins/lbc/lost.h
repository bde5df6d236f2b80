/*
 * Services whose load balancer is gone although their status shows one: deleted in the cloud,
 * or without its ownership tag. Their passes fail. One list per minute searches for all of them: a
 * Service whose load balancer is found again is reconciled at once.
 * Option recreate_deleted: one that the cloud says does not exist, and that was missing for a whole
 * period, is created again; not so while a list shows none of all that Services show (two and
 * more), as that of another account would. Every thread, but for the look, which one thread does at
 * a time.
 */
#ifndef CCM_LBC_LOST_H
#define CCM_LBC_LOST_H

#include "ccm/plugin.h"
#include "util/attr.h"

#include <stdbool.h>

/* The key of the look; no Service is called so. */
#define LBC_LOST_KEY "lost load balancers"

struct lbc_instance;
struct lbc_lost;
struct lbc_pass;

/* NULL on ENOMEM. */
struct lbc_lost *lbc_lost_new(void);
/* NULL is fine. */
void lbc_lost_free(struct lbc_lost *lost);

/* What became of the load balancer that the Service had, when no tag leads to one. */
struct lbc_lost_known {
    int found; /* -ENOENT: the cloud says that it does not exist; LBC_LOOKUP_NOT_OURS; -ENODATA:
                  that is not known */
    struct ccm_error why; /* of LBC_LOOKUP_NOT_OURS */
    bool untagged;        /* it exists, and carries no tag of another owner or cluster */
};

#define LBC_LOST_UNKNOWN                                                                           \
    {                                                                                              \
        .found = -ENODATA, .why = CCM_ERROR_INIT                                                   \
    }

/* For a pass that ensures and has found none, though the status shows one. 0: another one may be
 * made. Else negative with err: what became of it, what a person can do, when it is looked for;
 * from then on it is. No call. */
CCM_NODISCARD int lbc_lost_check(struct lbc_pass *pass, const struct lbc_lost_known *known,
                                 struct ccm_error *err);
/* What lbc_lost_check() says when no other one may be made: negative with err. */
int lbc_lost_refuse(const struct lbc_pass *pass, const struct lbc_lost_known *known,
                    struct ccm_error *err);
/* It is about to be made again. */
void lbc_lost_emit_recreated(struct lbc_pass *pass);
/* There is one. */
void lbc_lost_end(struct lbc_pass *pass);
/* The Service has gone, or wants none. */
void lbc_lost_forget(struct lbc_instance *lbc, const char *key);

/* One look, for the reconcile of the key; comes again while something is lost. Blocks for one list.
 * 0, or negative with err. */
CCM_NODISCARD int lbc_lost_look(struct lbc_instance *lbc, const struct ccm_request *req,
                                struct ccm_result *ret, struct ccm_error *err);

#endif
