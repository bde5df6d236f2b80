/*
 * Certificates of Secrets in the certificate service, for objects whose load balancers present
 * them. What is remembered of a Secret: the certificate that it stands for, and when it is to be
 * looked at again; of an object: the Secrets that it wants, and the certificates that its load
 * balancer has had since its last pass that came to its end. A certificate goes when no Secret in
 * use stands for it and no load balancer has it any more.
 *
 * Passes over objects do no more than say what they want and use what is known. The Secrets are
 * looked at by a key of the queue of their own, alilb_uploads_work(): whatever becomes of a Secret
 * or of the certificate service, no pass waits for it.
 *
 * Every thread. alilb_uploads_work() and what collects block as alilb_list() and fetch_raw() do,
 * and belong to one key.
 */
#ifndef CCM_ALILB_UPLOADS_H
#define CCM_ALILB_UPLOADS_H

#include "alilb/certificates.h"
#include "util/removal_budget.h"

#define ALILB_UPLOAD_AGAIN_MS 300000 /* a Secret that is well is looked at again after it */
#define ALILB_UPLOAD_FAULT_MS 15000  /* one that is not, at first; then after twice that, ... */

struct alilb_uploads;

/* What a Secret stands for. */
struct alilb_upload {
    bool known;                        /* name and id are what it stands for; "" = nothing */
    char name[ALILB_CERTIFICATE_NAME]; /* both stay when the Secret becomes unusable */
    char id[128];
    char why[320]; /* it is not what the Secret says now; "" = it is, or, unless it is known, nobody
                      has looked yet */
    /* The rest is alilb_uploads_work()'s own. */
    bool wanted;
    int64_t again_ms;                     /* monotonic */
    unsigned failures;                    /* in a row: nothing was learned, */
    unsigned faults;                      /* or it cannot be used */
    char cause[96];                       /* what makes `why` of a failure the same */
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

/* As it was looked at last. False: nobody wants it yet. No I/O. */
bool alilb_uploads_get(struct alilb_uploads *uploads, const char *secret, struct alilb_upload *ret);

/* --- passes over objects; no I/O --- */

/* These Secrets, "namespace/name", are what an object wants, and no others; now: of the monotonic
 * clock. 1: there is something to do for alilb_uploads_work(); 0: there is not; or -ENOMEM. */
CCM_NODISCARD int alilb_uploads_want(struct alilb_uploads *uploads, const char *object,
                                     const struct lbc_texts *secrets, int64_t now);

/* The load balancer of an object has the certificates of these names, and no others; or, with
 * `more`, those besides. 0 or -ENOMEM. */
CCM_NODISCARD int alilb_uploads_settle(struct alilb_uploads *uploads, const char *object,
                                       const struct lbc_texts *names, bool more);
/* Whether that was said of it in this process. */
bool alilb_uploads_is_settled(struct alilb_uploads *uploads, const char *object);
/* The object has gone; what its load balancer had last counts on, unless that is nothing. */
void alilb_uploads_forget(struct alilb_uploads *uploads, const char *object);

/* In a dry run: a line for each of these that would be uploaded. */
void alilb_uploads_plan(struct alilb_uploads *uploads, const struct lbc_texts *secrets,
                        struct ccm_buf *to);

/* --- the key of the Secrets --- */

/* The objects. */
struct alilb_uploads_owner {
    void *arg;
    /* Put the Secrets that they want. 0; or negative: of an object it is not known what its load
     * balancer has, or out of memory. */
    int (*wanted)(void *arg, struct lbc_texts *secrets);
    /* A Secret that the object wants stands for something else, or it says something else. event:
     * to be written about the object, which it lacks; NULL = none. */
    void (*changed)(void *arg, const char *object, const struct ccm_event *event);
};

/* Look at some of the Secrets that are due, those of each namespace in turn, and have their
 * certificates in the certificate service; after the last one delete what no load balancer has and
 * no object wants, as far as it is of Secrets that this process knows. A failure is of its Secret
 * alone, ends the call, and has the Secret come again later. In a dry run the id says what would be
 * uploaded, and all that are due are looked at. *ret_again_ms: when to call again, 0 = nobody wants
 * any. 0, also where a Secret failed; or negative with err: the certificate service does, or
 * what was asked of it has to wait for its turn. */
CCM_NODISCARD int alilb_uploads_work(struct alilb_uploads *uploads, struct alilb_call *call,
                                     const struct alilb_uploads_owner *owner,
                                     uint64_t *ret_again_ms, struct ccm_error *err);

/* With the options upload_certificates and orphan_cleanup: delete also all that other processes of
 * this cluster have left, as soon as it has been so for missing_wait_s, since one API server has
 * answered; the list may have to be read for it. As long as nothing is in use nothing goes. What
 * fails is logged, and left to the next time. */
void alilb_uploads_collect_left_over(struct alilb_uploads *uploads, struct alilb_call *call,
                                     const struct alilb_uploads_owner *owner);

#endif
