/*
 * Text that must never reach a log, an event, an error or a metric. It is a struct of its own so
 * that no formatter takes it by accident: only ccm_secret_text() opens it, and that name is what
 * reviews search for. The memory is wiped when it goes. One owner; readers may share it while it
 * does not change.
 */
#ifndef CCM_UTIL_SECRET_H
#define CCM_UTIL_SECRET_H

#include <stdlib.h>
#include <string.h>

struct ccm_secret {
    char *hidden; /* NULL = none */
};

/* The text, borrowed; "" when none. */
static inline const char *ccm_secret_text(const struct ccm_secret *secret)
{
    return secret->hidden == NULL ? "" : secret->hidden;
}

/* Fill with zeros, also when nobody reads it any more. */
static inline void ccm_secret_wipe(char *bytes, size_t len)
{
    volatile char *p = bytes;

    for (size_t i = 0; i < len; i++) {
        p[i] = '\0';
    }
}

/* Wipe and free; safe on a zeroed secret. */
static inline void ccm_secret_fini(struct ccm_secret *secret)
{
    if (secret->hidden != NULL) {
        ccm_secret_wipe(secret->hidden, strlen(secret->hidden));
        free(secret->hidden);
        secret->hidden = NULL;
    }
}

/* Replace by a copy. 0, or -1 when memory ran out (the old text stays). */
static inline int ccm_secret_set(struct ccm_secret *secret, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy == NULL) {
        return -1;
    }
    memcpy(copy, text, size);
    ccm_secret_fini(secret);
    secret->hidden = copy;
    return 0;
}

#endif
