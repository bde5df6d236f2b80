/* Where credentials come from, when they are fetched again, and what happens when that fails. */
#include "alicloud/credential/credential.h"

#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include "check.h"

#include <cjson/cJSON.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BASE "http://127.0.0.1:9"

struct fixture {
    struct fake_host *fake;
    struct ali_ctx ctx;
    struct ali_metadata *metadata;
    struct ali_credential_setup setup;
    struct ali_credentials *credentials;
    char folder[64];
    char path[96];
};

static void fixture_begin(struct fixture *f, enum ali_credential_source source)
{
    *f = (struct fixture){ .fake = fake_host_new() };
    ccm_text_copy(f->folder, sizeof(f->folder), "/tmp/test-credential-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof(f->path), "%s/key.json", f->folder); /* sized for it */
    f->ctx = (struct ali_ctx){ .host = fake_host_table(f->fake), .deadline_ms = INT64_MAX };
    f->metadata = ali_metadata_new(BASE);
    f->setup = (struct ali_credential_setup){
        .source = "",
        .file = f->path,
        .addon_file = f->path,
        .role_arn = "",
        .session = "session",
        .oidc_provider = "acs:ram::1:oidc-provider/p",
        .oidc_token_file = f->path,
        .metadata = f->metadata,
    };
    f->credentials = ali_credentials_new(source, &f->setup);
    assert_non_null(f->credentials);
}

static void fixture_end(struct fixture *f)
{
    assert_null(strstr(fake_host_log_text(f->fake), "secret-"));
    assert_null(strstr(fake_host_log_text(f->fake), "token-"));
    ali_credentials_settle(f->credentials);
    ali_credentials_free(f->credentials);
    ali_metadata_free(f->metadata);
    fake_host_free(f->fake);
    (void)unlink(f->path); /* not every test makes it */
    assert_int_equal(rmdir(f->folder), 0);
}

static void write_file(const struct fixture *f, const char *text, mode_t mode)
{
    CCM_CLEANUP(ccm_freep) char *other = ccm_text_format("%s.new", f->path);
    FILE *file = fopen(other, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(other, mode), 0);
    assert_int_equal(rename(other, f->path), 0); /* a new inode, as careful writers do */
}

/* Key id of the credential once everything that is due was fetched, or "" and err. */
static const char *key(struct fixture *f, struct ccm_error *err)
{
    static char text[64];
    CCM_CLEANUP(ali_credential_unrefp) const struct ali_credential *credential = NULL;
    CCM_CLEANUP(ali_credential_unrefp) const struct ali_credential *present = NULL;

    ccm_error_clear(err);
    if (ali_credentials_get(f->credentials, &f->ctx, &present, err) == 0) {
        ali_credentials_settle(f->credentials);
    }
    ccm_error_clear(err);
    if (ali_credentials_get(f->credentials, &f->ctx, &credential, err) < 0) {
        assert_null(strstr(err->message, "secret-"));
        assert_null(strstr(err->message, "token-"));
        return "";
    }
    ccm_text_copy(text, sizeof(text), credential->key_id);
    return text;
}

/* --- choice --- */

static void test_choose(void **state)
{
    static const struct {
        const char *source;
        const char *file;
        const char *addon_file;
        const char *role;
        const char *key;
        const char *secret;
        int result;
        enum ali_credential_source chosen;
    } rows[] = {
        { "auto", "", "/none", "", NULL, NULL, 0, ALI_CREDENTIAL_RAM_ROLE },
        { "auto", "", "/none", "", "a", NULL, 0, ALI_CREDENTIAL_RAM_ROLE },
        { "auto", "", "/none", "", "a", "b", 0, ALI_CREDENTIAL_ENV },
        { "auto", "", "/none", "acs:ram::1:role/r", "a", "b", 0, ALI_CREDENTIAL_ENV },
        { "auto", "", "/none", "acs:ram::1:role/r", NULL, NULL, 0, ALI_CREDENTIAL_OIDC },
        { "auto", "", "/dev/null", "", "a", "b", 0, ALI_CREDENTIAL_ADDON },
        { "auto", "/f", "/dev/null", "", "a", "b", 0, ALI_CREDENTIAL_FILE },
        { "env", "/f", "/none", "", "a", "b", 0, ALI_CREDENTIAL_ENV },
        { "env", "/f", "/none", "", "a", "", -EINVAL, ALI_CREDENTIAL_ENV },
        { "file", "", "/none", "", "a", "b", -EINVAL, ALI_CREDENTIAL_FILE },
        { "addon", "", "/none", "", "a", "b", 0, ALI_CREDENTIAL_ADDON },
        { "oidc", "", "/none", "acs:ram::1:role/r", "a", "b", 0, ALI_CREDENTIAL_OIDC },
        { "oidc", "", "/none", "", "a", "b", -EINVAL, ALI_CREDENTIAL_OIDC },
        { "ram-role", "/f", "/none", "", "a", "b", 0, ALI_CREDENTIAL_RAM_ROLE },
        { "vault", "", "/none", "", "a", "b", -EINVAL, ALI_CREDENTIAL_ENV },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ali_credential_setup setup = {
            .source = rows[i].source,
            .file = rows[i].file,
            .addon_file = rows[i].addon_file,
            .role_arn = rows[i].role,
            .session = "s",
            .oidc_provider = "acs:ram::1:oidc-provider/p",
            .oidc_token_file = "/token",
        };
        enum ali_credential_source chosen = ALI_CREDENTIAL_ENV;
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(rows[i].key == NULL ? unsetenv("ACCESS_KEY_ID")
                                             : setenv("ACCESS_KEY_ID", rows[i].key, 1),
                         0);
        assert_int_equal(rows[i].secret == NULL ? unsetenv("ACCESS_KEY_SECRET")
                                                : setenv("ACCESS_KEY_SECRET", rows[i].secret, 1),
                         0);
        assert_int_equal(ali_credential_choose(&setup, &chosen, &err), rows[i].result);
        if (rows[i].result == 0) {
            assert_int_equal(chosen, rows[i].chosen);
        } else {
            assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        }
    }
}

/* --- file --- */

#define FILE_A "{\"access_key_id\":\"A\",\"access_key_secret\":\"secret-a\"}"
#define FILE_B                                                                                     \
    "{\"access_key_id\":\"B\",\"access_key_secret\":\"secret-b\",\"security_token\":\"token-b\"}"

static bool freed_a_secret;

/* Only what a JSON document held. */
static void free_looking(void *block)
{
    const char *text = block;
    const size_t size = block == NULL ? 0 : malloc_usable_size(block);

    for (size_t i = 0; i + sizeof("secret-") <= size; i++) {
        freed_a_secret = freed_a_secret || memcmp(text + i, "secret-", strlen("secret-")) == 0;
    }
    free(block);
}

/* Memory that goes back holds no secret any more. */
static void test_documents_are_wiped(void **state)
{
    cJSON_Hooks hooks = { .malloc_fn = malloc, .free_fn = free_looking };
    struct ccm_error err = CCM_ERROR_INIT;
    struct fixture f;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_FILE);
    cJSON_InitHooks(&hooks);
    write_file(&f, FILE_A, 0600);
    assert_string_equal(key(&f, &err), "A");
    write_file(&f, FILE_B, 0600);
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "B");
    cJSON_InitHooks(NULL);
    assert_false(freed_a_secret);
    fixture_end(&f);
}

static void test_file_rotation(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ali_credential *held = NULL;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_FILE);
    assert_string_equal(key(&f, &err), "");
    assert_non_null(strstr(err.message, f.path));

    write_file(&f, FILE_A, 0600);
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "A");
    assert_int_equal(ali_credentials_get(f.credentials, &f.ctx, &held, &err), 0);

    write_file(&f, FILE_B, 0600);
    assert_string_equal(key(&f, &err), "A"); /* looked at a moment ago */
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "B");

    /* Who holds the old one sees no mixture. */
    assert_string_equal(held->key_id, "A");
    assert_string_equal(ccm_secret_text(&held->secret), "secret-a");
    assert_string_equal(ccm_secret_text(&held->token), "");
    assert_true(held->serial < 2);
    ali_credential_unref(held);

    /* A broken file keeps the last good one, and is told. */
    write_file(&f, "{\"access_key_id\":\"C\",\"access_key_secr", 0600);
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "B");
    assert_non_null(strstr(fake_host_log_text(f.fake), "no JSON object"));
    assert_int_equal(unlink(f.path), 0);
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "B");
    write_file(&f, FILE_A, 0600);
    fake_host_advance(f.fake, 5000);
    assert_string_equal(key(&f, &err), "A");
    fixture_end(&f);
}

static void test_file_refused(void **state)
{
    static const struct {
        const char *text;
        mode_t mode;
        uint64_t kind; /* 0 = accepted */
        const char *words;
    } rows[] = {
        { FILE_A, 0600, 0, NULL },
        { FILE_A, 0644, 0, NULL },
        { FILE_A, 0660, CCM_ERROR_AUTH, "only its owner may" },
        { FILE_A, 0606, CCM_ERROR_AUTH, "only its owner may" },
        { "[]", 0600, CCM_ERROR_TRANSIENT, "no JSON object" },
        { "", 0600, CCM_ERROR_TRANSIENT, "no JSON object" },
        { "{\"access_key_id\":\"A\"}", 0600, CCM_ERROR_AUTH, "missing" },
        { "{\"access_key_id\":7,\"access_key_secret\":\"secret-a\"}", 0600, CCM_ERROR_AUTH,
          "missing" },
        { "{\"access_key_id\":\"A\\r\\nx: y\",\"access_key_secret\":\"secret-a\"}", 0600,
          CCM_ERROR_AUTH, "strange characters" },
        { "{\"access_key_id\":\"A\",\"access_key_secret\":\"secret-a\",\"expiration\":\"soon\"}",
          0600, CCM_ERROR_AUTH, "expiration" },
        { "{\"access_key_id\":\"A\",\"access_key_secret\":\"secret-a\","
          "\"expiration\":\"2026-01-02T03:04:00Z\"}",
          0600, CCM_ERROR_TRANSIENT, "expired" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture f;
        struct ccm_error err = CCM_ERROR_INIT;

        fixture_begin(&f, ALI_CREDENTIAL_FILE);
        write_file(&f, rows[i].text, rows[i].mode);
        assert_string_equal(key(&f, &err), rows[i].kind == 0 ? "A" : "");
        assert_int_equal(err.kind, rows[i].kind);
        if (rows[i].kind != 0) {
            assert_non_null(strstr(err.message, rows[i].words));
        }
        assert_int_equal(strstr(fake_host_log_text(f.fake), "everybody") != NULL,
                         rows[i].mode == 0644);
        fixture_end(&f);
    }
}

static void test_file_with_an_end(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_FILE);
    write_file(&f,
               "{\"access_key_id\":\"A\",\"access_key_secret\":\"secret-a\","
               "\"expiration\":\"2026-01-02T03:14:05Z\"}",
               0600);
    assert_string_equal(key(&f, &err), "A");
    fake_host_advance(f.fake, 590000);
    assert_string_equal(key(&f, &err), "A");
    fake_host_advance(f.fake, 10000);
    assert_string_equal(key(&f, &err), "");
    assert_non_null(strstr(err.message, "expired"));
    fixture_end(&f);
}

/* --- RAM role --- */

#define TOKEN_PATH "/latest/api/token"
#define ROLE_PATH  "/ram/security-credentials/ccm-role"
#define LIST_PATH  "/ram/security-credentials/"

/* Role document whose end lies `life_ms` from now. */
static void offer_role(struct fixture *f, const char *id, int64_t life_ms)
{
    char end_text[CCM_CLOCK_TEXT];
    const struct ccm_host *host = f->ctx.host;

    ccm_clock_format(host->wall_ms(host) + life_ms, end_text, sizeof(end_text));

    CCM_CLEANUP(ccm_freep)
    char *body = ccm_text_format("{\"Code\":\"Success\",\"AccessKeyId\":\"%s\","
                                 "\"AccessKeySecret\":\"secret-%s\",\"SecurityToken\":\"token-%s\","
                                 "\"Expiration\":\"%s\"}",
                                 id, id, id, end_text);

    fake_host_clear_replies(f->fake);
    fake_host_always(f->fake, TOKEN_PATH, 200, "imds");
    fake_host_always(f->fake, ROLE_PATH, 200, body);
    fake_host_always(f->fake, LIST_PATH, 200, "ccm-role\nother\n");
}

static size_t count_url(struct fixture *f, const char *part)
{
    size_t count = 0;

    for (size_t i = 0; i < fake_host_request_count(f->fake); i++) {
        count += strstr(fake_host_request(f->fake, i)->url, part) != NULL ? 1 : 0;
    }
    return count;
}

static void test_role_refresh(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    offer_role(&f, "one", 1000000);
    assert_string_equal(key(&f, &err), "one");
    assert_int_equal(count_url(&f, ROLE_PATH), 1);
    offer_role(&f, "two", 2000000);
    fake_host_advance(f.fake, 799000);
    assert_string_equal(key(&f, &err), "one");
    assert_int_equal(count_url(&f, ROLE_PATH), 1);
    fake_host_advance(f.fake, 1000); /* 80 % */
    assert_string_equal(key(&f, &err), "two");
    assert_int_equal(count_url(&f, ROLE_PATH), 2);
    /* The session token was asked for once and sent each time. */
    assert_int_equal(count_url(&f, TOKEN_PATH), 1);
    assert_string_equal(fake_request_header(fake_host_request(f.fake, 0),
                                            "x-aliyun-ecs-metadata-token-ttl-seconds"),
                        "21600");
    for (size_t i = 1; i < fake_host_request_count(f.fake); i++) {
        assert_string_equal(
            fake_request_header(fake_host_request(f.fake, i), "x-aliyun-ecs-metadata-token"),
            "imds");
    }
    fixture_end(&f);
}

static void test_role_last_good_is_kept(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    offer_role(&f, "one", 1000000);
    assert_string_equal(key(&f, &err), "one");
    fake_host_clear_replies(f.fake);
    fake_host_always(f.fake, BASE, 503, "");
    fake_host_advance(f.fake, 800000);
    assert_string_equal(key(&f, &err), "one");
    assert_non_null(strstr(fake_host_log_text(f.fake), "going on with the present ones"));

    /* Not every call hammers the service. */
    const size_t asked = fake_host_request_count(f.fake);

    assert_string_equal(key(&f, &err), "one");
    assert_int_equal(fake_host_request_count(f.fake), asked);
    fake_host_advance(f.fake, 30000);
    assert_string_equal(key(&f, &err), "one");
    assert_true(fake_host_request_count(f.fake) > asked);

    /* Over is over; then it heals without a restart. */
    fake_host_advance(f.fake, 200000);
    assert_string_equal(key(&f, &err), "");
    assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);

    const size_t failed = fake_host_request_count(f.fake);

    assert_string_equal(key(&f, &err), ""); /* the same failure, not asked for again */
    assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);
    assert_int_equal(fake_host_request_count(f.fake), failed);
    offer_role(&f, "two", 1000000);
    fake_host_advance(f.fake, 3000);
    assert_string_equal(key(&f, &err), "two");
    fixture_end(&f);
}

static void test_role_never_loops(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    offer_role(&f, "one", 3000); /* as good as over */
    assert_string_equal(key(&f, &err), "");
    assert_true(fake_host_request_count(f.fake) < 10);
    fixture_end(&f);
}

/* Over by a clock that is ahead: not asked for again until the pause ends, or until the clock is
 * set. */
static void test_role_when_the_clock_is_set(void **state)
{
    static const struct {
        int64_t ahead_ms;
        int64_t set_ms;
        const char *found;
        size_t asked;
    } rows[] = {
        { 3600000, -3600000, "one", 2 }, { 3600000, 0, "", 1 },
        { 3600000, 9000, "", 1 },  /* no step */
        { 3600000, 60000, "", 2 }, /* one that does not help */
        { 998000, -5000, "", 1 },  /* soon over, and a small one that would help */
        { 998000, -10000, "one", 2 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture f;
        struct ccm_error err = CCM_ERROR_INIT;

        fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
        offer_role(&f, "one", 1000000);
        fake_host_shift_wall(f.fake, rows[i].ahead_ms);
        assert_string_equal(key(&f, &err), "");
        assert_non_null(
            strstr(err.message, rows[i].ahead_ms < 1000000
                                    ? "RAM role: ends too soon, at 20"
                                    : "Z by the clock of this machine, which may be wrong"));
        assert_string_equal(key(&f, &err), "");
        assert_int_equal(count_url(&f, ROLE_PATH), 1);
        fake_host_shift_wall(f.fake, rows[i].set_ms);
        assert_string_equal(key(&f, &err), rows[i].found);
        assert_int_equal(count_url(&f, ROLE_PATH), rows[i].asked);
        fixture_end(&f);
    }
}

static void test_renew(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ali_credential *held = NULL;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    offer_role(&f, "one", 1000000);
    assert_int_equal(ali_credentials_get(f.credentials, &f.ctx, &held, &err), 0);
    /* The service still offers the refused one. */
    assert_false(ali_credentials_renew(f.credentials, &f.ctx, held));
    offer_role(&f, "two", 1000000);
    assert_false(ali_credentials_renew(f.credentials, &f.ctx, held)); /* asked just now */
    fake_host_advance(f.fake, 10000);
    assert_true(ali_credentials_renew(f.credentials, &f.ctx, held));
    assert_string_equal(key(&f, &err), "two");

    /* Who comes late with the old one gets the new one without another fetch. */
    const size_t asked = fake_host_request_count(f.fake);

    assert_true(ali_credentials_renew(f.credentials, &f.ctx, held));
    assert_int_equal(fake_host_request_count(f.fake), asked);
    ali_credential_unref(held);
    fixture_end(&f);
}

/* --- metadata --- */

static int get(struct fixture *f, const char *item, char **ret, struct ccm_error *err)
{
    ccm_error_clear(err);
    return ali_metadata_get(f->metadata, &f->ctx, item, ret, err);
}

static void test_metadata_without_tokens(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    CCM_CLEANUP(ccm_freep) char *again = NULL;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    fake_host_always(f.fake, TOKEN_PATH, 405, "no");
    fake_host_always(f.fake, "/meta-data/region-id", 200, "cn-hangzhou \n");
    assert_int_equal(get(&f, "region-id", &text, &err), 0);
    assert_string_equal(text, "cn-hangzhou");
    assert_int_equal(get(&f, "region-id", &again, &err), 0);
    assert_int_equal(count_url(&f, TOKEN_PATH), 1);
    assert_null(fake_request_header(fake_host_request(f.fake, 1), "x-aliyun-ecs-metadata-token"));
    fixture_end(&f);
}

static void test_metadata_token_refused_later(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    fake_host_always(f.fake, TOKEN_PATH, 200, "imds");
    fake_host_answer(f.fake, "/meta-data/region-id", 401, "");
    fake_host_answer(f.fake, "/meta-data/region-id", 200, "cn-beijing");
    assert_int_equal(get(&f, "region-id", &text, &err), 0);
    assert_string_equal(text, "cn-beijing");
    assert_int_equal(count_url(&f, TOKEN_PATH), 2);
    fixture_end(&f);
}

static void test_metadata_failures(void **state)
{
    static const struct {
        struct fake_reply token;
        struct fake_reply item;
        int result;
        uint64_t kind;
        size_t items; /* reads of the item */
    } rows[] = {
        { { .body = "imds" }, { .status = 404 }, -ENOENT, CCM_ERROR_NOT_FOUND, 1 },
        { { .body = "imds" }, { .status = 500 }, -EPROTO, CCM_ERROR_TRANSIENT, 3 },
        { { .body = "imds" },
          { .result = -ETIMEDOUT, .phase = CCM_HTTP_MAYBE_RUN },
          -ETIMEDOUT,
          CCM_ERROR_TRANSIENT,
          3 },
        { { .status = 500 }, { .body = "x" }, -EPROTO, CCM_ERROR_TRANSIENT, 0 },
        /* A token that would break out of its header line. */
        { { .body = "a\r\nx: y" }, { .body = "x" }, -EPROTO, CCM_ERROR_TRANSIENT, 0 },
        { { .body = "" }, { .body = "x" }, -EPROTO, CCM_ERROR_TRANSIENT, 0 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture f;
        struct ccm_error err = CCM_ERROR_INIT;
        struct fake_reply token = rows[i].token;
        struct fake_reply item = rows[i].item;
        char *text = NULL;

        fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
        token.match = TOKEN_PATH;
        token.times = FAKE_ALWAYS;
        item.match = "/meta-data/vpc-id";
        item.times = FAKE_ALWAYS;
        fake_host_reply(f.fake, &token);
        fake_host_reply(f.fake, &item);
        assert_int_equal(get(&f, "vpc-id", &text, &err), rows[i].result);
        assert_int_equal(err.kind, rows[i].kind);
        assert_null(text);
        assert_int_equal(count_url(&f, "/meta-data/vpc-id"), rows[i].items);
        fixture_end(&f);
    }
}

static void test_role_name_is_checked(void **state)
{
    struct fixture f;
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fixture_begin(&f, ALI_CREDENTIAL_RAM_ROLE);
    fake_host_always(f.fake, TOKEN_PATH, 200, "imds");
    fake_host_always(f.fake, LIST_PATH, 200, "../../x?y");
    assert_string_equal(key(&f, &err), "");
    assert_int_equal(count_url(&f, LIST_PATH), 1);
    fake_host_clear_replies(f.fake);
    fake_host_advance(f.fake, 60000);
    fake_host_always(f.fake, LIST_PATH, 404, "");
    assert_string_equal(key(&f, &err), "");
    assert_int_equal(err.kind, CCM_ERROR_AUTH);
    assert_non_null(strstr(err.message, "no RAM role"));
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_file_rotation),
        cmocka_unit_test(test_documents_are_wiped),
        cmocka_unit_test(test_file_refused),
        cmocka_unit_test(test_file_with_an_end),
        cmocka_unit_test(test_role_refresh),
        cmocka_unit_test(test_role_last_good_is_kept),
        cmocka_unit_test(test_role_never_loops),
        cmocka_unit_test(test_role_when_the_clock_is_set),
        cmocka_unit_test(test_renew),
        cmocka_unit_test(test_metadata_without_tokens),
        cmocka_unit_test(test_metadata_token_refused_later),
        cmocka_unit_test(test_metadata_failures),
        cmocka_unit_test(test_role_name_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
