/* Certificates of the certificate service, which fixtures bring. */
#include "families.h"
#include "plain.h"
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

const struct ccm_cloud_action ccm_cloud_cas_actions[] = {
    { .name = "DescribeSSLCertificateList", .params = list_params, .run = list },
    { .name = "DescribeSSLCertificatePublicKeyDetail", .params = detail_params, .run = detail },
    { 0 },
};
