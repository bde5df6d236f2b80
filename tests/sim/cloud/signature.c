#include "signature.h"

#include "account.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#define V3_NAME    "ACS3-HMAC-SHA256"
#define V3_SKEW_MS ((int64_t)15 * 60 * 1000)
#define V1_SKEW_MS ((int64_t)31 * 60 * 1000)

static int refuse(struct ccm_cloud_refusal *refusal, unsigned http, const char *code,
                  const char *format, ...) CCM_PRINTF(4, 5);

static int refuse(struct ccm_cloud_refusal *refusal, unsigned http, const char *code,
                  const char *format, ...)
{
    va_list args;

    refusal->http = http;
    ccm_text_copy(refusal->code, sizeof(refusal->code), code);
    ccm_buf_reset(&refusal->message);
    va_start(args, format);
    ccm_buf_vaddf(&refusal->message, format, args);
    va_end(args);
    return -EACCES;
}

static int refuse_missing(struct ccm_cloud_refusal *refusal, const char *name)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf code = { 0 };

    ccm_buf_addf(&code, "Missing%s", name);
    return refuse(refusal, 400, ccm_buf_str(&code), "%s is mandatory for this action.", name);
}

static int refuse_incomplete(struct ccm_cloud_refusal *refusal)
{
    return refuse(refusal, 400, "IncompleteSignature",
                  "The request signature does not conform to Aliyun standards.");
}

/* ---- texts and digests ---- */

static void hex_write(const unsigned char *bytes, size_t len, char *text)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * len] = '\0';
}

/* Looked up once: the library would do it for each digest. They live as long as the process. */
static EVP_MD *sha1;
static EVP_MD *sha256;

static void digests_find(void)
{
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static EVP_MD_CTX *digest_new(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, digests_find); /* cannot fail with a valid function */
    return EVP_MD_CTX_new();
}

static void digest_freep(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

struct bytes {
    const void *data;
    size_t len;
};

/* The digest of both, one behind the other; its length, or -EIO. */
static int digest(EVP_MD_CTX *ctx, const EVP_MD *type, struct bytes head, struct bytes tail,
                  unsigned char *ret)
{
    unsigned int size = 0;

    if (ctx == NULL || type == NULL || EVP_DigestInit_ex(ctx, type, NULL) != 1 ||
        EVP_DigestUpdate(ctx, head.data, head.len) != 1 ||
        EVP_DigestUpdate(ctx, tail.data, tail.len) != 1 ||
        EVP_DigestFinal_ex(ctx, ret, &size) != 1) {
        return -EIO;
    }
    return (int)size;
}

#define HMAC_BLOCK 64 /* of SHA-1 and SHA-256 alike */

/* The keyed digest of RFC 2104; its length, or -EIO. */
static int keyed_digest(EVP_MD_CTX *ctx, const EVP_MD *type, struct bytes key, struct bytes text,
                        unsigned char *ret)
{
    unsigned char folded[EVP_MAX_MD_SIZE];
    unsigned char pad[HMAC_BLOCK] = { 0 };

    if (key.len > sizeof(pad)) {
        int r = digest(ctx, type, key, (struct bytes){ "", 0 }, folded);

        if (r < 0) {
            return r;
        }
        key = (struct bytes){ folded, (size_t)r };
    }
    memcpy(pad, key.data, key.len);
    for (size_t i = 0; i < sizeof(pad); i++) {
        pad[i] ^= 0x36;
    }

    int r = digest(ctx, type, (struct bytes){ pad, sizeof(pad) }, text, ret);

    for (size_t i = 0; i < sizeof(pad); i++) {
        pad[i] ^= 0x36 ^ 0x5c;
    }
    return r < 0 ? r
                 : digest(ctx, type, (struct bytes){ pad, sizeof(pad) },
                          (struct bytes){ ret, (size_t)r }, ret);
}

int ccm_cloud_sha256_hex(const void *data, size_t len, char *text)
{
    CCM_CLEANUP(digest_freep) EVP_MD_CTX *ctx = digest_new();
    unsigned char bytes[EVP_MAX_MD_SIZE];
    int r = digest(ctx, sha256, (struct bytes){ data, len }, (struct bytes){ "", 0 }, bytes);

    if (r < 0) {
        return r;
    }
    hex_write(bytes, (size_t)r, text);
    return 0;
}

/* name=value pairs joined by '&', both escaped, in the order of the list. */
static void canonical_params(const struct ccm_sim_params *params, const char *without,
                             struct ccm_buf *ret)
{
    bool first = true;

    for (size_t i = 0; i < params->len; i++) {
        if (without != NULL && ccm_text_equal(params->items[i].name, without)) {
            continue;
        }
        if (!first) {
            ccm_buf_addc(ret, '&');
        }
        first = false;
        ccm_sim_escape(ret, params->items[i].name);
        ccm_buf_addc(ret, '=');
        ccm_sim_escape(ret, params->items[i].value);
    }
}

void ccm_cloud_v1_string(const struct ccm_sim_request *req, struct ccm_buf *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf canonical = { 0 };

    canonical_params(&req->all, "Signature", &canonical);
    ccm_buf_adds(ret, req->method);
    ccm_buf_adds(ret, "&%2F&");
    ccm_sim_escape(ret, ccm_buf_str(&canonical));
}

/* Value without blanks at both ends. */
static void add_trimmed(struct ccm_buf *buf, const char *value)
{
    size_t len = strlen(value);

    while (len > 0 && (*value == ' ' || *value == '\t')) {
        value++;
        len--;
    }
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t')) {
        len--;
    }
    ccm_buf_add(buf, value, len);
}

int ccm_cloud_v3_canonical(const struct ccm_sim_request *req, const char *signed_headers,
                           struct ccm_buf *ret)
{
    const char *cursor = signed_headers;
    const char *start = NULL;
    size_t len = 0;

    ccm_buf_adds(ret, req->method);
    ccm_buf_addc(ret, '\n');
    ccm_buf_adds(ret, req->raw_path);
    ccm_buf_addc(ret, '\n');
    canonical_params(&req->query, NULL, ret);
    ccm_buf_addc(ret, '\n');
    while (ccm_parse_piece(&cursor, ';', &start, &len)) {
        char name[128];

        if (len == 0 || len >= sizeof(name)) {
            return -EINVAL;
        }
        ccm_text_copy(name, len + 1, start);

        const char *value = ccm_sim_request_header(req, name);

        if (value == NULL) {
            return -EINVAL;
        }
        ccm_buf_add(ret, name, len);
        ccm_buf_addc(ret, ':');
        add_trimmed(ret, value);
        ccm_buf_addc(ret, '\n');
    }

    const char *hash = ccm_sim_request_header(req, "x-acs-content-sha256");

    ccm_buf_addc(ret, '\n');
    ccm_buf_adds(ret, signed_headers);
    ccm_buf_addc(ret, '\n');
    ccm_buf_adds(ret, hash == NULL ? "" : hash);
    return 0;
}

int ccm_cloud_v3_string(const char *canonical, size_t len, struct ccm_buf *ret)
{
    char hex[2 * EVP_MAX_MD_SIZE + 1];

    if (ccm_cloud_sha256_hex(canonical, len, hex) < 0) {
        return -EIO;
    }
    ccm_buf_adds(ret, V3_NAME "\n");
    ccm_buf_adds(ret, hex);
    return 0;
}

int ccm_cloud_v1_sign(const char *secret, const char *text, struct ccm_buf *ret)
{
    CCM_CLEANUP(digest_freep) EVP_MD_CTX *ctx = digest_new();
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { 0 };
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned char base64[2 * EVP_MAX_MD_SIZE];

    ccm_buf_adds(&key, secret);
    ccm_buf_addc(&key, '&');

    int r = ccm_buf_error(&key) < 0
                ? -EIO
                : keyed_digest(ctx, sha1, (struct bytes){ ccm_buf_str(&key), key.len },
                               (struct bytes){ text, strlen(text) }, bytes);

    if (r < 0) {
        return r;
    }
    (void)EVP_EncodeBlock(base64, bytes, r); /* always as long as the input demands */
    ccm_buf_adds(ret, (const char *)base64);
    return 0;
}

int ccm_cloud_v3_sign(const char *secret, const char *text, struct ccm_buf *ret)
{
    CCM_CLEANUP(digest_freep) EVP_MD_CTX *ctx = digest_new();
    unsigned char bytes[EVP_MAX_MD_SIZE];
    char hex[2 * EVP_MAX_MD_SIZE + 1];
    int r = keyed_digest(ctx, sha256, (struct bytes){ secret, strlen(secret) },
                         (struct bytes){ text, strlen(text) }, bytes);

    if (r < 0) {
        return r;
    }
    hex_write(bytes, (size_t)r, hex);
    ccm_buf_adds(ret, hex);
    return 0;
}

/* ---- checks ---- */

struct claim {
    const char *key_id;
    const char *token; /* "" = none */
    const char *time;
    const char *nonce;
    const char *signature;
    int64_t skew_ms;
};

static bool same_text(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && CRYPTO_memcmp(a, b, strlen(a)) == 0;
}

static int check_time(const struct claim *claim, int64_t now_ms, struct ccm_cloud_refusal *refusal)
{
    int64_t then = 0;
    size_t len = strlen(claim->time);

    if (len != strlen("2026-01-02T03:04:05Z") || claim->time[len - 1] != 'Z' ||
        ccm_parse_rfc3339(claim->time, &then) < 0) {
        return refuse(refusal, 400, "InvalidTimeStamp.Format",
                      "Specified time stamp or date value is not well formatted.");
    }
    if (then - now_ms > claim->skew_ms || now_ms - then > claim->skew_ms) {
        return refuse(refusal, 400, "InvalidTimeStamp.Expired",
                      "Specified time stamp or date value is expired.");
    }
    return 0;
}

static int check_token(const struct claim *claim, const struct ccm_cloud_key *key,
                       struct ccm_cloud_accounts *accounts, int64_t now_ms,
                       struct ccm_cloud_refusal *refusal)
{
    if (ccm_text_empty(claim->token)) {
        return ccm_text_empty(key->token) ? 0
                                          : refuse(refusal, 400, "MissingSecurityToken",
                                                   "SecurityToken is mandatory for this action.");
    }
    if (!ccm_text_equal(claim->token, key->token)) {
        return ccm_cloud_accounts_knows_token(accounts, claim->token) || ccm_text_empty(key->token)
                   ? refuse(refusal, 400, "InvalidSecurityToken.MismatchWithAccessKey",
                            "Specified SecurityToken mismatch with the AccessKey.")
                   : refuse(refusal, 400, "InvalidSecurityToken.Malformed",
                            "Specified SecurityToken is malformed.");
    }
    if (key->expires_ms != 0 && now_ms >= key->expires_ms) {
        return refuse(refusal, 400, "InvalidSecurityToken.Expired",
                      "Specified SecurityToken is expired.");
    }
    return 0;
}

/* The piece NAME=VALUE of the Authorization header, copied to text. */
static bool auth_piece(const char *list, const char *name, char *text, size_t size)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;
    size_t name_len = strlen(name);

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (len > name_len && strncmp(start, name, name_len) == 0 && start[name_len] == '=' &&
            len - name_len - 1 < size) {
            ccm_text_copy(text, len - name_len, start + name_len + 1);
            return true;
        }
    }
    return false;
}

static bool list_has(const char *list, const char *name)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ';', &start, &len)) {
        if (len == strlen(name) && strncmp(start, name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* host, content-type when there is one, and every x-acs- header must be covered. */
static bool v3_covers(const struct ccm_sim_request *req, const char *signed_headers)
{
    if (!list_has(signed_headers, "host")) {
        return false;
    }
    for (size_t i = 0; i < req->headers.len; i++) {
        const char *name = req->headers.items[i].name;
        bool must = ccm_text_starts(name, "x-acs-") ||
                    (ccm_text_equal(name, "content-type") && req->body_len > 0);

        if (must && !list_has(signed_headers, name)) {
            return false;
        }
    }
    return true;
}

static int check_key(const struct claim *claim, struct ccm_cloud_accounts *accounts, int64_t now_ms,
                     struct ccm_cloud_key *key, struct ccm_cloud_refusal *refusal)
{
    int r = check_time(claim, now_ms, refusal);

    if (r < 0) {
        return r;
    }
    r = ccm_cloud_accounts_get(accounts, claim->key_id, key);
    if (r == -ENOENT) {
        return refuse(refusal, 404, "InvalidAccessKeyId.NotFound",
                      "Specified access key is not found.");
    }
    if (r < 0) {
        return refuse(refusal, 500, "InternalError", "out of memory");
    }
    return check_token(claim, key, accounts, now_ms, refusal);
}

static int check_match(const struct claim *claim, const char *expected, const char *string,
                       struct ccm_cloud_accounts *accounts, struct ccm_cloud_refusal *refusal)
{
    if (!same_text(claim->signature, expected)) {
        return refuse(refusal, 400, "SignatureDoesNotMatch",
                      "Specified signature is not matched with our calculation. "
                      "server string to sign is:%s",
                      string);
    }

    int r = ccm_cloud_accounts_use_nonce(accounts, claim->key_id, claim->nonce);

    if (r == -EEXIST) {
        return refuse(refusal, 400, "SignatureNonceUsed",
                      "Specified signature nonce was used already.");
    }
    return r < 0 ? refuse(refusal, 500, "InternalError", "out of memory") : 0;
}

static int check_v3(const struct ccm_sim_request *req, struct ccm_cloud_accounts *accounts,
                    int64_t now_ms, struct ccm_cloud_refusal *refusal)
{
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf canonical = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf string = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf expected = { 0 };
    const char *list = ccm_sim_params_text(&req->headers, "authorization") + strlen(V3_NAME);
    char key_id[256];
    char signature[256];
    char headers[2048];
    char hash[2 * EVP_MAX_MD_SIZE + 1];
    struct claim claim = {
        .key_id = key_id,
        .token = ccm_sim_params_text(&req->headers, "x-acs-security-token"),
        .time = ccm_sim_params_text(&req->headers, "x-acs-date"),
        .nonce = ccm_sim_params_text(&req->headers, "x-acs-signature-nonce"),
        .signature = signature,
        .skew_ms = V3_SKEW_MS,
    };

    if (!auth_piece(list, "Credential", key_id, sizeof(key_id)) ||
        !auth_piece(list, "SignedHeaders", headers, sizeof(headers)) ||
        !auth_piece(list, "Signature", signature, sizeof(signature)) ||
        ccm_text_empty(claim.time) || ccm_text_empty(claim.nonce) || !v3_covers(req, headers)) {
        return refuse_incomplete(refusal);
    }

    int r = check_key(&claim, accounts, now_ms, &key, refusal);

    if (r < 0) {
        return r;
    }
    if (ccm_cloud_v3_canonical(req, headers, &canonical) < 0) {
        return refuse_incomplete(refusal);
    }
    if (ccm_cloud_v3_string(ccm_buf_str(&canonical), canonical.len, &string) < 0 ||
        ccm_cloud_v3_sign(key.secret, ccm_buf_str(&string), &expected) < 0 ||
        ccm_cloud_sha256_hex(req->body, req->body_len, hash) < 0) {
        return refuse(refusal, 500, "InternalError", "digest failed");
    }
    if (!same_text(hash, ccm_sim_params_text(&req->headers, "x-acs-content-sha256"))) {
        return refuse_incomplete(refusal);
    }
    return check_match(&claim, ccm_buf_str(&expected), ccm_buf_str(&canonical), accounts, refusal);
}

static int check_v1(const struct ccm_sim_request *req, struct ccm_cloud_accounts *accounts,
                    int64_t now_ms, struct ccm_cloud_refusal *refusal)
{
    static const char *const needed[] = { "AccessKeyId",     "Timestamp",        "SignatureNonce",
                                          "SignatureMethod", "SignatureVersion", "Signature" };
    CCM_CLEANUP(ccm_cloud_key_fini) struct ccm_cloud_key key = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf string = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf expected = { 0 };
    struct claim claim = {
        .key_id = ccm_sim_params_text(&req->all, "AccessKeyId"),
        .token = ccm_sim_params_text(&req->all, "SecurityToken"),
        .time = ccm_sim_params_text(&req->all, "Timestamp"),
        .nonce = ccm_sim_params_text(&req->all, "SignatureNonce"),
        .signature = ccm_sim_params_text(&req->all, "Signature"),
        .skew_ms = V1_SKEW_MS,
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(needed); i++) {
        if (ccm_text_empty(ccm_sim_params_get(&req->all, needed[i]))) {
            return refuse_missing(refusal, needed[i]);
        }
    }
    if (!ccm_text_equal(ccm_sim_params_get(&req->all, "SignatureMethod"), "HMAC-SHA1")) {
        return refuse(refusal, 400, "InvalidSignatureMethod",
                      "Specified signature method is not valid.");
    }
    if (!ccm_text_equal(ccm_sim_params_get(&req->all, "SignatureVersion"), "1.0")) {
        return refuse_incomplete(refusal);
    }

    int r = check_key(&claim, accounts, now_ms, &key, refusal);

    if (r < 0) {
        return r;
    }
    ccm_cloud_v1_string(req, &string);
    if (ccm_buf_error(&string) < 0 ||
        ccm_cloud_v1_sign(key.secret, ccm_buf_str(&string), &expected) < 0) {
        return refuse(refusal, 500, "InternalError", "digest failed");
    }
    return check_match(&claim, ccm_buf_str(&expected), ccm_buf_str(&string), accounts, refusal);
}

bool ccm_cloud_signature_is_v3(const struct ccm_sim_request *req)
{
    return ccm_text_starts(ccm_sim_params_text(&req->headers, "authorization"), V3_NAME " ");
}

int ccm_cloud_signature_check(const struct ccm_sim_request *req,
                              struct ccm_cloud_accounts *accounts, int64_t now_ms,
                              struct ccm_cloud_refusal *ret_refusal)
{
    if (ccm_cloud_signature_is_v3(req)) {
        return check_v3(req, accounts, now_ms, ret_refusal);
    }
    return check_v1(req, accounts, now_ms, ret_refusal);
}

void ccm_cloud_signature_key(const struct ccm_sim_request *req, char *text, size_t size)
{
    ccm_text_copy(text, size, ccm_sim_params_text(&req->all, "AccessKeyId"));
    if (ccm_cloud_signature_is_v3(req) &&
        !auth_piece(ccm_sim_params_text(&req->headers, "authorization") + strlen(V3_NAME),
                    "Credential", text, size)) {
        text[0] = '\0';
    }
}
