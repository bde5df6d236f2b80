/*
 * When certificates of the Secrets of Gateways come and go, with option upload_certificates: what a
 * Secret stands for is looked at before a pass and remembered (alilb/uploads.h), so that a Gateway
 * is read without I/O.
 */
#ifndef CCM_GATEWAY_SECRET_H
#define CCM_GATEWAY_SECRET_H

#include "subject.h"

/* Have plans tell uploads, once the front is there. */
void gateway_secrets_init(struct gateway *self);

/* Look at the Secrets of a Gateway, and have their certificates in the certificate service; the
 * subject is then made anew with what came of it. *ret_again_ms: when they are to be looked at
 * again, 0 = there are none. Blocks. The worker of the key. 0, or negative with err: what the load
 * balancer has is to stay. */
CCM_NODISCARD int gateway_secrets_look(const struct gateway *self, const struct ccm_request *req,
                                       struct gateway_subject **subject, uint64_t *ret_again_ms,
                                       struct ccm_error *err);

/* The load balancer is as the subject says, or gone: certificates that nobody has any more go.
 * later: the same after the pass, NULL = it has gone. Blocks. The worker of the key. False: between
 * the two a Secret got another certificate, which the load balancer may have or not. */
bool gateway_secrets_settle(struct gateway *self, const struct ccm_request *req,
                            const struct gateway_subject *subject,
                            const struct gateway_subject *later);

/* Those that are left over of Gateways which this process does not know, for LBC_ORPHANS_KEY.
 * Blocks. */
void gateway_secrets_collect(struct gateway *self, const struct ccm_request *req);

#endif
