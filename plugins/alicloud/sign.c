#include "alicloud/sign.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#define ALGORITHM "ACS3-HMAC-SHA256"

static void sign_format_hex(const unsigned char *bytes, size_t len, char *ret)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * len] = '\0';
}

void ali_sign_sha256_hex(const void *data, size_t len, char ret[ALI_SIGN_HEX])
{
    unsigned char digest[SHA256_DIGEST_LENGTH];

    (void)SHA256(data, len, digest); /* returns its argument */
    sign_format_hex(digest, sizeof(digest), ret);
}

static int headers_compare_names(const void *a, const void *b)
{
    const struct ali_sign_header *left = a;
    const struct ali_sign_header *right = b;

    return strcmp(left->name, right->name);
}

static int sign_compute_hmac(const EVP_MD *md, const char *key, const char *text,
                             unsigned char *ret, unsigned int *ret_len)
{
    const void *done =
        HMAC(md, key, (int)strlen(key), (const unsigned char *)text, strlen(text), ret, ret_len);

    return done == NULL ? -ENOMEM : 0;
}

int ali_sign_v3(const struct ali_sign_v3 *in, struct ccm_buf *authorization,
                char ret_hash[ALI_SIGN_HEX])
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf request = { .max = ALI_PARAMS_MAX, .wipe = true };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 4096 };
    struct ali_sign_header headers[ALI_SIGN_HEADERS_MAX];
    char hash[ALI_SIGN_HEX];

    if (in->header_count > ALI_SIGN_HEADERS_MAX) {
        return -EINVAL;
    }
    memcpy(headers, in->headers, in->header_count * sizeof(headers[0]));
    qsort(headers, in->header_count, sizeof(headers[0]), headers_compare_names);
    ccm_buf_addf(&request, "POST\n/\n%s\n", in->query);
    for (size_t i = 0; i < in->header_count; i++) {
        ccm_buf_addf(&request, "%s:%s\n", headers[i].name, headers[i].value);
        ccm_buf_addf(&names, "%s%s", i == 0 ? "" : ";", headers[i].name);
    }
    ali_sign_sha256_hex(in->body, in->body_len, hash);
    ccm_buf_addf(&request, "\n%s\n%s", ccm_buf_str(&names), hash);
    if (ccm_buf_error(&request) < 0 || ccm_buf_error(&names) < 0) {
        return ccm_buf_error(&request) < 0 ? ccm_buf_error(&request) : ccm_buf_error(&names);
    }
    ali_sign_sha256_hex(ccm_buf_str(&request), request.len, hash);

    char text[sizeof(ALGORITHM) + ALI_SIGN_HEX];
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int mac_len = 0;

    ccm_text_printf(text, sizeof(text), ALGORITHM "\n%s", hash);

    const int r = sign_compute_hmac(EVP_sha256(), ccm_secret_text(in->secret), text, mac, &mac_len);

    if (r < 0) {
        return r;
    }

    char signature[2 * EVP_MAX_MD_SIZE + 1];

    sign_format_hex(mac, mac_len, signature);
    ccm_buf_addf(authorization, ALGORITHM " Credential=%s,SignedHeaders=%s,Signature=%s",
                 in->key_id, ccm_buf_str(&names), signature);
    if (ret_hash != NULL) {
        memcpy(ret_hash, hash, sizeof(hash));
    }
    return ccm_buf_error(authorization);
}

int ali_sign_v1(const struct ali_params *params, const struct ccm_secret *secret,
                struct ccm_buf *signature, char ret_hash[ALI_SIGN_HEX])
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf query = { .max = ALI_PARAMS_MAX, .wipe = true };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 3 * ALI_PARAMS_MAX, .wipe = true };
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret key = { 0 };
    const size_t len = strlen(ccm_secret_text(secret));
    int r = ali_params_encode(params, &query);

    if (r < 0) {
        return r;
    }
    ccm_buf_adds(&text, "POST&%2F&");
    ali_params_escape(&text, ccm_buf_str(&query));
    key.hidden = calloc(1, len + 2);
    if (key.hidden == NULL || ccm_buf_error(&text) < 0) {
        return key.hidden == NULL ? -ENOMEM : ccm_buf_error(&text);
    }
    memcpy(key.hidden, ccm_secret_text(secret), len);
    key.hidden[len] = '&';

    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned int mac_len = 0;

    r = sign_compute_hmac(EVP_sha1(), key.hidden, ccm_buf_str(&text), mac, &mac_len);
    if (r < 0) {
        return r;
    }

    unsigned char base64[2 * EVP_MAX_MD_SIZE];

    (void)EVP_EncodeBlock(base64, mac, (int)mac_len); /* its length is that of the text */
    ccm_buf_adds(signature, (const char *)base64);
    if (ret_hash != NULL) {
        ali_sign_sha256_hex(ccm_buf_str(&text), text.len, ret_hash);
    }
    return ccm_buf_error(signature);
}
