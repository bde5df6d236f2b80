/*
 * When certificates of the Secrets of Gateways come and go, with option upload_certificates. Passes
 * go by what is known of a Secret (alilb/uploads.h), so that a Gateway is read and served without
 * I/O; all Secrets are looked at by one key of their own, behind the passes that want them. A dry
 * run has no next pass: there the Secrets come first.
 */
#ifndef CCM_GATEWAY_SECRET_H
#define CCM_GATEWAY_SECRET_H

#include "subject.h"

#define GATEWAY_SECRETS_KEY "Secrets" /* of the queue */

/* Have plans tell uploads, once the front is there. */
void gateway_secrets_init(struct gateway *self);

/* In a dry run: look at the Secrets of a Gateway; the subject is then made anew with what came of
 * it. Blocks. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_secrets_plan(const struct gateway *self, const struct ccm_request *req,
                                       struct gateway_subject **subject);

/* After a pass: what a Gateway wants is remembered, and what is to be done for it enqueued. No I/O.
 * 0 or -ENOMEM. */
CCM_NODISCARD int gateway_secrets_want(const struct gateway *self,
                                       const struct gateway_subject *subject);

/* The load balancer is as the subject says, or gone: certificates that nobody has any more may go.
 * later: the same after the pass, NULL = it has gone. No I/O. The worker of the key. False: between
 * the two a Secret got another certificate, which the load balancer may have or not. */
bool gateway_secrets_settle(const struct gateway *self, const char *key,
                            const struct gateway_subject *subject,
                            const struct gateway_subject *later);

/* GATEWAY_SECRETS_KEY: look at Secrets, and delete what nobody uses. Blocks. 0 or negative with
 * err. */
CCM_NODISCARD int gateway_secrets_reconcile(struct gateway *self, const struct ccm_request *req,
                                            struct ccm_result *ret, struct ccm_error *err);

/* Those that are left over of Gateways which this process does not know, for LBC_ORPHANS_KEY.
 * Blocks. */
void gateway_secrets_collect(struct gateway *self, const struct ccm_request *req);

#endif
