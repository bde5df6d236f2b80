/* Kubeconfig files, good and bad, and the service account of a pod. */
#include "kube/client/auth.h"
#include "kube/client/token.h"
#include "util/buf.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* PEM in form only: what is inside is for the TLS library to judge. */
#define CERT     "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
#define KEY      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
#define CERT_B64 "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
#define KEY_B64  "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCkFBQUEKLS0tLS1FTkQgUFJJVkFURSBLRVktLS0tLQo="

static char folder[] = "/tmp/ccm-kubeconfig-XXXXXX";

static char *path_of(const char *name)
{
    char *path = ccm_text_format("%s/%s", folder, name);

    assert_non_null(path);
    return path;
}

static void write_file(const char *name, const char *text)
{
    char *path = path_of(name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
    free(path);
}

/* A whole kubeconfig around the given lines of cluster and user. */
static char *config_of(const char *cluster, const char *user)
{
    char *text = ccm_text_format("apiVersion: v1\nkind: Config\ncurrent-context: main\n"
                                 "contexts:\n"
                                 "- name: other\n  context: {cluster: none, user: none}\n"
                                 "- name: main\n  context:\n    cluster: c1\n    user: u1\n"
                                 "clusters:\n- name: c1\n  cluster:\n%s"
                                 "users:\n- name: u1\n  user:\n%s",
                                 cluster, user);

    assert_non_null(text);
    return text;
}

static int read_text(const char *text, struct kube_auth *auth, struct ccm_error *err)
{
    char *path = path_of("config");

    write_file("config", text);

    const int r = kube_auth_read(path, auth, err);

    free(path);
    return r;
}

#define SERVER "    server: https://10.0.0.1:6443\n"

static void test_good(void **state CCM_UNUSED)
{
    static const struct {
        const char *name;
        const char *cluster;
        const char *user;
        const char *server;
        const char *credential; /* start of */
    } cases[] = {
        { "token", SERVER, "    token: abc\n", "https://10.0.0.1:6443",
          "users[u1].user.token in " },
        { "data", SERVER "    certificate-authority-data: " CERT_B64 "\n",
          "    client-certificate-data: " CERT_B64 "\n    client-key-data: " KEY_B64 "\n",
          "https://10.0.0.1:6443", "users[u1].user.client-certificate in " },
        { "files", SERVER "    certificate-authority: ca.pem\n",
          "    client-certificate: cert.pem\n    client-key: key.pem\n", "https://10.0.0.1:6443",
          "users[u1].user.client-certificate in " },
        { "token file", SERVER, "    tokenFile: token\n    token: old\n", "https://10.0.0.1:6443",
          "users[u1].user.tokenFile in " },
        { "nobody", "    server: http://127.0.0.1:8001/\n", "    {}\n", "http://127.0.0.1:8001",
          "" },
        { "prefix", "    server: https://[::1]:6443/k8s/clusters/c-1//\n", "    token: ~\n",
          "https://[::1]:6443/k8s/clusters/c-1", "" },
        { "unknown members", SERVER "    disable-compression: true\n    extensions: [{name: x}]\n",
          "    token: \"abc\"\n    password: \n", "https://10.0.0.1:6443",
          "users[u1].user.token in " },
    };

    write_file("ca.pem", CERT);
    write_file("cert.pem", CERT);
    write_file("key.pem", KEY);
    write_file("token", "from-file\n");
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;
        char *text = config_of(cases[i].cluster, cases[i].user);

        print_message("%s\n", cases[i].name);

        const int r = read_text(text, &auth, &err);

        assert_string_equal(err.message, "");
        assert_int_equal(r, 0);
        assert_string_equal(auth.server, cases[i].server);
        assert_true(ccm_text_starts(auth.credential, cases[i].credential));
        assert_true((auth.credential[0] == '\0') == (cases[i].credential[0] == '\0'));
        free(text);
    }
}

static void test_members(void **state CCM_UNUSED)
{
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    CCM_CLEANUP(kube_auth_fini) struct kube_auth files = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    char *ca = path_of("ca.pem");
    char *text = config_of(SERVER "    certificate-authority-data: " CERT_B64
                                  "\n    tls-server-name: api.example\n",
                           "    client-certificate-data: " CERT_B64
                           "\n    client-key-data: " KEY_B64 "\n    token: t0\n");

    assert_int_equal(read_text(text, &auth, &err), 0);
    assert_string_equal(auth.ca_data, CERT);
    assert_null(auth.ca_file);
    assert_string_equal(auth.cert_data, CERT);
    assert_string_equal(ccm_secret_text(&auth.key_data), KEY);
    assert_string_equal(ccm_secret_text(&auth.token), "t0");
    assert_string_equal(auth.server_name, "api.example");
    assert_false(auth.insecure);
    free(text);

    write_file("ca.pem", CERT);
    text = config_of(SERVER "    certificate-authority: ca.pem\n", "    {}\n");
    assert_int_equal(read_text(text, &files, &err), 0);
    assert_string_equal(files.ca_file, ca);
    assert_null(files.ca_data);
    free(text);
    free(ca);
}

static void test_json(void **state CCM_UNUSED)
{
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = read_text("{\n\t\"apiVersion\": \"v1\",\n\t\"current-context\": \"m\",\n"
                            "\"contexts\":[{\"name\":\"m\",\"context\":{\"cluster\":\"c\","
                            "\"user\":\"u\"}}],\n"
                            "\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":"
                            "\"https:\\/\\/a:1\",\n\"insecure-skip-tls-verify\":true}}],\n"
                            "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"x\\u0041\"}}]}",
                            &auth, &err);

    assert_string_equal(err.message, "");
    assert_int_equal(r, 0);
    assert_string_equal(auth.server, "https://a:1");
    assert_string_equal(ccm_secret_text(&auth.token), "xA");
    assert_true(auth.insecure);
}

static void test_bad_members(void **state CCM_UNUSED)
{
    static const struct {
        const char *cluster;
        const char *user;
        const char *text; /* in the message */
    } cases[] = {
        { "    {}\n", "    {}\n", "config: clusters[c1].cluster.server: is missing" },
        { "    server: 10.0.0.1:6443\n", "    {}\n", "config:14: clusters[c1].cluster.server: " },
        { "    server: ftp://a\n", "    {}\n", "clusters[c1].cluster.server: does not start" },
        { "    server: https://\n", "    {}\n", "clusters[c1].cluster.server: is no URL" },
        { "    server: https://u:p@a\n", "    {}\n", "clusters[c1].cluster.server: is no URL" },
        { "    server: https://a?b\n", "    {}\n", "clusters[c1].cluster.server: is no URL" },
        { "    server: [https://a]\n", "    {}\n", "server: is not plain text" },
        { SERVER "    proxy-url: http://p\n", "    {}\n", "proxy-url: is not supported" },
        { SERVER "    insecure-skip-tls-verify: yes\n", "    {}\n", "is neither true nor false" },
        { SERVER "    certificate-authority-data: '!'\n", "    {}\n",
          "certificate-authority-data: is not base64" },
        { SERVER "    certificate-authority-data: AAAA\n", "    {}\n", "is not base64 of a PEM" },
        { SERVER "    certificate-authority-data: Zm9v\n", "    {}\n", "no PEM block" },
        { SERVER "    certificate-authority: missing.pem\n", "    {}\n", "missing.pem: No such" },
        { SERVER "    certificate-authority-data: " CERT_B64
                 "\n    insecure-skip-tls-verify: true\n",
          "    {}\n", "contradicts certificate-authority" },
        { SERVER, "    exec: {command: x}\n", "users[u1].user.exec.apiVersion: a missing version" },
        { SERVER, "    exec: {apiVersion: client.authentication.k8s.io/v1}\n",
          "users[u1].user.exec.command: is missing" },
        { SERVER, "    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./nothing}\n",
          "./nothing: there is no such program" },
        { SERVER,
          "    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [[a]]}\n",
          "users[u1].user.exec.args: has an entry that is no plain text" },
        { SERVER,
          "    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, env: [{value: "
          "a}]}\n",
          "users[u1].user.exec.env: has an entry without a usable name" },
        { SERVER, "    auth-provider: {name: x}\n", "users[u1].user.auth-provider: is not" },
        { SERVER, "    username: x\n    password: geheim\n", "basic authentication is not" },
        { SERVER, "    token: x\n    as: admin\n", "users[u1].user.as: impersonation is not" },
        { SERVER, "    token: 'a b'\n", "users[u1].user.token: holds blanks" },
        { SERVER, "    token: \"a\\0b\"\n", "users[u1].user.token: holds a NUL" },
        { SERVER, "    tokenFile: nothing-here\n", "users[u1].user.tokenFile: " },
        { SERVER, "    client-certificate-data: " CERT_B64 "\n",
          "users[u1].user.client-key: is missing" },
        { SERVER, "    client-key-data: " KEY_B64 "\n",
          "users[u1].user.client-certificate: is missing" },
        { SERVER, "    client-certificate-data: " CERT_B64 "\n    client-key-data: " CERT_B64 "\n",
          "users[u1].user.client-key: no PEM block \"PRIVATE KEY\"" },
        { SERVER, "    client-certificate-data: " CERT_B64 "\n    client-key: locked.pem\n",
          "users[u1].user.client-key: the key is encrypted" },
    };

    write_file("locked.pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n"
                             "-----END ENCRYPTED PRIVATE KEY-----\n");
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct kube_auth auth = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;
        char *text = config_of(cases[i].cluster, cases[i].user);

        print_message("%s\n", cases[i].text);
        assert_true(read_text(text, &auth, &err) < 0);
        if (strstr(err.message, cases[i].text) == NULL) {
            print_error("%s\n", err.message);
        }
        assert_non_null(strstr(err.message, cases[i].text));
        assert_non_null(strstr(err.message, folder));
        assert_null(strstr(err.message, "geheim"));
        assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
        assert_null(auth.server);
        free(text);
    }
}

static void test_bad_files(void **state CCM_UNUSED)
{
    static const struct {
        const char *body;
        const char *text;
    } cases[] = {
        { "", "config: is empty" },
        { " \n\t\n", "config: is empty" },
        { "just text\n", "config: is no kubeconfig" },
        { "[1, 2]\n", "config: is no kubeconfig" },
        { "a: {b: [\n", "not YAML" },
        { "a: b\n\tc: d\n", "config:1: not YAML" },
        { "current-context: m\ncurrent-context: n\n", "not YAML" },
        { "contexts: []\n", "config: current-context: is missing" },
        { "current-context: m\n", "config: contexts: is missing or is no list" },
        { "current-context: m\ncontexts: {}\n", "config: contexts: is missing or is no list" },
        { "current-context: m\ncontexts: []\n", "config: contexts: none is named \"m\"" },
        { "current-context: m\ncontexts: [{name: m}]\n", "contexts[m].context: is missing" },
        { "current-context: m\ncontexts: [{name: m, context: {}}]\n",
          "contexts[m].context.cluster: is missing" },
        { "current-context: m\ncontexts: [{name: m, context: {cluster: c}}]\n",
          "config: clusters: is missing or is no list" },
        { "current-context: m\ncontexts: [{name: m, context: {cluster: c}}]\nclusters: [x, 1]\n",
          "config: clusters: none is named \"c\"" },
        { "current-context: m\ncontexts: [{name: m, context: {cluster: c}}]\n"
          "clusters: [{name: c, cluster: {server: 'http://a'}}]\n",
          "contexts[m].context.user: is missing" },
        { "x: &a [1]\ncurrent-context: *a\n", "current-context: is not plain text" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct kube_auth auth = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;

        print_message("%s\n", cases[i].text);
        assert_true(read_text(cases[i].body, &auth, &err) < 0);
        if (strstr(err.message, cases[i].text) == NULL) {
            print_error("%s\n", err.message);
        }
        assert_non_null(strstr(err.message, cases[i].text));
    }
}

static void test_hostile_files(void **state CCM_UNUSED)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf deep = { .max = 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf laughs = { .max = 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf large = { .max = 0 };
    struct kube_auth auth = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    for (int i = 0; i < 100000; i++) {
        ccm_buf_addc(&deep, '[');
    }
    assert_true(read_text(ccm_buf_str(&deep), &auth, &err) < 0);

    ccm_buf_adds(&laughs, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 30; i++) {
        ccm_buf_addf(&laughs, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                     i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    ccm_buf_adds(&laughs, "current-context: *a29\n");
    assert_true(read_text(ccm_buf_str(&laughs), &auth, &err) < 0);

    while (large.len <= KUBE_FILE_MAX) {
        ccm_buf_adds(&large, "# a comment that only takes room\n");
    }
    assert_int_equal(read_text(ccm_buf_str(&large), &auth, &err), -EFBIG);
    assert_non_null(strstr(err.message, "larger than 1 MiB"));

    assert_int_equal(kube_auth_read("/nowhere/config", &auth, &err), -ENOENT);
    assert_string_equal(err.message, "kubeconfig: /nowhere/config: No such file or directory");
    assert_true(kube_auth_read(folder, &auth, &err) < 0);
    assert_null(auth.server);
}

static void test_in_cluster(void **state CCM_UNUSED)
{
    static const struct {
        const char *host;
        const char *port;
        const char *server; /* NULL = refused */
    } cases[] = {
        { "10.96.0.1", "443", "https://10.96.0.1:443" },
        { "fd00::1", "443", "https://[fd00::1]:443" },
        { "api.local", "6443", "https://api.local:6443" },
        { NULL, "443", NULL },
        { "10.96.0.1", NULL, NULL },
        { "", "443", NULL },
        { "10.96.0.1", "0", NULL },
        { "10.96.0.1", "tcp", NULL },
        { "a/b", "443", NULL },
        { "u@a", "443", NULL },
    };

    write_file("token", "pod-token");
    write_file("ca.crt", CERT);
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;
        const int r = kube_auth_in_cluster(cases[i].host, cases[i].port, folder, &auth, &err);

        assert_int_equal(r == 0, cases[i].server != NULL);
        if (r == 0) {
            assert_string_equal(auth.server, cases[i].server);
            assert_non_null(strstr(auth.credential, "/token"));
            assert_true(ccm_text_ends(auth.ca_file, "/ca.crt"));
        } else {
            assert_non_null(strstr(err.message, "KUBERNETES_SERVICE_"));
        }
    }
}

static void test_in_cluster_files(void **state CCM_UNUSED)
{
    static const struct {
        const char *file;
        const char *content; /* NULL = no file */
        const char *text;
    } cases[] = {
        { "ca.crt", "nonsense", "ca.crt: no PEM block" },
        { "ca.crt", NULL, "ca.crt: No such file" },
        { "token", NULL, "token: No such file" },
    };

    write_file("token", "pod-token");
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct kube_auth auth = { 0 };
        struct ccm_error err = CCM_ERROR_INIT;
        char *path = path_of(cases[i].file);

        write_file("ca.crt", CERT);
        if (cases[i].content != NULL) {
            write_file(cases[i].file, cases[i].content);
        } else {
            assert_int_equal(unlink(path), 0);
        }
        assert_true(kube_auth_in_cluster("h", "1", folder, &auth, &err) < 0);
        assert_non_null(strstr(err.message, cases[i].text));
        free(path);
    }
}

/* --- token files --- */

static void assert_token(struct kube_token *token, int64_t now, const char *expected)
{
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 };

    assert_int_equal(kube_token_get(token, now, &text), 0);
    assert_string_equal(ccm_secret_text(&text), expected);
}

static void test_token_file(void **state CCM_UNUSED)
{
    struct kube_token token;
    struct ccm_secret none = { 0 };
    struct ccm_secret refused = { 0 };
    char *path = path_of("token");

    write_file("token", "one\n");
    assert_int_equal(kube_token_init(&token, path_of("token"), &none), 0);
    assert_token(&token, 1000, "one");
    write_file("token", "second");
    assert_token(&token, 10999, "one"); /* looked at once in 10 s */
    assert_token(&token, 11000, "second");

    /* Unreadable, empty, more than one word: the old one stays. */
    assert_int_equal(unlink(path), 0);
    assert_token(&token, 30000, "second");
    write_file("token", " \n");
    assert_token(&token, 50000, "second");
    write_file("token", "two words");
    assert_token(&token, 70000, "second");

    /* Refused: read at once, whatever the time. */
    assert_int_equal(ccm_secret_set(&refused, "second"), 0);
    write_file("token", "second");
    assert_false(kube_token_renew(&token, 70001, &refused));
    write_file("token", "third");
    assert_true(kube_token_renew(&token, 70002, &refused));
    assert_token(&token, 70003, "third");
    /* Somebody else did so already. */
    assert_true(kube_token_renew(&token, 70004, &refused));
    ccm_secret_fini(&refused);
    kube_token_fini(&token);
    free(path);
}

static void test_fixed_token(void **state CCM_UNUSED)
{
    struct kube_token token;
    struct ccm_secret text = { 0 };
    struct ccm_secret old = { 0 };

    assert_int_equal(ccm_secret_set(&text, "fixed"), 0);
    assert_int_equal(ccm_secret_set(&old, "fixed"), 0);
    assert_int_equal(kube_token_init(&token, NULL, &text), 0);
    assert_token(&token, 0, "fixed");
    assert_false(kube_token_renew(&token, 1, &old));
    ccm_secret_fini(&old);
    kube_token_fini(&token);
}

static int group_setup(void **state CCM_UNUSED)
{
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int group_teardown(void **state CCM_UNUSED)
{
    DIR *files = opendir(folder);
    const struct dirent *file;

    assert_non_null(files);
    while ((file = readdir(files)) != NULL) {
        if (file->d_name[0] != '.') {
            char *path = path_of(file->d_name);

            assert_int_equal(unlink(path), 0);
            free(path);
        }
    }
    assert_int_equal(closedir(files), 0);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),       cmocka_unit_test(test_members),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_bad_members),
        cmocka_unit_test(test_bad_files),  cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_in_cluster), cmocka_unit_test(test_in_cluster_files),
        cmocka_unit_test(test_token_file), cmocka_unit_test(test_fixed_token),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
