/* What the parts of uploads.h share. */
#ifndef CCM_ALILB_UPLOADS_OWN_H
#define CCM_ALILB_UPLOADS_OWN_H

#include "alilb/uploads.h"
#include "util/strmap.h"

#include <pthread.h>
#include <stdint.h>

struct alilb_uploads {
    struct alilb_certificates *certificates;
    pthread_mutex_t lock;       /* guards the rest; a leaf */
    struct ccm_strmap *secrets; /* "namespace/name" -> struct alilb_upload */
    struct ccm_strmap *wants;   /* object -> struct lbc_texts, Secrets */
    struct ccm_strmap *holders; /* object -> struct lbc_texts, names */
    bool changed;               /* what load balancers have: something may be unused */
    unsigned failures;          /* of the certificate service, in a row */
    char ended_at[320];         /* Secret whose failure ended a call last */
    struct ccm_strmap *unused;  /* name -> since when, heap; of those that are left over */
    int64_t since_ms;           /* of `unused`: the API server's */
};

/* Names of the certificates of these Secrets, as far as they are known, into `to`. 0 or -ENOMEM. */
CCM_NODISCARD int alilb_uploads_put_names(struct alilb_uploads *uploads,
                                          const struct lbc_texts *secrets, struct lbc_texts *to);

/* Delete what is not used, if that may have changed. A failure is logged. 0, or negative: something
 * is left to do. Blocks. */
CCM_NODISCARD int alilb_uploads_collect(struct alilb_uploads *uploads, struct alilb_call *call,
                                        const struct alilb_uploads_owner *owner);

#endif
