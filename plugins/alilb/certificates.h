/*
 * Certificates in the certificate service, by name. The list of the account is read once per
 * process and from then on kept in step with what is written here; where that left something open
 * (an answer that was lost, a name that is taken) it is read again, so that nothing is made twice.
 * Only names that begin as ours are kept. Every thread. What takes a call blocks as alilb_list()
 * does.
 */
#ifndef CCM_ALILB_CERTIFICATES_H
#define CCM_ALILB_CERTIFICATES_H

#include "alilb/action.h"
#include "alilb/tls_secret.h"

struct alilb_certificates;

/* NULL on ENOMEM. */
struct alilb_certificates *alilb_certificates_new(void);
/* NULL is fine. */
void alilb_certificates_free(struct alilb_certificates *certificates);

/* The list is read again before it counts: somebody else has changed what is there. */
void alilb_certificates_forget(struct alilb_certificates *certificates);

/* The id of that name; with `starts`, of one whose name starts so, of several the first by name.
 * *ret_id NULL: there is none; else the caller frees it. ret_name may be NULL. 0, or negative with
 * err. */
CCM_NODISCARD int alilb_certificates_find(struct alilb_certificates *certificates,
                                          struct alilb_call *call, const char *name, bool starts,
                                          char **ret_id, char *ret_name, struct ccm_error *err);

/* Put it there under that name, unless it is there. The caller frees *ret_id. 0, or negative with
 * err. */
CCM_NODISCARD int alilb_certificates_make(struct alilb_certificates *certificates,
                                          struct alilb_call *call, const char *name,
                                          const struct alilb_tls_secret *secret, char **ret_id,
                                          struct ccm_error *err);

/* Delete that of a name. None is there: fine. 0, or negative with err. */
CCM_NODISCARD int alilb_certificates_remove(struct alilb_certificates *certificates,
                                            struct alilb_call *call, const char *name,
                                            struct ccm_error *err);

/* The names that start so; with `known` those that the last list had, without a call. 0; 1: with
 * `known`, there is no list yet; or negative with err. */
CCM_NODISCARD int alilb_certificates_names(struct alilb_certificates *certificates,
                                           struct alilb_call *call, const char *prefix, bool known,
                                           struct lbc_texts *ret, struct ccm_error *err);

#endif
