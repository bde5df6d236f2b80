/* What held a secret is wiped when its memory goes back: of files, of answers, of requests. */
#include "alicloud/ali.h"

#include "support/fake_host.h"
#include "support/freed_text.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include "alicloud/instance.h"
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#define MARK "sEcReT-" /* all secrets of this file begin so */

struct fixture {
    struct fake_host *fake;
    char folder[32];
    char path[48];
};

static void write_file(const struct fixture *f, const char *text)
{
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_int_equal(setvbuf(file, NULL, _IONBF, 0), 0);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Twice: one credential takes the place of the other. */
static void use_credentials(struct fixture *f)
{
    const struct ccm_host *host = fake_host_table(f->fake);
    const struct ali_call call = { .product = ALI_SLB, .action = "DescribeRegions" };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_client *ali = NULL;

    assert_int_equal(ali_acquire(host, &ali, &err), 0);
    assert_int_equal(ali_start(ali, host, &err), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(
            ali_call(&(const struct ali_caller){ ali, host, NULL }, &call, NULL, NULL, &err), 0);
        ali_credentials_settle(ali->credentials);
        fake_host_advance(f->fake, 2 * 3600000);
    }
    ali_release(ali);
}

static void fixture_begin(struct fixture *f)
{
    *f = (struct fixture){ .fake = fake_host_new() };
    ccm_text_copy(f->folder, sizeof(f->folder), "/tmp/test-wipe-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof(f->path), "%s/file", f->folder); /* sized for it */
    fake_host_option(f->fake, "alicloud", "region", "cn-hangzhou");
    fake_host_option(f->fake, "alicloud", "vpc_id", "vpc-1");
    fake_host_option(f->fake, "alicloud", "cluster_id", "c1");
    fake_host_always(f->fake, "DescribeRegions", 200, "{\"RequestId\":\"r\"}");
}

#define ANSWER                                                                                     \
    "\"AccessKeyId\":\"A\",\"AccessKeySecret\":\"" MARK "of-the-key\",\"SecurityToken\":\"" MARK   \
    "of-the-session\",\"Expiration\":\"2100-01-01T00:00:00Z\""

static void test_nothing_is_left(void **state)
{
    static const struct {
        const char *source;
        const char *file;
        const char *role;
    } rows[] = {
        { "file",
          "{\"access_key_id\":\"A\",\"access_key_secret\":\"" MARK
          "of-the-key\",\"security_token\":\"" MARK "of-the-session\"}",
          "" },
        { "file", "{\"access_key_id\":\"A\",\"access_key_secret\":\"" MARK "of-the-key\"}",
          "acs:ram::1:role/r" },
        { "ram-role", "", "" },
        { "ram-role", "", "acs:ram::1:role/r" },
        { "oidc", MARK "of-the-pod\n", "acs:ram::1:role/r" },
    };
    cJSON_Hooks hooks = { .malloc_fn = malloc, .free_fn = freed_text_free };

    (void)state;
    cJSON_InitHooks(&hooks);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        struct fixture f;

        fixture_begin(&f);
        write_file(&f, rows[i].file);
        fake_host_option(f.fake, "alicloud", "credentials.source", rows[i].source);
        fake_host_option(f.fake, "alicloud", "credentials.file", f.path);
        fake_host_option(f.fake, "alicloud", "credentials.oidc_token_file", f.path);
        fake_host_option(f.fake, "alicloud", "credentials.oidc_provider_arn",
                         "acs:ram::1:oidc-provider/p");
        fake_host_option(f.fake, "alicloud", "credentials.role_arn", rows[i].role);
        fake_host_always(f.fake, "/latest/api/token", 200, MARK "of-the-service");
        fake_host_always(f.fake, "security-credentials/ROLE", 200, "{" ANSWER "}");
        fake_host_always(f.fake, "security-credentials/", 200, "ROLE");
        fake_host_always(f.fake, "AssumeRole", 200, "{\"Credentials\":{" ANSWER "}}");
        fake_host_always(f.fake, "AssumeRoleWithOIDC", 200, "{\"Credentials\":{" ANSWER "}}");

        freed_text_look_for(MARK);
        use_credentials(&f);
        freed_text_look_for(NULL);
        print_message("%s, role \"%s\": %s\n", rows[i].source, rows[i].role, freed_text_found());
        assert_string_equal(freed_text_found(), "");
        fake_host_free(f.fake);
        assert_int_equal(unlink(f.path), 0);
        assert_int_equal(rmdir(f.folder), 0);
    }
    cJSON_InitHooks(NULL);
}

/* The look finds what is there. */
static void test_look(void **state)
{
    char *text = strdup("a " MARK "x");

    (void)state;
    assert_non_null(text);
    freed_text_look_for(MARK);
    free(text);
    freed_text_look_for(NULL);
    assert_string_equal(freed_text_found(), MARK "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_nothing_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
