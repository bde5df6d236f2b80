/*
 * Access keys and the memory of used nonces. Locks by itself; every thread.
 */
#ifndef CCM_CLOUD_ACCOUNT_H
#define CCM_CLOUD_ACCOUNT_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ccm_cloud_accounts;

/* A copy of one key, free it with ccm_cloud_key_fini. */
struct ccm_cloud_key {
    char *id;
    char *secret;
    char *token;        /* "" for a key that needs none */
    char *account;      /* number of the account it belongs to */
    char *arn;          /* whose key it is */
    bool root;          /* of the account itself */
    int64_t expires_ms; /* wall clock; 0 = never */
};

void ccm_cloud_key_fini(struct ccm_cloud_key *key);

/* NULL when memory ran out. */
struct ccm_cloud_accounts *ccm_cloud_accounts_new(void);
void ccm_cloud_accounts_free(struct ccm_cloud_accounts *accounts);

/* Add or replace a key. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_accounts_set(struct ccm_cloud_accounts *accounts, const char *id,
                                         const char *secret, const char *token, int64_t expires_ms);
/* Say whose the key is. 0, -ENOENT or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_accounts_own(struct ccm_cloud_accounts *accounts, const char *id,
                                         const char *account, const char *arn, bool root);
void ccm_cloud_accounts_del(struct ccm_cloud_accounts *accounts, const char *id);

/* 0 and a copy, -ENOENT, or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_accounts_get(struct ccm_cloud_accounts *accounts, const char *id,
                                         struct ccm_cloud_key *ret);

/* Whether some key has this security token. */
bool ccm_cloud_accounts_knows_token(struct ccm_cloud_accounts *accounts, const char *token);

/* Remember a nonce. 0, -EEXIST (used before, within about half an hour), or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_accounts_use_nonce(struct ccm_cloud_accounts *accounts,
                                               const char *key_id, const char *nonce);

#endif
