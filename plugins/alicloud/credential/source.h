/*
 * Where credentials come from: environment, files, roles. One fetch, no state. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_SOURCE_H
#define CCM_ALICLOUD_CREDENTIAL_SOURCE_H

#include "alicloud/credential/raw.h"

/* Errors as ali_credentials_get(). Nothing secret is in err. */
CCM_NODISCARD int ali_credential_fetch(enum ali_credential_source source,
                                       const struct ali_credential_setup *setup,
                                       const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                                       struct ccm_error *err);

/* Read the file that a source begins with, ask nobody. *ret_option, static, is the option that
 * names it. 0, also when what is in it has expired, or as above. */
CCM_NODISCARD int ali_credential_check(enum ali_credential_source source,
                                       const struct ali_credential_setup *setup,
                                       const struct ali_ctx *ctx, const char **ret_option,
                                       struct ccm_error *err);

/* The file that a source reads; NULL when it reads none. */
const char *ali_credential_source_file(enum ali_credential_source source,
                                       const struct ali_credential_setup *setup);

/* --- parts of it --- */

/* The token file of managed clusters: three values, encrypted with AES-CBC. */
CCM_NODISCARD int ali_credential_open_addon(const char *path, const cJSON *json,
                                            const struct ali_ctx *ctx,
                                            struct ali_raw_credential *ret, struct ccm_error *err);

/* Of a role, as STS and the metadata service have them. */
extern const struct ali_credential_names ali_role_names;

/* STS: a role for a token of the cluster, and a role for `base`, which it replaces. */
CCM_NODISCARD int ali_credential_from_oidc(const struct ali_credential_setup *setup,
                                           const struct ali_ctx *ctx,
                                           struct ali_raw_credential *ret, struct ccm_error *err);
/* Whether that token can be read. Nothing is in *ret. */
CCM_NODISCARD int ali_credential_check_oidc(const struct ali_credential_setup *setup,
                                            const struct ali_ctx *ctx,
                                            struct ali_raw_credential *ret, struct ccm_error *err);
CCM_NODISCARD int ali_credential_assume(const struct ali_credential_setup *setup,
                                        const struct ali_ctx *ctx, struct ali_raw_credential *base,
                                        struct ccm_error *err);

#endif
