/*
 * Credentials: an immutable, reference-counted record that is swapped as a whole, so that key,
 * secret and token never mix. When it is due (80 % of its life, or a changed file) one short-lived
 * thread fetches the next one while all calls go on with the present one; the last good one is kept
 * when that fails. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_CREDENTIAL_H
#define CCM_ALICLOUD_CREDENTIAL_CREDENTIAL_H

#include "alicloud/ctx.h"
#include "alicloud/metadata.h"
#include "util/json.h"
#include "util/secret.h"

struct ali_credential {
    char *key_id;
    struct ccm_secret secret;
    struct ccm_secret token; /* empty: a permanent key */
    uint64_t serial;         /* grows with every record of the process */
};

/* In the order in which "auto" prefers them; rows in source.c. */
enum ali_credential_source {
    ALI_CREDENTIAL_FILE,
    ALI_CREDENTIAL_ADDON, /* the encrypted file that managed clusters mount */
    ALI_CREDENTIAL_ENV,
    ALI_CREDENTIAL_OIDC, /* a role for the token of a service account */
    ALI_CREDENTIAL_RAM_ROLE,
};

/*
 * One call of STS. signer NULL: unsigned. On success the caller frees *ret_json. Blocks. Nothing
 * secret in err.
 */
struct ali_sts_call {
    const char *action;
    struct ali_params *params;
    const struct ali_credential *signer;
};
typedef int (*ali_sts_fn)(void *arg, const struct ali_ctx *ctx, const struct ali_sts_call *call,
                          cJSON **ret_json, struct ccm_error *err);

/* Texts are never NULL, "" = none. */
struct ali_credential_setup {
    const char *source; /* "auto", "env", "file", "addon", "oidc", "ram-role" */
    const char *file;
    const char *addon_file;
    const char *role_arn; /* of a role to take on; with OIDC the role of the token */
    const char *session;  /* what audit logs of the cloud call us in that role */
    const char *oidc_provider;
    const char *oidc_token_file;
    ali_sts_fn sts;
    void *sts_arg;
    struct ali_metadata *metadata; /* borrowed, as sts_arg */
};

struct ali_credentials;

/* Which source `setup` means; "auto" is the first that is set up of: file, addon, env, oidc,
 * ram-role. -EINVAL and CCM_ERROR_TERMINAL when that cannot work. */
CCM_NODISCARD int ali_credential_choose(const struct ali_credential_setup *setup,
                                        enum ali_credential_source *ret, struct ccm_error *err);

/* Copies the texts. NULL on ENOMEM. */
struct ali_credentials *ali_credentials_new(enum ali_credential_source source,
                                            const struct ali_credential_setup *setup);
/* Whether the file that they come from can be read and has what it takes; asks nobody. *ret_option:
 * the option that names the file, static. */
CCM_NODISCARD int ali_credentials_check(const struct ali_credentials *credentials,
                                        const struct ali_ctx *ctx, const char **ret_option,
                                        struct ccm_error *err);
/* Nothing may be fetched any more: ali_credentials_settle() first. */
void ali_credentials_free(struct ali_credentials *credentials);

/* Wait for a fetch that runs in the background, so that the host that it uses may go. Blocks until
 * its exchange ends, which a shutdown cancels. */
void ali_credentials_settle(struct ali_credentials *credentials);

/*
 * The credential to sign with; unref it. Blocks only when there is none that is valid. Errors:
 * CCM_ERROR_AUTH (what is configured cannot work: an operator has to act), CCM_ERROR_TRANSIENT,
 * CCM_ERROR_CANCELLED.
 */
CCM_NODISCARD int ali_credentials_get(struct ali_credentials *credentials,
                                      const struct ali_ctx *ctx, const struct ali_credential **ret,
                                      struct ccm_error *err);

/*
 * The cloud refused `refused`: try to get another, at most once in 10 s, or when the file is
 * another one than was read; somebody who is at it already is waited for. True:
 * ali_credentials_get() will now hand out a different one.
 */
bool ali_credentials_renew(struct ali_credentials *credentials, const struct ali_ctx *ctx,
                           const struct ali_credential *refused);

void ali_credential_unref(const struct ali_credential *credential);
/* For CCM_CLEANUP. */
void ali_credential_unrefp(const struct ali_credential **credential);

#endif
