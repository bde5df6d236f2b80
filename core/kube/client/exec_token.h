/*
 * The credential of a plugin as it is now: kept until it ends or is refused, fetched anew ahead of
 * its end by a thread of its own, so that no caller waits for the program while there is a
 * credential that is good. Thread-safe.
 */
#ifndef CCM_KUBE_EXEC_TOKEN_H
#define CCM_KUBE_EXEC_TOKEN_H

#include "kube/client/exec.h"
#include "util/cancel.h"

struct kube_exec_token;

/* Takes `exec` over, also on failure. NULL on ENOMEM. */
struct kube_exec_token *kube_exec_token_new(struct kube_exec *exec);
/* Ends the program if it runs. Nobody may wait in get(). NULL is fine. */
void kube_exec_token_free(struct kube_exec_token *token);

/*
 * A copy of the credential; *ret is zeroed before, and the caller's. Waits only while there is none
 * that is good, until deadline_ms (monotonic; 0 = 20 s) or until `cancel` (may be NULL) is set.
 * What failed is not tried again for 1 s, doubling up to 30 s: until then its error is the answer.
 * 0, or as kube_exec_run(), or -ENOMEM.
 */
CCM_NODISCARD int kube_exec_token_get(struct kube_exec_token *token, int64_t deadline_ms,
                                      const struct ccm_cancel *cancel, struct kube_credential *ret,
                                      struct ccm_error *err);

/* The server refused it: forget it, if it is the present one and no younger than 1 s. True when
 * get() will fetch another, or has one already. */
bool kube_exec_token_renew(struct kube_exec_token *token, const struct kube_credential *refused);

#endif
