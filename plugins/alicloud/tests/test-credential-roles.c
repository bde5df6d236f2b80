/* The encrypted token file of managed clusters, and roles that STS gives. */
#include "alicloud/credential/credential.h"

#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include "alicloud/params.h"
#include "check.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>

/* What the fake STS was asked, and what it answers. */
struct sts {
    size_t calls;
    char action[32];
    char signer[32]; /* "" = unsigned */
    char params[512];
    int result;
    int64_t life_ms;
};

struct fixture {
    struct fake_host *fake;
    struct ali_ctx ctx;
    struct ali_credential_setup setup;
    struct ali_credentials *credentials;
    struct sts sts;
    char folder[64];
    char path[96];
};

static int fake_sts(void *arg, const struct ali_ctx *ctx, const struct ali_sts_call *call,
                    cJSON **ret_json, struct ccm_error *err)
{
    struct sts *sts = arg;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    char end[CCM_CLOCK_TEXT];

    sts->calls++;
    ccm_text_copy(sts->action, sizeof(sts->action), call->action);
    ccm_text_copy(sts->signer, sizeof(sts->signer),
                  call->signer == NULL ? "" : call->signer->key_id);
    for (size_t i = 0; i < call->params->len; i++) {
        ccm_buf_addf(&text, "%s=%s;", call->params->items[i].name, call->params->items[i].value);
    }
    ccm_text_copy(sts->params, sizeof(sts->params), ccm_buf_str(&text));
    if (sts->result < 0) {
        return ccm_error_set(err, sts->result, CCM_ERROR_AUTH, "NoPermission");
    }
    ccm_clock_format(ctx->host->wall_ms(ctx->host) + sts->life_ms, end, sizeof(end));

    CCM_CLEANUP(ccm_freep)
    char *answer = ccm_text_format("{\"Credentials\":{\"AccessKeyId\":\"STS.%zu\","
                                   "\"AccessKeySecret\":\"secret-%zu\",\"SecurityToken\":"
                                   "\"token-%zu\",\"Expiration\":\"%s\"}}",
                                   sts->calls, sts->calls, sts->calls, end);

    return ccm_json_parse(answer, strlen(answer), ret_json);
}

static void fixture_begin(struct fixture *f, enum ali_credential_source source, const char *role)
{
    *f = (struct fixture){ .fake = fake_host_new(), .sts = { .life_ms = 1000000 } };
    ccm_text_copy(f->folder, sizeof(f->folder), "/tmp/test-credential-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof(f->path), "%s/file", f->folder); /* sized for it */
    f->ctx = (struct ali_ctx){ .host = fake_host_table(f->fake), .deadline_ms = INT64_MAX };
    f->setup = (struct ali_credential_setup){
        .source = "",
        .file = f->path,
        .addon_file = f->path,
        .role_arn = role,
        .session = "ccmd",
        .oidc_provider = "acs:ram::1:oidc-provider/p",
        .oidc_token_file = f->path,
        .sts = fake_sts,
        .sts_arg = &f->sts,
    };
    f->credentials = ali_credentials_new(source, &f->setup);
    assert_non_null(f->credentials);
}

static void fixture_end(struct fixture *f)
{
    ali_credentials_settle(f->credentials);
    assert_null(strstr(fake_host_log_text(f->fake), "secret-"));
    assert_null(strstr(fake_host_log_text(f->fake), "token-"));
    ali_credentials_free(f->credentials);
    fake_host_free(f->fake);
    (void)unlink(f->path); /* not every test makes it */
    assert_int_equal(rmdir(f->folder), 0);
}

static void write_file(const struct fixture *f, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *other = ccm_text_format("%s.new", f->path);
    FILE *file = fopen(other, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(other, f->path), 0);
}

/* Key id of the credential that a call gets now, or "" and err. */
static const char *key_now(struct fixture *f, struct ccm_error *err)
{
    static char text[64];
    CCM_CLEANUP(ali_credential_unrefp) const struct ali_credential *credential = NULL;

    ccm_error_clear(err);
    if (ali_credentials_get(f->credentials, &f->ctx, &credential, err) < 0) {
        assert_null(strstr(err->message, "secret-"));
        assert_null(strstr(err->message, "token-"));
        return "";
    }
    ccm_text_copy(text, sizeof(text), credential->key_id);
    return text;
}

/* The same, once what was due has been fetched in the background. */
static const char *key(struct fixture *f, struct ccm_error *err)
{
    (void)key_now(f, err); /* it may start a fetch */
    ali_credentials_settle(f->credentials);
    return key_now(f, err);
}

/* --- token file --- */

#define KEYRING "0123456789abcdef0123456789abcdef"

/* base64(IV + AES-CBC(text)); cut: bytes to leave out at the end of the cipher text. */
static char *encrypt(const char *text, const char *keyring, size_t cut)
{
    unsigned char data[512] = "0123456789abcdef";
    unsigned char base64[1024];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    const EVP_CIPHER *cipher = strlen(keyring) == 16   ? EVP_aes_128_cbc()
                               : strlen(keyring) == 24 ? EVP_aes_192_cbc()
                                                       : EVP_aes_256_cbc();
    int head = 0;
    int tail = 0;

    assert_int_equal(EVP_EncryptInit_ex(ctx, cipher, NULL, (const unsigned char *)keyring, data),
                     1);
    assert_int_equal(
        EVP_EncryptUpdate(ctx, data + 16, &head, (const unsigned char *)text, (int)strlen(text)),
        1);
    assert_int_equal(EVP_EncryptFinal_ex(ctx, data + 16 + head, &tail), 1);
    EVP_CIPHER_CTX_free(ctx);
    (void)EVP_EncodeBlock(base64, data, 16 + head + tail - (int)cut); /* ends it with a NUL */
    return strdup((const char *)base64);
}

static char *addon(const char *keyring, const char *told, const char *expiration, size_t cut)
{
    CCM_CLEANUP(ccm_freep) char *id = encrypt("ADDON", keyring, 0);
    CCM_CLEANUP(ccm_freep) char *secret = encrypt("secret-addon-that-is-long", keyring, cut);
    CCM_CLEANUP(ccm_freep) char *token = encrypt("token-addon", keyring, 0);

    return ccm_text_format("{\"access.key.id\":\"%s\",\"access.key.secret\":\"%s\","
                           "\"security.token\":\"%s\",\"expiration\":\"%s\",\"keyring\":\"%s\"}",
                           id, secret, token, expiration, told);
}

#define LATER "2026-01-02T04:04:05Z" /* the fake clock begins an hour before */

static void test_addon(void **state)
{
    static const struct {
        const char *keyring;
        const char *told;
        const char *expiration;
        size_t cut;
        const char *words; /* NULL = it works */
    } rows[] = {
        { KEYRING, KEYRING, LATER, 0, NULL },
        { "0123456789abcdef", "0123456789abcdef", LATER, 0, NULL },
        { "0123456789abcdef01234567", "0123456789abcdef01234567", "", 0, NULL },
        { KEYRING, "ffffffffffffffffffffffffffffffff", LATER, 0, "cannot be decrypted" },
        { KEYRING, "short", LATER, 0, "cannot be decrypted" },
        { KEYRING, "", LATER, 0, "cannot be decrypted" },
        { KEYRING, KEYRING, LATER, 32, "access.key.secret cannot be decrypted" },
        { KEYRING, KEYRING, LATER, 5, "access.key.secret cannot be decrypted" },
        { KEYRING, KEYRING, "2026-01-02T03:04:00Z", 0, "expired" },
        { KEYRING, KEYRING, "soon", 0, "expiration" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture f;
        struct ccm_error err = CCM_ERROR_INIT;
        CCM_CLEANUP(ccm_freep)
        char *text = addon(rows[i].keyring, rows[i].told, rows[i].expiration, rows[i].cut);

        fixture_begin(&f, ALI_CREDENTIAL_ADDON, "");
        write_file(&f, text);
        assert_string_equal(key(&f, &err), rows[i].words == NULL ? "ADDON" : "");
        if (rows[i].words != NULL) {
            assert_non_null(strstr(err.message, rows[i].words));
        }
        fixture_end(&f);
    }
}

static void test_addon_hostile(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"keyring\":\"" KEYRING "\",\"access.key.id\":\"####\"}",
        "{\"keyring\":\"" KEYRING "\",\"access.key.id\":\"====\"}",
        "{\"keyring\":\"" KEYRING "\",\"access.key.id\":\"AAA\"}",
        "{\"keyring\":\"" KEYRING "\",\"access.key.id\":\"AAAAAAAAAAAAAAAAAAAAAA==\"}",
        "{\"keyring\":7,\"access.key.id\":[]}",
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        struct fixture f;
        struct ccm_error err = CCM_ERROR_INIT;

        fixture_begin(&f, ALI_CREDENTIAL_ADDON, "");
        write_file(&f, texts[i]);
        assert_string_equal(key(&f, &err), "");
        assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);
        fixture_end(&f);
    }
}

/* The kubelet swaps the file; a bad one keeps the last good credential. */
static void test_addon_rotates(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_freep) char *text = addon(KEYRING, KEYRING, LATER, 0);

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_ADDON, "");
    write_file(&f, text);
    assert_string_equal(key(&f, &err), "ADDON");
    write_file(&f, "{");
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "ADDON");
    assert_non_null(strstr(fake_host_log_text(f.fake), "going on with the present ones"));
    fixture_end(&f);
}

/* --- roles --- */

#define ROLE "acs:ram::1:role/r"

static void test_oidc(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_OIDC, ROLE);
    assert_string_equal(key(&f, &err), "");
    assert_non_null(strstr(err.message, f.path));
    assert_int_equal(f.sts.calls, 0);

    write_file(&f, "token-of-the-pod\n");
    fake_host_advance(f.fake, 3000);
    assert_string_equal(key(&f, &err), "STS.1");
    assert_string_equal(f.sts.action, "AssumeRoleWithOIDC");
    assert_string_equal(f.sts.signer, "");
    assert_string_equal(f.sts.params,
                        "OIDCProviderArn=acs:ram::1:oidc-provider/p;OIDCToken=token-of-the-pod;"
                        "RoleArn=" ROLE ";RoleSessionName=ccmd;DurationSeconds=3600;");

    /* Read again for the next one: the kubelet has replaced it meanwhile. */
    write_file(&f, "token-two");
    fake_host_advance(f.fake, 800000);
    assert_string_equal(key_now(&f, &err), "STS.1"); /* nobody waits for the next one */
    assert_string_equal(key(&f, &err), "STS.2");
    assert_non_null(strstr(f.sts.params, "OIDCToken=token-two;"));
    fixture_end(&f);
}

static void test_assume_role(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_FILE, ROLE);
    write_file(&f, "{\"access_key_id\":\"BASE\",\"access_key_secret\":\"secret-base\"}");
    f.sts.result = -EACCES;
    assert_string_equal(key(&f, &err), "");
    assert_non_null(strstr(err.message, ROLE));
    f.sts.result = 0;
    fake_host_advance(f.fake, 3000);
    assert_string_equal(key(&f, &err), "STS.2");
    assert_string_equal(f.sts.action, "AssumeRole");
    assert_string_equal(f.sts.signer, "BASE");

    /* The file stays the same, the role comes to its end. */
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "STS.2");
    fake_host_advance(f.fake, 800000);
    assert_string_equal(key(&f, &err), "STS.3");

    /* Another key in the file makes another role at once. */
    write_file(&f, "{\"access_key_id\":\"BASE2\",\"access_key_secret\":\"secret-base\"}");
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "STS.4");
    assert_string_equal(f.sts.signer, "BASE2");

    /* STS refuses: the last good one serves until its end. */
    f.sts.result = -EACCES;
    fake_host_advance(f.fake, 900000);
    assert_string_equal(key(&f, &err), "STS.4");
    fake_host_advance(f.fake, 100000);
    assert_string_equal(key(&f, &err), "");
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addon),         cmocka_unit_test(test_addon_hostile),
        cmocka_unit_test(test_addon_rotates), cmocka_unit_test(test_oidc),
        cmocka_unit_test(test_assume_role),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
