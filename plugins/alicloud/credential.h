/*
 * Credentials: an immutable, reference-counted record that is swapped as a whole, so that key,
 * secret and token never mix. The caller who finds it due (80 % of its life, or a changed file)
 * fetches the next one while the others go on with the present one; the last good one is kept when
 * that fails. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_H
#define CCM_ALICLOUD_CREDENTIAL_H

#include "alicloud/ctx.h"
#include "alicloud/metadata.h"
#include "util/secret.h"

struct ccm_credential {
    char *key_id;
    struct ccm_secret secret;
    struct ccm_secret token; /* empty: a permanent key */
    uint64_t serial;         /* grows with every record of the process */
};

enum ccm_credential_source {
    CCM_CREDENTIAL_ENV,
    CCM_CREDENTIAL_FILE,
    CCM_CREDENTIAL_RAM_ROLE,
};

struct ccm_credentials;

/* "auto", "env", "file" or "ram-role", and the file ("" = none) -> which one it is. -EINVAL and
 * CCM_ERROR_TERMINAL when that cannot work. */
CCM_NODISCARD int ccm_credential_choose(const char *source, const char *file,
                                        enum ccm_credential_source *ret, struct ccm_error *err);

/* `metadata` is borrowed. NULL on ENOMEM. */
struct ccm_credentials *ccm_credentials_new(enum ccm_credential_source source, const char *file,
                                            struct ccm_metadata *metadata);
void ccm_credentials_free(struct ccm_credentials *credentials);

/*
 * The credential to sign with; unref it. Blocks only when there is none that is valid, or when it
 * falls to this caller to fetch the next one. Errors: CCM_ERROR_AUTH (what is configured cannot
 * work: an operator has to act), CCM_ERROR_TRANSIENT, CCM_ERROR_CANCELLED.
 */
CCM_NODISCARD int ccm_credentials_get(struct ccm_credentials *credentials,
                                      const struct ccm_ali_ctx *ctx,
                                      const struct ccm_credential **ret, struct ccm_error *err);

/*
 * The cloud refused `refused`: try to get another, at most once in 10 s. True:
 * ccm_credentials_get() will now hand out a different one.
 */
bool ccm_credentials_renew(struct ccm_credentials *credentials, const struct ccm_ali_ctx *ctx,
                           const struct ccm_credential *refused);

void ccm_credential_unref(const struct ccm_credential *credential);
/* For CCM_CLEANUP. */
void ccm_credential_unrefp(const struct ccm_credential **credential);

#endif
