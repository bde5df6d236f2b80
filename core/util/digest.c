#include "util/digest.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <string.h>

void ccm_digest_format_hex(const unsigned char *bytes, size_t len, char *ret)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * len] = '\0';
}

void ccm_digest_sha256_hex(const void *data, size_t len, char ret[CCM_DIGEST_HEX])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];

    (void)SHA256(data, len, digest); /* returns its argument */
    ccm_digest_format_hex(digest, sizeof(digest), ret);
}

int ccm_digest_hmac(enum ccm_digest type, const struct ccm_secret *key, const char *text,
                    struct ccm_mac *ret)
{
    const char *bytes = ccm_secret_text(key);
    unsigned int len = 0;

    if (HMAC(type == CCM_DIGEST_SHA1 ? EVP_sha1() : EVP_sha256(), bytes, (int)strlen(bytes),
             (const unsigned char *)text, strlen(text), ret->bytes, &len) == NULL) {
        return -ENOMEM;
    }
    ret->len = len;
    return 0;
}
