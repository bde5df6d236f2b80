/* The token file that managed clusters mount: {"access.key.id", "access.key.secret",
 * "security.token", "expiration", "keyring"}. The first three are base64 of 16 bytes of
 * initialisation vector and AES-CBC cipher text; the key is the text of `keyring`. */
#include "alicloud/credential/source.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <openssl/evp.h>

#define IV_SIZE  16
#define MAX_TEXT ((size_t)32 * 1024)

/* Bytes that are wiped when they go. */
struct bytes {
    unsigned char *data;
    size_t size;
};

static void bytes_fini(struct bytes *bytes)
{
    if (bytes->data != NULL) {
        OPENSSL_cleanse(bytes->data, bytes->size);
        free(bytes->data);
        bytes->data = NULL;
    }
}

static int bytes_init(struct bytes *bytes, size_t size)
{
    bytes->data = calloc(1, size);
    bytes->size = size;
    return bytes->data == NULL ? -ENOMEM : 0;
}

static const EVP_CIPHER *cipher_for(size_t key_len)
{
    return key_len == 16   ? EVP_aes_128_cbc()
           : key_len == 24 ? EVP_aes_192_cbc()
           : key_len == 32 ? EVP_aes_256_cbc()
                           : NULL;
}

/* 0 with *ret_len bytes in `plain`, or -EBADMSG: wrong key, or no cipher text. */
static int addon_decrypt_bytes(const char *key, const unsigned char *data, size_t len,
                               struct bytes *plain, size_t *ret_len)
{
    const EVP_CIPHER *cipher = cipher_for(strlen(key));
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int head = 0;
    int tail = 0;
    const bool ok =
        ctx != NULL && cipher != NULL &&
        EVP_DecryptInit_ex(ctx, cipher, NULL, (const unsigned char *)key, data) == 1 &&
        EVP_DecryptUpdate(ctx, plain->data, &head, data + IV_SIZE, (int)(len - IV_SIZE)) == 1 &&
        EVP_DecryptFinal_ex(ctx, plain->data + head, &tail) == 1; /* checks the padding */

    EVP_CIPHER_CTX_free(ctx);
    *ret_len = (size_t)head + (size_t)tail;
    return ok ? 0 : -EBADMSG;
}

/* base64 -> bytes without the padding. -EBADMSG. */
static int addon_decode_base64(const char *text, struct bytes *ret, size_t *ret_len)
{
    const size_t len = strlen(text);
    size_t pad = 0;
    int r;

    if (len == 0 || len % 4 != 0 || len > MAX_TEXT) {
        return -EBADMSG;
    }
    while (pad < 2 && text[len - 1 - pad] == '=') {
        pad++;
    }
    r = bytes_init(ret, len / 4 * 3 + 1);
    if (r < 0) {
        return r;
    }
    r = EVP_DecodeBlock(ret->data, (const unsigned char *)text, (int)len);
    if (r < 0 || (size_t)r < pad) {
        return -EBADMSG;
    }
    *ret_len = (size_t)r - pad;
    return 0;
}

static int open_value(const cJSON *json, const char *name, const char *key, struct ccm_secret *ret)
{
    CCM_CLEANUP(bytes_fini) struct bytes cipher = { 0 };
    CCM_CLEANUP(bytes_fini) struct bytes plain = { 0 };
    const char *text = ccm_json_str(json, name);
    size_t len = 0;
    int r = ccm_text_empty(text) ? -EBADMSG : addon_decode_base64(text, &cipher, &len);

    if (r == 0 && (len < 2 * IV_SIZE || len % IV_SIZE != 0)) {
        r = -EBADMSG;
    }
    if (r == 0) {
        r = bytes_init(&plain, len + 1);
    }
    if (r == 0) {
        r = addon_decrypt_bytes(key, cipher.data, len, &plain, &len);
    }
    if (r < 0) {
        return r;
    }
    plain.data[len] = '\0';
    if (strlen((const char *)plain.data) != len) {
        return -EBADMSG;
    }
    return ccm_secret_set(ret, (const char *)plain.data) < 0 ? -ENOMEM : 0;
}

/* The three of them, zeroed before; the caller ends them in any case. */
static int addon_open_values(const char *path, const cJSON *json, struct ccm_secret values[3],
                             struct ccm_error *err)
{
    static const char *const names[] = { "access.key.id", "access.key.secret", "security.token" };
    const char *keyring = ccm_json_text(json, "keyring");

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        const int r = open_value(json, names[i], keyring, &values[i]);

        if (r == -EBADMSG) {
            return ccm_error_set(err, r, CCM_ERROR_TRANSIENT,
                                 "credentials: %s: %s cannot be decrypted with its keyring", path,
                                 names[i]);
        }
        if (r < 0) {
            return ccm_error_nomem(err);
        }
    }
    return 0;
}

int ali_credential_open_addon(const char *path, const cJSON *json, const struct ali_ctx *ctx,
                              struct ali_raw_credential *ret, struct ccm_error *err)
{
    struct ccm_secret values[3] = { { 0 } };
    int r = addon_open_values(path, json, values, err);

    if (r == 0) {
        r = ali_raw_credential_keep(path, ccm_secret_text(&values[0]), ccm_secret_text(&values[1]),
                                    ccm_secret_text(&values[2]), ret, err);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(values); i++) {
        ccm_secret_fini(&values[i]);
    }
    if (r < 0) {
        return r;
    }
    return ali_raw_credential_keep_end(path, ccm_json_str(json, "expiration"), ctx, ret, err);
}
