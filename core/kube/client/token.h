/*
 * The bearer token as it is now: fixed, or the content of a file that is renewed by others (a
 * kubelet writes a new one every hour or so). Thread-safe.
 */
#ifndef CCM_KUBE_TOKEN_H
#define CCM_KUBE_TOKEN_H

#include "util/attr.h"
#include "util/secret.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct kube_token {
    pthread_mutex_t lock; /* guards the rest; held while the file is read; leaf */
    struct ccm_secret text;
    char *file; /* NULL = fixed */
    int64_t checked_ms;
    struct timespec changed; /* what the file was when it was read */
    off_t size;
    ino_t inode;
};

/* Take over both (file may be NULL). 0 or -ENOMEM. */
CCM_NODISCARD int kube_token_init(struct kube_token *token, char *file, struct ccm_secret *text);
void kube_token_fini(struct kube_token *token);

/*
 * Copy of the current token into *ret (zeroed; the caller ends it); empty when there is none. A
 * file is looked at when the last look is 10 s old, and read when it changed. One that cannot be
 * read leaves the old token in place and a warning in the log. 0 or -ENOMEM.
 */
CCM_NODISCARD int kube_token_get(struct kube_token *token, int64_t now_ms, struct ccm_secret *ret);

/* The server refused `old`: read the file at once. True when the token is another one now. */
bool kube_token_renew(struct kube_token *token, int64_t now_ms, const struct ccm_secret *old);

#endif
