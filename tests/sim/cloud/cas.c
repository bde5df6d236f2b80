/* Certificates of the certificate service, which fixtures or uploads bring. */
#include "families.h"
#include "nlb.h"
#include "plain.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static const struct ccm_cloud_field fields[] = {
    { "AfterDate", 'n', NULL, "2082758400000" },
    { "Algorithm", 's', NULL, "RSA" },
    { "BeforeDate", 'n', NULL, "1767225600000" },
    { "CertName", 's', NULL, "" },
    { "CommonName", 's', NULL, "" },
    { "Issuer", 's', NULL, "sim" },
    { "KeySize", 'n', NULL, "2048" },
    { "Md5", 's', NULL, "" },
    { "Sans", 's', NULL, "" },
    { "SerialNo", 's', NULL, "" },
    { "Sha2", 's', NULL, "" },
    { "SignAlgorithm", 's', NULL, "SHA256WITHRSA" },
    { 0 },
};

static void cert_write(struct ccm_jsonw *w, const char *key, const struct ccm_cloud_obj *cert)
{
    ccm_jsonw_open(w, key, '{');
    ccm_jsonw_str(w, "CertIdentifier", cert->id);
    ccm_cloud_write_fields(w, cert, fields);
    ccm_jsonw_close(w, '}');
}

/* Names and domains that contain the text. */
static bool fits(const struct ccm_cloud_obj *cert, const char *search)
{
    return strstr(ccm_cloud_attr(cert, "CertName"), search) != NULL ||
           strstr(ccm_cloud_attr(cert, "CommonName"), search) != NULL ||
           strstr(ccm_cloud_attr(cert, "Sans"), search) != NULL;
}

static int list(struct ccm_cloud_call *call)
{
    const char *search = ccm_cloud_text(call, "SearchValue", "");
    int64_t page = ccm_cloud_int(call, "CurrentPage", 1);
    int64_t size = ccm_cloud_int(call, "ShowSize", 50);
    int64_t total = 0;
    void *cursor = NULL;

    ccm_jsonw_open(call->out, "CertMetaList", '[');
    for (const struct ccm_cloud_obj *cert =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_CAS_CERT, &cursor);
         cert != NULL; cert = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_CAS_CERT, &cursor)) {
        if (!fits(cert, search)) {
            continue;
        }
        if (total >= (page - 1) * size && total < page * size) {
            cert_write(call->out, NULL, cert);
        }
        total++;
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_i64(call->out, "CurrentPage", page);
    ccm_jsonw_i64(call->out, "PageCount", (total + size - 1) / size);
    ccm_jsonw_i64(call->out, "ShowSize", size);
    ccm_jsonw_i64(call->out, "TotalCount", total);
    return 0;
}

static int detail(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_obj *cert = ccm_cloud_plain_get(
        call->cloud, CCM_CLOUD_CAS_CERT, ccm_cloud_text(call, "CertIdentifier", ""));

    if (cert == NULL) {
        return ccm_cloud_fail(call, 404, "NotFound", "The certificate is not found.");
    }
    cert_write(call->out, "CertificateInfo", cert);
    ccm_jsonw_str(call->out, "EncryptCertificate", "");
    ccm_jsonw_str(call->out, "SignCertificate", "");
    ccm_jsonw_str(call->out, "X509Certificate", ccm_cloud_attr(cert, "Pem"));
    return 0;
}

/* ---- changes ---- */

static bool name_is_taken(const struct ccm_cloud *cloud, const char *name)
{
    void *cursor = NULL;

    for (const struct ccm_cloud_obj *cert =
             ccm_cloud_plain_next(cloud, CCM_CLOUD_CAS_CERT, &cursor);
         cert != NULL; cert = ccm_cloud_plain_next(cloud, CCM_CLOUD_CAS_CERT, &cursor)) {
        if (strcmp(ccm_cloud_attr(cert, "CertName"), name) == 0) {
            return true;
        }
    }
    return false;
}

/* The private key is looked at and thrown away: no answer of the service ever has one. */
static int create(struct ccm_cloud_call *call)
{
    const char *name = ccm_cloud_text(call, "CertName", "");
    const char *pem = ccm_cloud_text(call, "Certificate", "");
    const char *key = ccm_cloud_text(call, "PrivateKey", "");
    struct ccm_cloud_obj *cert = NULL;
    char number[64];
    int r = 0;

    if (strstr(pem, "-----BEGIN CERTIFICATE-----") == NULL) {
        return ccm_cloud_fail(call, 400, "CertFormatError", "The certificate is not valid.");
    }
    if (strstr(key, " PRIVATE KEY-----") == NULL && strstr(key, "-----BEGIN PRIVATE") == NULL) {
        return ccm_cloud_fail(call, 400, "KeyFormatError", "The private key is not valid.");
    }
    if (name_is_taken(call->cloud, name)) {
        return ccm_cloud_fail(call, 400, "NameRepeat", "The name is taken, choose another one.");
    }
    ccm_cloud_new_id(call->cloud, "9", number, sizeof(number));

    CCM_CLEANUP(ccm_freep)
    char *id = ccm_text_format("%s-%s", number, call->cloud->region);
    const struct ccm_cloud_pair pairs[] = { { "CertName", name }, { "Pem", pem } };

    r = id == NULL ? -ENOMEM : ccm_cloud_plain_new(call->cloud, CCM_CLOUD_CAS_CERT, id, &cert);
    r = r < 0 ? r : ccm_cloud_attrs_set(cert, pairs, CCM_ARRAY_LEN(pairs));
    if (r == 0) {
        ccm_jsonw_str(call->out, "CertIdentifier", id);
    }
    return r;
}

/* By a listener of a network load balancer, as the default or beside it. */
static bool is_in_use(const struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(cloud->nlb->listeners, &cursor, &key, &value)) {
        const struct ccm_nlb_listener *listener = value;

        if (ccm_cloud_list_has(ccm_cloud_attr(&listener->obj, "CertificateIds"), id)) {
            return true;
        }
        for (size_t i = 0; i < listener->certs.len; i++) {
            if (strcmp(listener->certs.items[i].name, id) == 0) {
                return true;
            }
        }
    }
    return false;
}

static int delete (struct ccm_cloud_call *call)
{
    const char *id = ccm_cloud_text(call, "CertIdentifier", "");

    if (ccm_cloud_plain_get(call->cloud, CCM_CLOUD_CAS_CERT, id) == NULL) {
        return ccm_cloud_fail(call, 404, "NotFound", "The certificate is not found.");
    }
    if (is_in_use(call->cloud, id)) {
        return ccm_cloud_fail(call, 400, "CertificateInUse", "The certificate is in use.");
    }
    ccm_cloud_plain_del(call->cloud, CCM_CLOUD_CAS_CERT, id);
    return 0;
}

/* ---- the actions ---- */

static const struct ccm_cloud_param list_params[] = {
    { .name = "CurrentPage", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "SearchValue" },
    { .name = "ShowSize", .type = CCM_CLOUD_INT, .min = 1, .max = 100 },
    { 0 },
};

static const struct ccm_cloud_param detail_params[] = {
    { .name = "CertIdentifier", .required = true },
    { 0 },
};

static const struct ccm_cloud_param create_params[] = {
    { .name = "CertName", .required = true },
    { .name = "Certificate", .required = true },
    { .name = "PrivateKey", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_cas_actions[] = {
    { .name = "CreateSSLCertificateWithName", .params = create_params, .run = create },
    { .name = "DeleteSSLCertificate", .params = detail_params, .run = delete },
    { .name = "DescribeSSLCertificateList", .params = list_params, .run = list },
    { .name = "DescribeSSLCertificatePublicKeyDetail", .params = detail_params, .run = detail },
    { 0 },
};
