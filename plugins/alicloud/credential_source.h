/*
 * Where credentials come from: environment, files, roles. One fetch, no state. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_SOURCE_H
#define CCM_ALICLOUD_CREDENTIAL_SOURCE_H

#include "alicloud/credential.h"

/* A credential this close to its end is not used any more. */
#define ALI_CREDENTIAL_EARLY_MS 5000

/* What tells one version of a file from the next. */
struct ali_file_state {
    int64_t changed_s;
    int64_t changed_ns;
    int64_t size;
    uint64_t inode;
};

struct ali_raw_credential {
    char *key_id;
    struct ccm_secret secret;
    struct ccm_secret token;
    int64_t life_ms; /* from now; 0 = no end */
    struct ali_file_state file;
};

void ali_raw_credential_fini(struct ali_raw_credential *raw);

/* Errors as ali_credentials_get(). Nothing secret is in err. */
CCM_NODISCARD int ali_credential_fetch(enum ali_credential_source source,
                                       const struct ali_credential_setup *setup,
                                       const struct ali_ctx *ctx, struct ali_raw_credential *ret,
                                       struct ccm_error *err);

/* The file that a source reads; NULL when it reads none. */
const char *ali_credential_source_file(enum ali_credential_source source,
                                       const struct ali_credential_setup *setup);

/* --- parts of it --- */

/* Names of the members of a JSON document with a credential. */
struct ali_credential_names {
    const char *key_id;
    const char *secret;
    const char *token;
    const char *end;
};

/* Take a credential that `what` tells: key and secret are there, all are visible ASCII. */
CCM_NODISCARD int ali_raw_credential_keep(const char *what, const char *key_id, const char *secret,
                                          const char *token, struct ali_raw_credential *ret,
                                          struct ccm_error *err);
/* Its end; "" or NULL = none. */
CCM_NODISCARD int ali_raw_credential_keep_end(const char *what, const char *end,
                                              const struct ali_ctx *ctx,
                                              struct ali_raw_credential *ret,
                                              struct ccm_error *err);
CCM_NODISCARD int ali_raw_credential_from_json(const char *what,
                                               const struct ali_credential_names *names,
                                               const cJSON *json, const struct ali_ctx *ctx,
                                               struct ali_raw_credential *ret,
                                               struct ccm_error *err);

/* The text of a file that holds a secret: regular, and nobody but its owner may write it. ret->file
 * tells which version it was. The caller wipes *ret_text. */
CCM_NODISCARD int ali_credential_read_file(const char *path, const struct ali_ctx *ctx,
                                           struct ali_file_state *ret_state,
                                           struct ccm_secret *ret_text, struct ccm_error *err);

/* The token file of managed clusters: three values, encrypted with AES-CBC. */
CCM_NODISCARD int ali_credential_from_addon(const char *path, const struct ali_ctx *ctx,
                                            struct ali_raw_credential *ret, struct ccm_error *err);

/* STS: a role for a token of the cluster, and a role for `base`, which it replaces. */
CCM_NODISCARD int ali_credential_from_oidc(const struct ali_credential_setup *setup,
                                           const struct ali_ctx *ctx,
                                           struct ali_raw_credential *ret, struct ccm_error *err);
CCM_NODISCARD int ali_credential_assume(const struct ali_credential_setup *setup,
                                        const struct ali_ctx *ctx, struct ali_raw_credential *base,
                                        struct ccm_error *err);

/* 0 or -errno. */
CCM_NODISCARD int ali_credential_file_state(const char *path, struct ali_file_state *ret);
bool ali_credential_file_same(const struct ali_file_state *a, const struct ali_file_state *b);

#endif
