/* PEM texts, Secrets, and names of certificates: tables, without I/O. */
#include "alilb/pem.h"
#include "alilb/tls_secret.h"
#include "util/base64.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "lbc/tests/check.h"
#include "support/fake_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEM(label, body) "-----BEGIN " label "-----\n" body "\n-----END " label "-----\n"
#define CERTIFICATE      PEM("CERTIFICATE", "MIIBAA==")
#define KEY              PEM("PRIVATE KEY", "MIIBAA==")

static const struct {
    const char *text;
    bool chain;
    bool key;
} pems[] = {
    { CERTIFICATE, true, false },
    { CERTIFICATE CERTIFICATE, true, false },
    { "Subject: a person's words\n" CERTIFICATE "\nand more\n" CERTIFICATE, true, false },
    { "-----BEGIN CERTIFICATE-----\r\nMIIB\r\nAA==\r\n-----END CERTIFICATE-----\r\n", true, false },
    { KEY, false, true },
    { PEM("RSA PRIVATE KEY", "MIIB"), false, true },
    { PEM("EC PARAMETERS", "BggqhkjOPQMBBw==") PEM("EC PRIVATE KEY", "MHcC"), false, true },
    { PEM("ENCRYPTED PRIVATE KEY", "MIIB"), false, false },
    { PEM("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nMIIB"), false,
      false },
    { PEM("EC PARAMETERS", "BggqhkjOPQMBBw=="), false, false },
    { KEY KEY, false, false },
    { CERTIFICATE KEY, false, false },
    { KEY CERTIFICATE, false, false },
    { PEM("PUBLIC KEY", "MIIB"), false, false },
    { PEM("CERTIFICATE", ""), false, false },
    { PEM("CERTIFICATE", "MII"), false, false },
    { PEM("CERTIFICATE", "MII=AAAA"), false, false },
    { PEM("CERTIFICATE", "M==="), false, false },
    { PEM("CERTIFICATE", "AAAA"), false, false },
    { PEM("CERTIFICATE", "MI\xc3\xa4"), false, false },
    { "-----BEGIN CERTIFICATE-----\nMIIB\n-----END PRIVATE KEY-----\n", false, false },
    { "-----BEGIN CERTIFICATE-----\nMIIB\n", false, false },
    { "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE", false, false },
    { "-----BEGIN CERTIFICATE", false, false },
    { "-----BEGIN -----\nMIIB\n-----END -----\n", false, false },
    { "-----BEGIN CERTI\nFICATE-----\nMIIB\n-----END CERTI\nFICATE-----\n", false, false },
    { CERTIFICATE "-----BEGIN CERTIFICATE-----\n", false, false },
    { "Hello world\n", false, false },
    { "", false, false },
};

static void test_pem(void **state)
{
    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(pems); i++) {
        if (alilb_pem_is_chain(pems[i].text) != pems[i].chain ||
            alilb_pem_is_key(pems[i].text) != pems[i].key) {
            fail_msg("row %zu: %s", i, pems[i].text);
        }
    }
}

/* Entries that are NULL are left out. */
static char *secret_json(const char *type, const char *certificate, const char *key)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };
    char *json = NULL;

    ccm_buf_addf(&text, "{\"type\":\"%s\",\"data\":{\"other\":\"\"", type);
    if (certificate != NULL) {
        ccm_buf_adds(&text, ",\"tls.crt\":\"");
        ccm_base64_encode(&text, certificate, strlen(certificate));
        ccm_buf_adds(&text, "\"");
    }
    if (key != NULL) {
        ccm_buf_adds(&text, ",\"tls.key\":\"");
        ccm_base64_encode(&text, key, strlen(key));
        ccm_buf_adds(&text, "\"");
    }
    ccm_buf_adds(&text, "}}");
    assert_int_equal(ccm_buf_take(&text, &json), 0);
    return json;
}

static void test_secrets(void **state)
{
    static const struct {
        const char *type;
        const char *certificate;
        const char *key;
        const char *why; /* a part of it; NULL = it can be used */
    } cases[] = {
        { "kubernetes.io/tls", CERTIFICATE, KEY, NULL },
        { "Opaque", CERTIFICATE, KEY, "kubernetes.io/tls" },
        { "", CERTIFICATE, KEY, "kubernetes.io/tls" },
        { "kubernetes.io/tls", NULL, KEY, "tls.crt" },
        { "kubernetes.io/tls", "", KEY, "tls.crt" },
        { "kubernetes.io/tls", KEY, KEY, "tls.crt" },
        { "kubernetes.io/tls", CERTIFICATE, NULL, "tls.key" },
        { "kubernetes.io/tls", CERTIFICATE, "Hello world\n", "tls.key" },
        { "kubernetes.io/tls", CERTIFICATE, CERTIFICATE, "tls.key" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(ccm_freep)
        char *json = secret_json(cases[i].type, cases[i].certificate, cases[i].key);
        CCM_CLEANUP(alilb_tls_secret_fini) struct alilb_tls_secret secret = { 0 };

        assert_int_equal(alilb_tls_secret_parse(json, &secret), 0);
        if (cases[i].why == NULL) {
            assert_null(secret.why);
            assert_string_equal(ccm_secret_text(&secret.certificate), CERTIFICATE);
            assert_string_equal(ccm_secret_text(&secret.key), KEY);
        } else {
            assert_non_null(secret.why);
            assert_non_null(strstr(secret.why, cases[i].why));
        }
    }
}

static void test_what_is_no_text(void **state)
{
    static const char *const data[] = { "\"tls.crt\":\"%%%\"", "\"tls.crt\":7",
                                        "\"tls.crt\":\"LS0tLS0AQQ==\"", "\"a\":\"\"" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(data); i++) {
        CCM_CLEANUP(ccm_freep)
        char *json = ccm_text_format("{\"type\":\"kubernetes.io/tls\",\"data\":{%s}}", data[i]);
        CCM_CLEANUP(alilb_tls_secret_fini) struct alilb_tls_secret secret = { 0 };

        assert_int_equal(alilb_tls_secret_parse(json, &secret), 0);
        assert_non_null(strstr(secret.why, "tls.crt"));
    }
}

static void secret_fill(struct alilb_tls_secret *secret, const char *certificate, const char *key)
{
    assert_int_equal(ccm_secret_set(&secret->certificate, certificate), 0);
    assert_int_equal(ccm_secret_set(&secret->key, key), 0);
}

/* A Secret whose name no object can have does not exist; the API server is not asked. */
static void test_names_of_no_secret(void **state)
{
    static const struct {
        const char *key;
        bool asked;
    } cases[] = {
        { "default/cert", true }, { "default/a.b-c.1", true },   { "default/", false },
        { "default/.", false },   { "default/..", false },       { "default/a/../b", false },
        { "default/a/b", false }, { "default/%2e%2e", false },   { "default/Cert", false },
        { "default/-a", false },  { "default/a.", false },       { "/cert", false },
        { "../cert", false },     { "default/\xc3\xbc", false }, { "default/a?b=c", false },
        { "default/a b", false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct fake_host *fake = fake_host_new();
        struct alilb_tls_secret secret = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(
            alilb_tls_secret_fetch(fake_host_table(fake), NULL, cases[i].key, &secret, &err), 0);
        assert_string_equal(secret.why, "it is not there");
        assert_int_equal(fake_host_raw_call_count(fake), cases[i].asked ? 1 : 0);
        alilb_tls_secret_fini(&secret);
        fake_host_free(fake);
    }
}

/* Another cluster, Secret, certificate or key is another name; the same is the same for ever: what
 * is in the cloud is found by it. */
static void test_names(void **state)
{
    static const struct {
        const char *cluster;
        const char *key;
        const char *certificate;
        const char *content;
    } cases[] = {
        { "c1", "default/web", "a", "b" }, { "c2", "default/web", "a", "b" },
        { "c1", "default/we", "a", "b" },  { "c1", "other/web", "a", "b" },
        { "c1", "default/web", "ab", "" }, { "c1", "default/web", "a", "c" },
        { "c1", "default/web", "", "ab" },
    };
    char names[CCM_ARRAY_LEN(cases)][ALILB_CERTIFICATE_NAME];
    char start[ALILB_CERTIFICATE_NAME];

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(alilb_tls_secret_fini) struct alilb_tls_secret secret = { 0 };

        secret_fill(&secret, cases[i].certificate, cases[i].content);
        alilb_certificate_name(cases[i].cluster, cases[i].key, &secret, names[i]);
        assert_in_range(strlen(names[i]), 54, 63);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(names[i], names[j]);
        }
        alilb_certificate_name(cases[i].cluster, cases[i].key, NULL, start);
        assert_true(ccm_text_starts(names[i], start));
        alilb_certificate_name(cases[i].cluster, NULL, NULL, start);
        assert_true(ccm_text_starts(names[i], start));
        assert_true(ccm_text_starts(start, ALILB_CERTIFICATE_PREFIX));
    }
    assert_string_equal(names[0], "ccm-d0f631ca1ddb-82b3ade9d00cd164-62af5c3cb8da3e4f2506");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pem),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_what_is_no_text),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_of_no_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
