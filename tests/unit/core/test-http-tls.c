/* Whom the HTTP engine trusts, and as whom it shows itself. Certificates are made on the spot. */
#include "net/http.h"
#include "support/tcp_server.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* --- certificates --- */

struct identity {
    X509 *cert;
    EVP_PKEY *key;
    char *cert_pem;
    char *key_pem;
};

static char *pem_of(BIO *bio)
{
    char *data = NULL;
    const long len = BIO_get_mem_data(bio, &data);
    char *text = strndup(data, (size_t)len);

    assert_non_null(text);
    assert_int_equal(BIO_free(bio), 1);
    return text;
}

static void add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

    assert_non_null(extension);
    assert_int_equal(X509_add_ext(cert, extension, -1), 1);
    X509_EXTENSION_free(extension);
}

/* issuer NULL = an authority of its own; names NULL = no server. */
static void identity_make(struct identity *id, const char *name, const char *names,
                          const struct identity *issuer)
{
    static long serial = 1;
    X509_NAME *subject;
    BIO *cert_bio = BIO_new(BIO_s_mem());
    BIO *key_bio = BIO_new(BIO_s_mem());

    id->key = strncmp(name, "rsa", 3) == 0 ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    id->cert = X509_new();
    assert_true(id->key != NULL && id->cert != NULL && cert_bio != NULL && key_bio != NULL);
    subject = X509_get_subject_name(id->cert);
    assert_int_equal(X509_set_version(id->cert, 2), 1);
    assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(id->cert), serial++), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(id->cert), -3600));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(id->cert), 3600));
    assert_int_equal(X509_set_pubkey(id->cert, id->key), 1);
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)name, -1, -1, 0),
                     1);
    assert_int_equal(X509_set_issuer_name(
                         id->cert, issuer == NULL ? subject : X509_get_subject_name(issuer->cert)),
                     1);
    if (issuer == NULL) {
        add_extension(id->cert, NID_basic_constraints, "critical,CA:TRUE");
    }
    if (names != NULL) {
        add_extension(id->cert, NID_subject_alt_name, names);
    }
    assert_true(X509_sign(id->cert, issuer == NULL ? id->key : issuer->key, EVP_sha256()) > 0);
    assert_int_equal(PEM_write_bio_X509(cert_bio, id->cert), 1);
    assert_int_equal(PEM_write_bio_PrivateKey(key_bio, id->key, NULL, NULL, 0, NULL, NULL), 1);
    id->cert_pem = pem_of(cert_bio);
    id->key_pem = pem_of(key_bio);
}

static void identity_fini(struct identity *id)
{
    X509_free(id->cert);
    EVP_PKEY_free(id->key);
    free(id->cert_pem);
    free(id->key_pem);
}

static struct {
    struct identity ca;
    struct identity other_ca;
    struct identity renewed_ca; /* another key under the same name */
    struct identity rsa_ca;
    struct identity rsa_renewed_ca;
    struct identity by_rsa;
    struct identity by_address; /* 127.0.0.1 */
    struct identity by_name;    /* api.example */
    struct identity client;
} made;

/* --- server --- */

static SSL_CTX *context_of(const struct identity *id, bool wants_client)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    assert_non_null(context);
    assert_int_equal(SSL_CTX_use_certificate(context, id->cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, id->key), 1);
    if (wants_client) {
        assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), made.ca.cert), 1);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    return context;
}

/* Answers each request with "NAME-OF-CLIENT HOST-HEADER". */
static bool answer_one(SSL *ssl, struct ccm_buf *input)
{
    char data[2048];
    char body[512];
    char who[128] = "-";
    X509 *peer = SSL_get0_peer_certificate(ssl);
    int n;

    ccm_buf_reset(input);
    while (strstr(ccm_buf_str(input), "\r\n\r\n") == NULL) {
        n = SSL_read(ssl, data, sizeof(data));
        if (n <= 0) {
            return false;
        }
        ccm_buf_add(input, data, (size_t)n);
    }
    if (peer != NULL && X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, who,
                                                  sizeof(who)) < 0) {
        return false;
    }

    const char *host = strstr(ccm_buf_str(input), "Host: ");

    if (host == NULL) {
        return false;
    }
    (void)snprintf(body, sizeof(body), "%s %.*s", who, (int)strcspn(host + 6, "\r"), host + 6);
    n = snprintf(data, sizeof(data), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
                 strlen(body), body);
    return SSL_write(ssl, data, n) == n;
}

static void serve_tls(struct ccm_test_conn *conn, void *arg)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf input = { .max = 65536 };
    SSL *ssl = SSL_new(arg);

    if (ssl != NULL && SSL_set_fd(ssl, ccm_test_conn_fd(conn)) == 1 && SSL_accept(ssl) == 1) {
        while (answer_one(ssl, &input)) {
        }
    }
    SSL_free(ssl);
    ERR_clear_error();
}

/* --- tests --- */

struct fixture {
    SSL_CTX *context;
    struct ccm_test_server *server;
    struct net_http *http;
    char *url;
    struct ccm_http_response *response;
    uint64_t phase;
    struct ccm_error err;
};

static void fixture_open(struct fixture *f, const struct identity *id, bool wants_client)
{
    *f = (struct fixture){ .err = CCM_ERROR_INIT };
    f->context = context_of(id, wants_client);
    f->server = ccm_test_server_new(serve_tls, f->context);
    assert_non_null(f->server);
    f->http = net_http_new(&f->err);
    assert_non_null(f->http);
    f->url = ccm_text_format("https%s/x", ccm_test_server_url(f->server) + strlen("http"));
    assert_non_null(f->url);
}

static void fixture_close(struct fixture *f)
{
    net_http_response_free(f->response);
    net_http_free(f->http);
    ccm_test_server_free(f->server);
    SSL_CTX_free(f->context);
    free(f->url);
}

static int get(struct fixture *f, const struct net_tls *tls)
{
    const struct net_exchange exchange = {
        .method = "GET",
        .url = f->url,
        .tls = tls,
        .http2 = true, /* offered, and the server does not take it */
        .deadline_ms = ccm_clock_now_ms() + 10000,
    };

    net_http_response_free(f->response);
    f->response = NULL;
    ccm_error_clear(&f->err);
    return net_http_do(f->http, &exchange, &f->response, &f->phase, &f->err);
}

static void assert_untrusted(struct fixture *f, const struct net_tls *tls)
{
    assert_int_equal(get(f, tls), -EPROTO);
    assert_int_equal(f->err.kind, CCM_ERROR_TRANSIENT);
    assert_int_equal(f->phase, CCM_HTTP_NOT_SENT);
    assert_non_null(strstr(f->err.message, "is not trusted"));
}

static void assert_body(struct fixture *f, const char *who)
{
    char *body = ccm_text_format("%s %s", who, ccm_test_server_url(f->server) + strlen("http://"));

    assert_non_null(body);
    assert_string_equal(f->response->body, body);
    free(body);
}

static void test_trust(void **state CCM_UNUSED)
{
    char path[] = "/tmp/ccm-tls-XXXXXX";
    struct fixture f;
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, made.ca.cert_pem, strlen(made.ca.cert_pem)),
                     strlen(made.ca.cert_pem));
    assert_int_equal(close(fd), 0);
    fixture_open(&f, &made.by_address, false);

    /* An authority of the system it is not. */
    assert_untrusted(&f, NULL);
    assert_untrusted(&f, &(struct net_tls){ .ca_data = made.other_ca.cert_pem });

    assert_int_equal(get(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem }), 0);
    assert_body(&f, "-");
    assert_int_equal(get(&f, &(struct net_tls){ .ca_file = path }), 0);
    assert_int_equal(get(&f, &(struct net_tls){ .insecure = true }), 0);

    /* Connections made with less care are not taken up by those who ask for more. */
    assert_untrusted(&f, NULL);
    assert_untrusted(&f, &(struct net_tls){ .ca_data = made.other_ca.cert_pem });
    assert_int_equal(unlink(path), 0);
    assert_int_equal(get(&f, &(struct net_tls){ .ca_file = "/nowhere/ca.pem" }), -EPROTO);
    assert_int_equal(f.phase, CCM_HTTP_NOT_SENT);
    fixture_close(&f);
}

/* What is said of a certificate that cannot be verified: with which authority. */
static void expect_unsigned(const struct identity *server, const struct identity *authority)
{
    char path[] = "/tmp/ccm-tls-XXXXXX";
    const int fd = mkstemp(path);
    CCM_CLEANUP(ccm_freep)
    char *named = ccm_text_format("is not trusted: it is not signed by an authority in %s (", path);
    struct fixture f;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, authority->cert_pem, strlen(authority->cert_pem)),
                     strlen(authority->cert_pem));
    assert_int_equal(close(fd), 0);
    fixture_open(&f, server, false);
    assert_int_equal(get(&f, &(struct net_tls){ .ca_file = path }), -EPROTO);
    assert_non_null(strstr(f.err.message, named));
    assert_int_equal(get(&f, &(struct net_tls){ .ca_data = authority->cert_pem }), -EPROTO);
    assert_non_null(strstr(f.err.message, "is not signed by an authority that was configured ("));
    assert_int_equal(get(&f, NULL), -EPROTO);
    assert_non_null(strstr(f.err.message, "is not signed by an authority of this machine ("));
    fixture_close(&f);
    assert_int_equal(unlink(path), 0);
}

static void test_who_did_not_sign(void **state CCM_UNUSED)
{
    expect_unsigned(&made.by_address, &made.renewed_ca);
    expect_unsigned(&made.by_address, &made.other_ca);
    expect_unsigned(&made.by_rsa, &made.rsa_renewed_ca);
    expect_unsigned(&made.by_rsa, &made.renewed_ca);
}

static void serve_text(struct ccm_test_conn *conn, void *arg CCM_UNUSED)
{
    (void)ccm_test_conn_sendf(conn,
                              "HTTP/1.1 400 Bad Request\r\n\r\n"); /* the client may be gone */
}

/* A server without TLS, or whose certificate has another name, is not one of another authority. */
static void test_other_troubles_are_not_taken_for_that(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, &made.by_name, false);
    assert_int_equal(get(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem }), -EPROTO);
    assert_null(strstr(f.err.message, "not signed"));
    fixture_close(&f);

    fixture_open(&f, &made.by_address, false);
    ccm_test_server_free(f.server);
    free(f.url);
    f.server = ccm_test_server_new(serve_text, NULL);
    assert_non_null(f.server);
    f.url = ccm_text_format("https%s/x", ccm_test_server_url(f.server) + strlen("http"));
    assert_int_equal(get(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem }), -EPROTO);
    assert_non_null(strstr(f.err.message, "TLS cannot be agreed upon"));
    fixture_close(&f);
}

/* Reads what the client begins with, and goes: *arg != 0 with a reset. */
static void serve_cut(struct ccm_test_conn *conn, void *arg)
{
    const bool *reset = arg;
    char data[16384];

    (void)recv(ccm_test_conn_fd(conn), data, sizeof(data), 0); /* it may have gone */
    if (*reset) {
        ccm_test_conn_reset(conn);
    }
}

/* A server that dies in the middle of a handshake is not one with a wrong certificate. */
static void test_a_handshake_that_is_cut(void **state CCM_UNUSED)
{
    static const bool resets[] = { false, true };

    for (size_t i = 0; i < CCM_ARRAY_LEN(resets); i++) {
        struct fixture f;

        fixture_open(&f, &made.by_address, false);
        ccm_test_server_free(f.server);
        free(f.url);
        f.server = ccm_test_server_new(serve_cut, (void *)&resets[i]);
        assert_non_null(f.server);
        f.url = ccm_text_format("https%s/x", ccm_test_server_url(f.server) + strlen("http"));
        assert_int_equal(get(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem }), -ECONNRESET);
        assert_int_equal(f.err.kind, CCM_ERROR_TRANSIENT);
        assert_int_equal(f.phase, CCM_HTTP_NOT_SENT);
        assert_non_null(
            strstr(f.err.message, ": the connection was cut before TLS was agreed upon ("));
        fixture_close(&f);
    }
}

static void test_name(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, &made.by_name, false);
    assert_untrusted(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem });
    assert_int_equal(
        get(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem, .server_name = "api.example" }), 0);
    assert_body(&f, "-"); /* the server is still addressed by its URL */
    assert_untrusted(
        &f, &(struct net_tls){ .ca_data = made.ca.cert_pem, .server_name = "other.example" });
    assert_int_equal(get(&f, &(struct net_tls){ .insecure = true }), 0);
    fixture_close(&f);
}

static void test_client_certificate(void **state CCM_UNUSED)
{
    struct fixture f;
    struct ccm_secret key = { 0 };
    struct ccm_secret wrong_key = { 0 };
    const struct net_tls none = { .ca_data = made.ca.cert_pem };
    const struct net_tls right = {
        .ca_data = made.ca.cert_pem,
        .cert_data = made.client.cert_pem,
        .key_data = &key,
    };
    const struct net_tls wrong = {
        .ca_data = made.ca.cert_pem,
        .cert_data = made.client.cert_pem,
        .key_data = &wrong_key,
    };

    assert_int_equal(ccm_secret_set(&key, made.client.key_pem), 0);
    assert_int_equal(ccm_secret_set(&wrong_key, made.other_ca.key_pem), 0);
    fixture_open(&f, &made.by_address, true);
    assert_true(get(&f, &none) < 0);
    assert_int_equal(f.err.kind, CCM_ERROR_TRANSIENT);
    assert_int_equal(get(&f, &wrong), -EPROTO);
    assert_int_equal(f.phase, CCM_HTTP_NOT_SENT);
    assert_non_null(strstr(f.err.message, "client certificate"));
    assert_int_equal(get(&f, &right), 0);
    assert_body(&f, "client");
    assert_true(get(&f, &none) < 0); /* not over the connection of somebody else */
    fixture_close(&f);
    ccm_secret_fini(&key);
    ccm_secret_fini(&wrong_key);
}

static void test_kept_alive(void **state CCM_UNUSED)
{
    struct fixture f;

    fixture_open(&f, &made.by_address, false);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(get(&f, &(struct net_tls){ .ca_data = made.ca.cert_pem }), 0);
    }
    assert_int_equal(ccm_test_server_connections(f.server), 1);
    fixture_close(&f);
}

static int group_setup(void **state CCM_UNUSED)
{
    (void)signal(SIGPIPE, SIG_IGN); /* the server's library writes to closed connections */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return -1;
    }
    identity_make(&made.ca, "test-ca", NULL, NULL);
    identity_make(&made.other_ca, "other-ca", NULL, NULL);
    identity_make(&made.renewed_ca, "test-ca", NULL, NULL);
    identity_make(&made.rsa_ca, "rsa-ca", NULL, NULL);
    identity_make(&made.rsa_renewed_ca, "rsa-ca", NULL, NULL);
    identity_make(&made.by_rsa, "server", "IP:127.0.0.1", &made.rsa_ca);
    identity_make(&made.by_address, "server", "IP:127.0.0.1", &made.ca);
    identity_make(&made.by_name, "server", "DNS:api.example", &made.ca);
    identity_make(&made.client, "client", NULL, &made.ca);
    return 0;
}

static int group_teardown(void **state CCM_UNUSED)
{
    identity_fini(&made.ca);
    identity_fini(&made.other_ca);
    identity_fini(&made.renewed_ca);
    identity_fini(&made.rsa_ca);
    identity_fini(&made.rsa_renewed_ca);
    identity_fini(&made.by_rsa);
    identity_fini(&made.by_address);
    identity_fini(&made.by_name);
    identity_fini(&made.client);
    curl_global_cleanup();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_who_did_not_sign),
        cmocka_unit_test(test_other_troubles_are_not_taken_for_that),
        cmocka_unit_test(test_a_handshake_that_is_cut),
        cmocka_unit_test(test_name),
        cmocka_unit_test(test_client_certificate),
        cmocka_unit_test(test_kept_alive),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
