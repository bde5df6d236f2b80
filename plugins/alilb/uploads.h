/*
 * Certificates of Secrets in the certificate service, for objects whose load balancers present
 * them. What is remembered of a Secret: the certificate that it stands for, and when it is to be
 * read again; of an object: the Secrets that it refers to, and the certificates that its load
 * balancer has had since its last complete pass. A certificate is deleted when no Secret in use
 * stands for it and no load balancer has it any more.
 *
 * Passes over objects register their Secrets and use what is known. One key of the queue reads the
 * Secrets, alilb_uploads_work(): no pass waits for the API server or the certificate service.
 *
 * Every thread. alilb_uploads_work() and what collects block as alilb_list() and fetch_raw() do,
 * and belong to one key.
 */
#ifndef CCM_ALILB_UPLOADS_H
#define CCM_ALILB_UPLOADS_H

#include "alilb/certificates.h"
#include "util/removal_budget.h"

#define ALILB_UPLOAD_AGAIN_MS 300000 /* a Secret that is usable is read again after it */
#define ALILB_UPLOAD_FAULT_MS 15000  /* one that is not, at first; the time doubles */

struct alilb_uploads;

/* What a Secret stands for. */
struct alilb_upload {
    bool known;                        /* name and id are what it stands for; "" = nothing */
    bool listed;                       /* else: the certificate service has no others of it */
    char name[ALILB_CERTIFICATE_NAME]; /* both stay when the Secret becomes unusable */
    char id[128];
    bool planned; /* a dry run: it would be uploaded, and id is a text for people */
    char
        why[320]; /* why that is not what the Secret says; "" = it is, or the Secret was not read */
    /* The rest belongs to alilb_uploads_work(). */
    bool wanted;       /* an object refers to the Secret */
    int64_t again_ms;  /* monotonic */
    unsigned failures; /* in a row: it could not be read or uploaded, */
    unsigned faults;   /* or it cannot be used */
    char cause[96];    /* of the failure in `why`; the same cause keeps the text */
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

/* As it was read last. False: no object refers to it yet. No I/O. */
bool alilb_uploads_get(struct alilb_uploads *uploads, const char *secret, struct alilb_upload *ret);

/* --- passes over objects; no I/O --- */

/* An object refers to these Secrets, "namespace/name", and to no others; now: of the monotonic
 * clock. 1: alilb_uploads_work() has something to do; 0: it has not; or -ENOMEM. */
CCM_NODISCARD int alilb_uploads_want(struct alilb_uploads *uploads, const char *object,
                                     const struct lbc_texts *secrets, int64_t now);

/* The load balancer of an object has the certificates of these names, and no others; or, with
 * `more`, those besides. 0 or -ENOMEM. */
CCM_NODISCARD int alilb_uploads_settle(struct alilb_uploads *uploads, const char *object,
                                       const struct lbc_texts *names, bool more);
/* Whether alilb_uploads_settle() was called for it in this process. */
bool alilb_uploads_is_settled(struct alilb_uploads *uploads, const char *object);
/* The object does not exist any more. The last certificates of its load balancer stay in use. */
void alilb_uploads_forget(struct alilb_uploads *uploads, const char *object);

/* In a dry run: a line for each of these that would be uploaded. */
void alilb_uploads_plan(struct alilb_uploads *uploads, const struct lbc_texts *secrets,
                        struct ccm_buf *to);

/* --- the key of the Secrets --- */

/* The objects. */
struct alilb_uploads_owner {
    void *arg;
    /* Put the Secrets that they refer to; unsure: those of objects whose load balancers have
     * certificates that are not known, *ret_more: there are such objects. 0 or -ENOMEM. */
    int (*wanted)(void *arg, struct lbc_texts *secrets, struct lbc_texts *unsure, bool *ret_more);
    /* What is known of a Secret of the object has changed. event: to be emitted; its object is not
     * set; NULL = none. */
    void (*changed)(void *arg, const char *object, const struct ccm_event *event);
};

/* Read some of the Secrets that are due, those of each namespace in turn, and upload their
 * certificates. After the last one delete the certificates that no load balancer has and no object
 * refers to, as far as they are of Secrets that this process knows and that are not unsure. A
 * failure concerns its Secret alone: it ends the call, and the Secret is retried later. In a dry
 * run the id says what would be uploaded, and all Secrets that are due are read. *ret_again_ms:
 * when to call again, 0 = there are no Secrets. 0, also where a Secret failed; or negative with
 * err: the certificate service failed, or a call has to wait for its turn. */
CCM_NODISCARD int alilb_uploads_work(struct alilb_uploads *uploads, struct alilb_call *call,
                                     const struct alilb_uploads_owner *owner,
                                     uint64_t *ret_again_ms, struct ccm_error *err);

/* With the options upload_certificates and orphan_cleanup: delete also what other processes of this
 * cluster have left, once it was unused for missing_wait_s while one API server answered. May read
 * the list. As long as no certificate is in use, or one object is unsure, none is deleted. A
 * failure is logged, and retried by the next call. */
void alilb_uploads_collect_left_over(struct alilb_uploads *uploads, struct alilb_call *call,
                                     const struct alilb_uploads_owner *owner);

#endif
