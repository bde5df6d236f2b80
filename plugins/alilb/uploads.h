/*
 * Certificates of Secrets in the certificate service, for objects whose load balancers present
 * them. What is remembered of a Secret: the certificate that it stands for, and when it is to be
 * looked at again; of an object: the certificates that its load balancer has had since its last
 * pass that came to its end. A certificate goes when no Secret in use stands for it and no load
 * balancer has it any more. Every thread; what takes a call blocks as alilb_list() and fetch_raw()
 * do.
 */
#ifndef CCM_ALILB_UPLOADS_H
#define CCM_ALILB_UPLOADS_H

#include "alilb/certificates.h"
#include "util/removal_budget.h"

#define ALILB_UPLOAD_AGAIN_MS 300000 /* a Secret that is well is looked at again after it */
#define ALILB_UPLOAD_FAULT_MS 15000  /* one that is not */

struct alilb_uploads;

/* What a Secret stands for. */
struct alilb_upload {
    char name[ALILB_CERTIFICATE_NAME];    /* "" = nothing, */
    char id[128];                         /* likewise; it stays when the Secret becomes unusable */
    char why[320];                        /* it is not what the Secret says now; "" = it is */
    int64_t again_ms;                     /* monotonic; 0 = at once */
    char refused[ALILB_CERTIFICATE_NAME]; /* what the certificate service has refused, */
    int64_t refused_until_ms;             /* and is not asked again before */
};

/* For the table of a plugin; whether it is on. */
extern const struct ccm_option alilb_opt_upload;
bool alilb_uploads_are_on(const struct ccm_host *host);

/* NULL on ENOMEM. */
struct alilb_uploads *alilb_uploads_new(void);
/* NULL is fine. */
void alilb_uploads_free(struct alilb_uploads *uploads);

/* Believe nothing: the list is read, and each Secret looked at again before it counts. What they
 * stand for stays until then. */
void alilb_uploads_forget_list(struct alilb_uploads *uploads);

/* As it was looked at last. False: it was not. No I/O. */
bool alilb_uploads_get(struct alilb_uploads *uploads, const char *secret, struct alilb_upload *ret);

/* Look at these Secrets, "namespace/name", but for those that were looked at just now, and have
 * their certificates in the certificate service. In a dry run the id says what would be uploaded.
 * about: object and component of the events that say so. *ret_again_ms: when to look again, 0 =
 * there are none. 0, also for Secrets that cannot be used; or negative with err, which `why` says,
 * too: what there was stays. */
CCM_NODISCARD int alilb_uploads_look(struct alilb_uploads *uploads, struct alilb_call *call,
                                     const struct lbc_texts *secrets, const struct ccm_event *about,
                                     uint64_t *ret_again_ms, struct ccm_error *err);

/* In a dry run: a line for each of these that would be uploaded. */
void alilb_uploads_plan(struct alilb_uploads *uploads, const struct lbc_texts *secrets,
                        struct ccm_buf *to);

/* The load balancer of an object has the certificates of these Secrets, as they were looked at
 * last, and no others. 0 or -ENOMEM. */
CCM_NODISCARD int alilb_uploads_settle(struct alilb_uploads *uploads, const char *object,
                                       const struct lbc_texts *secrets);
/* Whether that was said of it in this process. */
bool alilb_uploads_is_settled(struct alilb_uploads *uploads, const char *object);
/* The object has gone; what its load balancer had last counts on, unless that is nothing. */
void alilb_uploads_forget(struct alilb_uploads *uploads, const char *object);

/* Put the Secrets that objects want. 0; or negative: of an object it is not known what its load
 * balancer has, or out of memory. */
typedef int (*alilb_uploads_wanted_fn)(void *arg, struct lbc_texts *secrets);

/* Delete what no load balancer has and no object wants, as far as it is of Secrets that this
 * process has looked at; only then a call is made. What fails is logged, and left to the next time.
 */
void alilb_uploads_collect(struct alilb_uploads *uploads, struct alilb_call *call,
                           alilb_uploads_wanted_fn fn, void *arg);

/* With the options upload_certificates and orphan_cleanup: also all that other processes of this
 * cluster have left, as soon as it has been so for missing_wait_s, since one API server has
 * answered; the list may have to be read for it. As long as nothing is in use nothing goes. */
void alilb_uploads_collect_left_over(struct alilb_uploads *uploads, struct alilb_call *call,
                                     alilb_uploads_wanted_fn fn, void *arg);

#endif
