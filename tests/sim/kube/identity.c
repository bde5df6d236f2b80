#include "identity.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PEM_MAX ((size_t)256 * 1024)
#define DAYS    3650L

void ccm_ks_identity_fini(struct ccm_ks_identity *identity)
{
    free(identity->cert);
    free(identity->key);
    free(identity->ca);
    free(identity->client_cert);
    free(identity->client_key);
    *identity = (struct ccm_ks_identity){ 0 };
}

static void key_free(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void cert_free(X509 **cert)
{
    X509_free(*cert);
}

static void bio_free(BIO **bio)
{
    (void)BIO_free(*bio); /* a memory BIO: nothing can be lost */
}

/* --- files --- */

static int write_file(const char *path, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *temporary = ccm_text_format("%s.new", path);
    int fd = temporary == NULL ? -1 : open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    size_t left = strlen(text);

    if (fd < 0) {
        return temporary == NULL ? -ENOMEM : -errno;
    }
    while (left > 0) {
        const ssize_t n = write(fd, text, left);

        if (n < 0) {
            const int r = -errno;

            (void)close(fd); /* the write has failed already */
            (void)unlink(temporary);
            return r;
        }
        text += n;
        left -= (size_t)n;
    }
    if (fchmod(fd, 0600) < 0 || close(fd) < 0 || rename(temporary, path) < 0) {
        const int r = -errno;

        (void)unlink(temporary); /* best effort */
        return r;
    }
    return 0;
}

static int put(const char *dir, const char *name, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *path = ccm_text_format("%s/%s", dir, name);
    const int r = path == NULL ? -ENOMEM : write_file(path, text);

    if (r < 0) {
        (void)fprintf(stderr, "kubesim: %s/%s: %s\n", dir, name, strerror(-r));
    }
    return r;
}

static int get(const char *dir, const char *name, bool needed, char **ret)
{
    CCM_CLEANUP(ccm_freep) char *path = ccm_text_format("%s/%s", dir, name);
    size_t len = 0;
    const int r = path == NULL ? -ENOMEM : ccm_text_read_file(path, PEM_MAX, ret, &len);

    if (r < 0 && needed) {
        (void)fprintf(stderr, "kubesim: %s/%s: %s\n", dir, name, strerror(-r));
    }
    return needed || r != -ENOENT ? r : 0;
}

/* --- making certificates --- */

struct made {
    X509 *cert;
    EVP_PKEY *key;
};

static void made_fini(struct made *made)
{
    X509_free(made->cert);
    EVP_PKEY_free(made->key);
}

static char *bio_text(BIO *bio)
{
    char *data = NULL;
    const long n = BIO_get_mem_data(bio, &data);

    return n <= 0 ? NULL : strndup(data, (size_t)n);
}

static char *cert_text(X509 *cert)
{
    CCM_CLEANUP(bio_free) BIO *bio = BIO_new(BIO_s_mem());

    return bio == NULL || PEM_write_bio_X509(bio, cert) != 1 ? NULL : bio_text(bio);
}

static char *key_text(EVP_PKEY *key)
{
    CCM_CLEANUP(bio_free) BIO *bio = BIO_new(BIO_s_mem());

    return bio == NULL || PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) != 1
               ? NULL
               : bio_text(bio);
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;

    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, cert, NULL, NULL, 0);

    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    const bool done = extension != NULL && X509_add_ext(cert, extension, -1) == 1;

    X509_EXTENSION_free(extension);
    return done;
}

static bool set_name(X509_NAME *name, const char *field, const char *value)
{
    return X509_NAME_add_entry_by_txt(name, field, MBSTRING_ASC, (const unsigned char *)value, -1,
                                      -1, 0) == 1;
}

static bool set_serial(X509 *cert)
{
    unsigned char bytes[8];
    uint64_t serial = 0;

    if (RAND_bytes(bytes, sizeof(bytes)) != 1) {
        return false;
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        serial = (serial << 8) | bytes[i];
    }
    return ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1) == 1;
}

struct wish {
    const char *name;
    const char *organisation; /* NULL = none */
    const char *usage;        /* extended key usage; NULL = this is a CA */
    const char *alt_names;    /* NULL = none */
};

/* A key and a certificate, signed by `ca` (NULL: by itself). 0 or -EIO. */
static int make(const struct wish *wish, const struct made *ca, struct made *ret)
{
    CCM_CLEANUP(key_free) EVP_PKEY *key = EVP_EC_gen("P-256");
    CCM_CLEANUP(cert_free) X509 *cert = X509_new();
    bool good = key != NULL && cert != NULL;

    if (!good) {
        return -EIO;
    }

    X509 *issuer = ca == NULL ? cert : ca->cert;
    X509_NAME *name = X509_get_subject_name(cert);

    good = X509_set_version(cert, 2) == 1 && set_serial(cert) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -3600L) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(cert), DAYS * 86400L) != NULL &&
           (wish->organisation == NULL || set_name(name, "O", wish->organisation)) &&
           set_name(name, "CN", wish->name) &&
           X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
           X509_set_pubkey(cert, key) == 1;
    good = good && add_extension(cert, issuer, NID_basic_constraints,
                                 wish->usage == NULL ? "critical,CA:TRUE" : "critical,CA:FALSE");
    good = good && add_extension(cert, issuer, NID_key_usage,
                                 wish->usage == NULL ? "critical,keyCertSign,cRLSign"
                                                     : "critical,digitalSignature");
    good = good &&
           (wish->usage == NULL || add_extension(cert, issuer, NID_ext_key_usage, wish->usage));
    good = good && (wish->alt_names == NULL ||
                    add_extension(cert, issuer, NID_subject_alt_name, wish->alt_names));
    if (!good || X509_sign(cert, ca == NULL ? key : ca->key, EVP_sha256()) == 0) {
        return -EIO;
    }
    ret->cert = CCM_STEAL(cert);
    ret->key = CCM_STEAL(key);
    return 0;
}

static int make_all(struct ccm_ks_identity *identity)
{
    static const struct wish ca_wish = { .name = "kubesim-ca" };
    static const struct wish server_wish = {
        .name = "kubesim",
        .usage = "serverAuth",
        .alt_names = "IP:127.0.0.1,IP:::1,DNS:localhost,DNS:kubernetes"
    };
    static const struct wish client_wish = { .name = "kubesim-admin",
                                             .organisation = "system:masters",
                                             .usage = "clientAuth" };
    CCM_CLEANUP(made_fini) struct made ca = { 0 };
    CCM_CLEANUP(made_fini) struct made server = { 0 };
    CCM_CLEANUP(made_fini) struct made client = { 0 };

    if (make(&ca_wish, NULL, &ca) < 0 || make(&server_wish, &ca, &server) < 0 ||
        make(&client_wish, &ca, &client) < 0) {
        (void)fprintf(stderr, "kubesim: cannot make certificates\n");
        return -EIO;
    }
    identity->ca = cert_text(ca.cert);
    identity->cert = cert_text(server.cert);
    identity->key = key_text(server.key);
    identity->client_cert = cert_text(client.cert);
    identity->client_key = key_text(client.key);
    if (identity->ca == NULL || identity->cert == NULL || identity->key == NULL ||
        identity->client_cert == NULL || identity->client_key == NULL) {
        return -ENOMEM;
    }
    return 0;
}

int ccm_ks_identity_load(struct ccm_ks_identity *identity, const char *dir)
{
    int r = get(dir, "tls.crt", false, &identity->cert);

    if (r < 0) {
        return r;
    }
    if (identity->cert == NULL) {
        r = make_all(identity);
        r = r < 0 ? r : put(dir, "ca.crt", identity->ca);
        r = r < 0 ? r : put(dir, "tls.key", identity->key);
        r = r < 0 ? r : put(dir, "client.crt", identity->client_cert);
        r = r < 0 ? r : put(dir, "client.key", identity->client_key);
        return r < 0 ? r : put(dir, "tls.crt", identity->cert);
    }
    r = get(dir, "tls.key", true, &identity->key);
    r = r < 0 ? r : get(dir, "ca.crt", false, &identity->ca);
    r = r < 0 ? r : get(dir, "client.crt", false, &identity->client_cert);
    return r < 0 ? r : get(dir, "client.key", false, &identity->client_key);
}

/* --- kubeconfig --- */

static void add_data(struct ccm_buf *buf, const char *key, const char *pem)
{
    const size_t len = pem == NULL ? 0 : strlen(pem);
    CCM_CLEANUP(ccm_freep) unsigned char *text = malloc(4 * (len / 3 + 1) + 1);

    if (pem == NULL || text == NULL) {
        return;
    }
    (void)EVP_EncodeBlock(text, (const unsigned char *)pem, (int)len); /* the room is computed */
    ccm_buf_addf(buf, "    %s: %s\n", key, (const char *)text);
}

int ccm_ks_identity_write_kubeconfig(const struct ccm_ks_identity *identity, const char *path,
                                     const char *host, uint16_t port, const char *token)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = PEM_MAX * 4 };
    const bool tls = identity->cert != NULL;
    int r;

    ccm_buf_adds(&buf, "apiVersion: v1\nkind: Config\nclusters:\n- name: kubesim\n  cluster:\n");
    ccm_buf_addf(&buf, "    server: %s://%s:%u\n", tls ? "https" : "http", host, (unsigned)port);
    if (tls) {
        add_data(&buf, "certificate-authority-data",
                 identity->ca != NULL ? identity->ca : identity->cert);
    }
    ccm_buf_adds(&buf, "contexts:\n- name: kubesim\n  context:\n    cluster: kubesim\n"
                       "    namespace: default\n    user: kubesim\n"
                       "current-context: kubesim\nusers:\n- name: kubesim\n  user:\n");
    if (token[0] != '\0') {
        ccm_buf_adds(&buf, "    token: ");
        ccm_json_quote(&buf, token);
        ccm_buf_addc(&buf, '\n');
    } else if (tls && identity->client_cert != NULL && identity->client_key != NULL) {
        add_data(&buf, "client-certificate-data", identity->client_cert);
        add_data(&buf, "client-key-data", identity->client_key);
    } else {
        ccm_buf_adds(&buf, "    {}\n");
    }
    r = ccm_buf_error(&buf);
    r = r < 0 ? r : write_file(path, ccm_buf_str(&buf));
    if (r < 0) {
        (void)fprintf(stderr, "kubesim: %s: %s\n", path, strerror(-r));
    }
    return r;
}
