/* Validating admission webhooks, as their ValidatingWebhookConfigurations say. The caller holds the
 * cluster's lock: a webhook that asks this server waits for ever. */
#ifndef CCM_KS_WEBHOOK_H
#define CCM_KS_WEBHOOK_H

#include "call.h"

/*
 * Ask those whose rules name the request, one after the other: warnings become headers. A webhook
 * is reached by clientConfig.url alone, and matchConditions and selectors are not looked at. 0, or
 * negative after the reply was made: one refuses, or cannot be asked and its failurePolicy is Fail.
 */
CCM_NODISCARD int ccm_ks_webhook_review(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                                        const cJSON *object, const cJSON *old);

#endif
