#include "account.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>

#define DEFAULT_ACCOUNT "1000000000000001"

/* Two generations of nonces: the older one goes when the younger is full or old. */
#define NONCES_MAX     ((size_t)500000)
#define NONCES_TIME_MS ((int64_t)31 * 60 * 1000)

struct ccm_cloud_accounts {
    pthread_mutex_t lock; /* guards all below; no other lock is taken inside */
    struct ccm_strmap *keys;
    struct ccm_strmap *nonces[2];
    int64_t since_ms; /* when nonces[0] was begun */
};

void ccm_cloud_key_fini(struct ccm_cloud_key *key)
{
    free(key->id);
    free(key->secret);
    free(key->token);
    free(key->account);
    free(key->arn);
    *key = (struct ccm_cloud_key){ 0 };
}

static void key_free(void *value)
{
    ccm_cloud_key_fini(value);
    free(value);
}

static int key_copy(struct ccm_cloud_key *to, const char *id, const char *secret, const char *token,
                    int64_t expires_ms)
{
    to->id = strdup(id);
    to->secret = strdup(secret);
    to->token = strdup(token);
    to->expires_ms = expires_ms;
    if (to->id == NULL || to->secret == NULL || to->token == NULL) {
        ccm_cloud_key_fini(to);
        return -ENOMEM;
    }
    return 0;
}

static int key_own(struct ccm_cloud_key *key, const char *account, const char *arn, bool root)
{
    char *own_account = strdup(account);
    char *own_arn = strdup(arn);

    if (own_account == NULL || own_arn == NULL) {
        free(own_account);
        free(own_arn);
        return -ENOMEM;
    }
    free(key->account);
    free(key->arn);
    key->account = own_account;
    key->arn = own_arn;
    key->root = root;
    return 0;
}

struct ccm_cloud_accounts *ccm_cloud_accounts_new(void)
{
    struct ccm_cloud_accounts *accounts = calloc(1, sizeof(*accounts));

    if (accounts == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&accounts->lock, NULL); /* cannot fail with default attributes */
    accounts->keys = ccm_strmap_new(key_free);
    accounts->nonces[0] = ccm_strmap_new(NULL);
    accounts->nonces[1] = ccm_strmap_new(NULL);
    accounts->since_ms = ccm_clock_now_ms();
    if (accounts->keys == NULL || accounts->nonces[0] == NULL || accounts->nonces[1] == NULL) {
        ccm_cloud_accounts_free(accounts);
        return NULL;
    }
    return accounts;
}

void ccm_cloud_accounts_free(struct ccm_cloud_accounts *accounts)
{
    if (accounts == NULL) {
        return;
    }
    ccm_strmap_free(accounts->keys);
    ccm_strmap_free(accounts->nonces[0]);
    ccm_strmap_free(accounts->nonces[1]);
    (void)pthread_mutex_destroy(&accounts->lock); /* nobody holds it any more */
    free(accounts);
}

int ccm_cloud_accounts_set(struct ccm_cloud_accounts *accounts, const char *id, const char *secret,
                           const char *token, int64_t expires_ms)
{
    struct ccm_cloud_key *key = calloc(1, sizeof(*key));

    CCM_CLEANUP(ccm_freep) char *arn = ccm_text_format("acs:ram::" DEFAULT_ACCOUNT ":user/%s", id);

    if (key == NULL || arn == NULL || key_copy(key, id, secret, token, expires_ms) < 0 ||
        key_own(key, DEFAULT_ACCOUNT, arn, false) < 0) {
        if (key != NULL) {
            key_free(key);
        }
        return -ENOMEM;
    }

    (void)pthread_mutex_lock(&accounts->lock); /* a default mutex that we do not hold cannot fail */

    int r = ccm_strmap_set(accounts->keys, id, key);

    (void)pthread_mutex_unlock(&accounts->lock); /* held by us */
    if (r < 0) {
        key_free(key);
    }
    return r;
}

int ccm_cloud_accounts_own(struct ccm_cloud_accounts *accounts, const char *id, const char *account,
                           const char *arn, bool root)
{
    ccm_lock(&accounts->lock);

    struct ccm_cloud_key *key = ccm_strmap_get(accounts->keys, id);
    int r = key == NULL ? -ENOENT : key_own(key, account, arn, root);

    (void)pthread_mutex_unlock(&accounts->lock); /* held by us */
    return r;
}

void ccm_cloud_accounts_del(struct ccm_cloud_accounts *accounts, const char *id)
{
    ccm_lock(&accounts->lock);
    ccm_strmap_del(accounts->keys, id);
    (void)pthread_mutex_unlock(&accounts->lock); /* held by us */
}

int ccm_cloud_accounts_get(struct ccm_cloud_accounts *accounts, const char *id,
                           struct ccm_cloud_key *ret)
{
    int r = -ENOENT;

    ccm_lock(&accounts->lock);

    const struct ccm_cloud_key *key = ccm_strmap_get(accounts->keys, id);

    if (key != NULL) {
        r = key_copy(ret, key->id, key->secret, key->token, key->expires_ms);
        r = r < 0 ? r : key_own(ret, key->account, key->arn, key->root);
    }
    (void)pthread_mutex_unlock(&accounts->lock); /* held by us */
    return r;
}

bool ccm_cloud_accounts_knows_token(struct ccm_cloud_accounts *accounts, const char *token)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    bool found = false;

    ccm_lock(&accounts->lock);
    while (!found && ccm_strmap_next(accounts->keys, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_key *key = value;

        found = ccm_text_equal(key->token, token);
    }
    (void)pthread_mutex_unlock(&accounts->lock); /* held by us */
    return found;
}

/* An old generation that cannot be replaced for want of memory simply stays. */
static void nonces_turn_locked(struct ccm_cloud_accounts *accounts)
{
    int64_t now = ccm_clock_now_ms();

    if (ccm_strmap_len(accounts->nonces[0]) < NONCES_MAX &&
        now - accounts->since_ms < NONCES_TIME_MS) {
        return;
    }

    struct ccm_strmap *fresh = ccm_strmap_new(NULL);

    if (fresh != NULL) {
        ccm_strmap_free(accounts->nonces[1]);
        accounts->nonces[1] = accounts->nonces[0];
        accounts->nonces[0] = fresh;
        accounts->since_ms = now;
    }
}

int ccm_cloud_accounts_use_nonce(struct ccm_cloud_accounts *accounts, const char *key_id,
                                 const char *nonce)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    int r = 0;

    ccm_buf_adds(&text, key_id);
    ccm_buf_addc(&text, '/');
    ccm_buf_adds(&text, nonce);
    if (ccm_buf_error(&text) < 0) {
        return -ENOMEM;
    }

    const char *name = ccm_buf_str(&text);

    ccm_lock(&accounts->lock);
    nonces_turn_locked(accounts);
    if (ccm_strmap_has(accounts->nonces[0], name) || ccm_strmap_has(accounts->nonces[1], name)) {
        r = -EEXIST;
    } else {
        r = ccm_strmap_set(accounts->nonces[0], name, NULL);
    }
    (void)pthread_mutex_unlock(&accounts->lock); /* held by us */
    return r;
}
