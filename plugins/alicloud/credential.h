/*
 * Credentials: an immutable, reference-counted record that is swapped as a whole, so that key,
 * secret and token never mix. When it is due (80 % of its life, or a changed file) one short-lived
 * thread fetches the next one while all calls go on with the present one; the last good one is kept
 * when that fails. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_H
#define CCM_ALICLOUD_CREDENTIAL_H

#include "alicloud/ctx.h"
#include "alicloud/metadata.h"
#include "util/json.h"
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
    CCM_CREDENTIAL_ADDON, /* the encrypted file that managed clusters mount */
    CCM_CREDENTIAL_OIDC,  /* a role for the token of a service account */
    CCM_CREDENTIAL_RAM_ROLE,
};

/*
 * One call of STS. signer NULL: unsigned. On success the caller frees *ret_json. Blocks. Nothing
 * secret in err.
 */
typedef int (*ccm_sts_fn)(void *arg, const struct ccm_ali_ctx *ctx, const char *action,
                          const struct ccm_ali_params *params, const struct ccm_credential *signer,
                          cJSON **ret_json, struct ccm_error *err);

/* Texts are never NULL, "" = none. */
struct ccm_credential_setup {
    const char *source; /* "auto", "env", "file", "addon", "oidc", "ram-role" */
    const char *file;
    const char *addon_file;
    const char *role_arn; /* of a role to take on; with OIDC the role of the token */
    const char *session;  /* what audit logs of the cloud call us in that role */
    const char *oidc_provider;
    const char *oidc_token_file;
    ccm_sts_fn sts;
    void *sts_arg;
    struct ccm_metadata *metadata; /* borrowed, as sts_arg */
};

struct ccm_credentials;

/* Which source `setup` means; "auto" is the first that is set up of: file, addon, env, oidc,
 * ram-role. -EINVAL and CCM_ERROR_TERMINAL when that cannot work. */
CCM_NODISCARD int ccm_credential_choose(const struct ccm_credential_setup *setup,
                                        enum ccm_credential_source *ret, struct ccm_error *err);

/* Copies the texts. NULL on ENOMEM. */
struct ccm_credentials *ccm_credentials_new(enum ccm_credential_source source,
                                            const struct ccm_credential_setup *setup);
/* Nothing may be fetched any more: ccm_credentials_settle() first. */
void ccm_credentials_free(struct ccm_credentials *credentials);

/* Wait for a fetch that runs in the background, so that the host that it uses may go. Blocks until
 * its exchange ends, which a shutdown cancels. */
void ccm_credentials_settle(struct ccm_credentials *credentials);

/*
 * The credential to sign with; unref it. Blocks only when there is none that is valid. Errors:
 * CCM_ERROR_AUTH (what is configured cannot work: an operator has to act), CCM_ERROR_TRANSIENT,
 * CCM_ERROR_CANCELLED.
 */
CCM_NODISCARD int ccm_credentials_get(struct ccm_credentials *credentials,
                                      const struct ccm_ali_ctx *ctx,
                                      const struct ccm_credential **ret, struct ccm_error *err);

/*
 * The cloud refused `refused`: try to get another, at most once in 10 s, or when the file is
 * another one than was read; somebody who is at it already is waited for. True:
 * ccm_credentials_get() will now hand out a different one.
 */
bool ccm_credentials_renew(struct ccm_credentials *credentials, const struct ccm_ali_ctx *ctx,
                           const struct ccm_credential *refused);

void ccm_credential_unref(const struct ccm_credential *credential);
/* For CCM_CLEANUP. */
void ccm_credential_unrefp(const struct ccm_credential **credential);

#endif
