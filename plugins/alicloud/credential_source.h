/*
 * Where credentials come from: environment, file, or the RAM role of the instance. One fetch, no
 * state. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_SOURCE_H
#define CCM_ALICLOUD_CREDENTIAL_SOURCE_H

#include "alicloud/credential.h"

/* A credential this close to its end is not used any more. */
#define CCM_CREDENTIAL_EARLY_MS 5000

/* What tells one version of a file from the next. */
struct ccm_file_state {
    int64_t changed_s;
    int64_t changed_ns;
    int64_t size;
    uint64_t inode;
};

struct ccm_raw_credential {
    char *key_id;
    struct ccm_secret secret;
    struct ccm_secret token;
    int64_t life_ms; /* from now; 0 = no end */
    struct ccm_file_state file;
};

void ccm_raw_credential_fini(struct ccm_raw_credential *raw);

/* Errors as ccm_credentials_get(). Nothing secret is in err. */
CCM_NODISCARD int ccm_credential_fetch(enum ccm_credential_source source, const char *file,
                                       struct ccm_metadata *metadata, const struct ccm_ali_ctx *ctx,
                                       struct ccm_raw_credential *ret, struct ccm_error *err);

/* 0 or -errno. */
CCM_NODISCARD int ccm_credential_file_state(const char *path, struct ccm_file_state *ret);
bool ccm_credential_file_same(const struct ccm_file_state *a, const struct ccm_file_state *b);

#endif
