/*
 * A credential as a source gives it, checked, and the files that hold some. No state. Every thread.
 */
#ifndef CCM_ALICLOUD_CREDENTIAL_RAW_H
#define CCM_ALICLOUD_CREDENTIAL_RAW_H

#include "alicloud/credential/credential.h"

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

/* The whole of a file of at most max - 1 bytes, with no copy left behind. The caller wipes *ret in
 * any case. 0 or -errno; -EFBIG: it is larger. */
CCM_NODISCARD int ali_secret_read_file(const char *path, size_t max, struct ccm_secret *ret);

/* 0 or -errno. */
CCM_NODISCARD int ali_credential_file_state(const char *path, struct ali_file_state *ret);
bool ali_credential_file_same(const struct ali_file_state *a, const struct ali_file_state *b);

#endif
