/*
 * When certificates of the Secrets of Gateways are uploaded and deleted, with option
 * upload_certificates. Passes use what is known of a Secret (alilb/uploads.h), so that no Gateway
 * waits for one; a key of its own reads all Secrets after these passes. A dry run has no next pass:
 * it reads the Secrets first.
 */
#ifndef CCM_GATEWAY_SECRET_H
#define CCM_GATEWAY_SECRET_H

#include "subject.h"

#define GATEWAY_SECRETS_KEY "Secrets" /* of the queue */

/* Have plans tell uploads, once front and engine are there. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_secrets_init(struct gateway *self);

/* In a dry run: read the Secrets of a Gateway, and build the subject anew with them. Blocks. 0 or
 * -ENOMEM. */
CCM_NODISCARD int gateway_secrets_plan(const struct gateway *self, const struct ccm_request *req,
                                       struct gateway_subject **subject);

/* After a pass: remember the Secrets of a Gateway, and enqueue the key that reads them. No I/O. 0
 * or -ENOMEM. */
CCM_NODISCARD int gateway_secrets_want(const struct gateway *self,
                                       const struct gateway_subject *subject);

/* The load balancer is as the subject says, or deleted: certificates that are not in use may be
 * deleted. later: the subject after the pass, NULL = it does not exist any more. No I/O. The worker
 * of the key. False: between the two a Secret got another certificate, which the load balancer may
 * have or not. */
bool gateway_secrets_settle(const struct gateway *self, const char *key,
                            const struct gateway_subject *subject,
                            const struct gateway_subject *later);

/* GATEWAY_SECRETS_KEY: read Secrets, and delete certificates that are not in use. Blocks. 0 or
 * negative with err. */
CCM_NODISCARD int gateway_secrets_reconcile(struct gateway *self, const struct ccm_request *req,
                                            struct ccm_result *ret, struct ccm_error *err);

/* Those that are left over of Gateways which this process does not know, for LBC_ORPHANS_KEY.
 * Blocks. */
void gateway_secrets_collect(struct gateway *self, const struct ccm_request *req);

#endif
