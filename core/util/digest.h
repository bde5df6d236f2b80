/*
 * Hashes and keyed hashes, as signatures of requests need them. Every thread.
 */
#ifndef CCM_UTIL_DIGEST_H
#define CCM_UTIL_DIGEST_H

#include "util/attr.h"
#include "util/secret.h"

#include <stddef.h>

#define CCM_DIGEST_HEX 65 /* SHA-256 in hex and the NUL */

/* The hash of a keyed one. SHA-1 only where another side asks for it. */
enum ccm_digest {
    CCM_DIGEST_SHA1,
    CCM_DIGEST_SHA256,
};

struct ccm_mac {
    unsigned char bytes[32];
    size_t len; /* 20 or 32 */
};

/* Small letters; ret has room for 2 * len and the NUL. */
void ccm_digest_format_hex(const unsigned char *bytes, size_t len, char *ret);

/* Hex SHA-256 of some bytes. */
void ccm_digest_sha256_hex(const void *data, size_t len, char ret[CCM_DIGEST_HEX]);

/* HMAC of the text. 0 or -ENOMEM. */
CCM_NODISCARD int ccm_digest_hmac(enum ccm_digest type, const struct ccm_secret *key,
                                  const char *text, struct ccm_mac *ret);

#endif
