/* Certificates of SLB, which fixtures bring, and domain extensions of HTTPS listeners. */
#include "families.h"
#include "lb.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* ---- certificates ---- */

static const struct ccm_cloud_field common_fields[] = {
    { "CommonName", 's', NULL, "" },
    { "CreateTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "CreateTimeStamp", 'n', NULL, "1767225600000" },
    { "ExpireTime", 's', NULL, "2036-01-01T00:00:00Z" },
    { "ExpireTimeStamp", 'n', NULL, "2082758400000" },
    { "Fingerprint", 's', NULL, "" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { 0 },
};

static const struct ccm_cloud_field server_fields[] = {
    { "AliCloudCertificateId", 's', NULL, "" },
    { "AliCloudCertificateName", 's', NULL, "" },
    { "IsAliCloudCertificate", 'n', NULL, "0" },
    { "ServerCertificateName", 's', "Name", "" },
    { 0 },
};

static const struct ccm_cloud_field ca_fields[] = {
    { "CACertificateName", 's', "Name", "" },
    { 0 },
};

static void cert_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *cert, bool server)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, server ? "ServerCertificateId" : "CACertificateId", cert->id);
    ccm_cloud_write_fields(w, cert, common_fields);
    ccm_cloud_write_fields(w, cert, server ? server_fields : ca_fields);
    if (server) {
        ccm_cloud_write_list(w, "SubjectAlternativeNames", "SubjectAlternativeName",
                             ccm_cloud_attr(cert, "Sans"));
    }
    ccm_cloud_tags_write(w, "Tags", cert, false);
    ccm_jsonw_close(w, '}');
}

static int describe(struct ccm_cloud_call *call, bool server)
{
    static const char *const names[] = { "ResourceGroupId", NULL };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    enum ccm_cloud_kind kind = server ? CCM_CLOUD_SERVER_CERT : CCM_CLOUD_CA_CERT;
    const char *id = ccm_cloud_text(call, server ? "ServerCertificateId" : "CACertificateId", NULL);
    void *cursor = NULL;
    int r = ccm_cloud_tags_read(call, &tags);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, server ? "ServerCertificates" : "CACertificates", '{');
    ccm_jsonw_open(call->out, server ? "ServerCertificate" : "CACertificate", '[');
    for (const struct ccm_cloud_obj *cert = ccm_cloud_plain_next(call->cloud, kind, &cursor);
         cert != NULL; cert = ccm_cloud_plain_next(call->cloud, kind, &cursor)) {
        if ((id == NULL || ccm_text_equal(id, cert->id)) &&
            ccm_cloud_params_fit(call, cert, names) && ccm_cloud_tags_fit(cert, &tags)) {
            cert_write(call->out, cert, server);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

static int describe_server(struct ccm_cloud_call *call)
{
    return describe(call, true);
}

static int describe_ca(struct ccm_cloud_call *call)
{
    return describe(call, false);
}

/* ---- domain extensions ---- */

static int check_cert(struct ccm_cloud_call *call)
{
    const char *id = ccm_cloud_text(call, "ServerCertificateId", "");

    if (ccm_text_empty(id)) {
        return ccm_cloud_fail(call, 400, "MissingParam.ServerCertificates",
                              "The param ServerCertificates is missing.");
    }
    if (ccm_cloud_plain_get(call->cloud, CCM_CLOUD_SERVER_CERT, id) != NULL) {
        return 0;
    }
    return ccm_cloud_plain_get(call->cloud, CCM_CLOUD_CA_CERT, id) != NULL
               ? ccm_cloud_fail(call, 400, "CertificateTypeMismatched",
                                "The certificate type does not match.")
               : ccm_cloud_fail(call, 400, "InvalidParameter.ServerCertificateId",
                                "The specified ServerCertificateId does not exist.");
}

/* The extensions of a listener; `domain` NULL: all, else those with it. */
static size_t extensions_count(const struct ccm_cloud_call *call, const char *domain)
{
    static const char *const names[] = { "LoadBalancerId", "ListenerPort", NULL };
    void *cursor = NULL;
    size_t n = 0;

    for (const struct ccm_cloud_obj *obj =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EXTENSION, &cursor);
         obj != NULL; obj = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EXTENSION, &cursor)) {
        n += ccm_cloud_params_fit(call, obj, names) &&
             (domain == NULL || ccm_text_equal(domain, ccm_cloud_attr(obj, "Domain")));
    }
    return n;
}

static int check_create(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);

    if (ccm_cloud_lb_is_shared(lb)) {
        return ccm_cloud_fail(call, 400, "DomainExtensionNotSupport",
                              "The instance with shared loadBalancerSpec does not support "
                              "domainExtension.");
    }
    if (ccm_cloud_listener_get(lb, "https", port) == NULL) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified resource does not exist.");
    }
    if (extensions_count(call, ccm_cloud_text(call, "Domain", "")) > 0) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.Domain", "The specified Domain exists.");
    }
    if (extensions_count(call, NULL) >= call->cloud->limits.domain_extensions) {
        return ccm_cloud_fail(call, 400, "DomainExtensionNumberOverLimit",
                              "The number of domainExtension has reached to the quota limit of "
                              "this listener.");
    }
    return check_cert(call);
}

static int create(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "Domain", "ListenerPort", "LoadBalancerId",
                                         "ServerCertificateId", NULL };
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_obj *extension = NULL;
    char id[48];
    int r = ccm_cloud_lb_of(call, &lb);

    r = r < 0 ? r : check_create(call, lb);
    if (r < 0) {
        return r;
    }
    ccm_cloud_new_id(call->cloud, "de", id, sizeof(id));
    r = ccm_cloud_plain_new(call->cloud, CCM_CLOUD_EXTENSION, id, &extension);
    r = r < 0 ? r : ccm_cloud_copy_params(call, extension, names);
    if (r < 0) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_EXTENSION, id);
        return r;
    }
    ccm_jsonw_str(call->out, "DomainExtensionId", id);
    ccm_jsonw_i64(call->out, "ListenerPort", ccm_cloud_int(call, "ListenerPort", 0));
    return 0;
}

static int extension_of(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret)
{
    *ret = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EXTENSION,
                               ccm_cloud_text(call, "DomainExtensionId", ""));
    return *ret != NULL ? 0
                        : ccm_cloud_fail(call, 400, "InvalidParameter.DomainExtensionId",
                                         "The specified DomainExtensionId does not exist.");
}

static int set(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "ServerCertificateId", NULL };
    struct ccm_cloud_obj *extension = NULL;
    int r = extension_of(call, &extension);

    r = r < 0 ? r : check_cert(call);
    return r < 0 ? r : ccm_cloud_copy_params(call, extension, names);
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *extension = NULL;
    int r = extension_of(call, &extension);

    if (r == 0) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_EXTENSION, extension->id);
    }
    return r;
}

static int describe_extensions(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "LoadBalancerId", "ListenerPort", NULL };
    static const struct ccm_cloud_field fields[] = {
        { "Domain", 's', NULL, "" },
        { "ServerCertificateId", 's', NULL, "" },
        { 0 },
    };
    const char *id = ccm_cloud_text(call, "DomainExtensionId", NULL);
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    void *cursor = NULL;
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r == 0 && ccm_cloud_listener_get(lb, NULL, port) == NULL) {
        r = ccm_cloud_fail(call, 400, "InvalidParameter", "The specified resource does not exist.");
    }
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "DomainExtensions", '{');
    ccm_jsonw_open(call->out, "DomainExtension", '[');
    for (const struct ccm_cloud_obj *obj =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EXTENSION, &cursor);
         obj != NULL; obj = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EXTENSION, &cursor)) {
        if (ccm_cloud_params_fit(call, obj, names) && (id == NULL || ccm_text_equal(id, obj->id))) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "DomainExtensionId", obj->id);
            ccm_cloud_write_fields(call->out, obj, fields);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

#define LISTENER_ROWS                                                                              \
    { .name = "LoadBalancerId", .required = true },                                                \
    {                                                                                              \
        .name = "ListenerPort", .type = CCM_CLOUD_INT, .required = true, .min = 1, .max = 65535    \
    }

static const struct ccm_cloud_param server_params[] = {
    { .name = "ResourceGroupId" },
    { .name = "ServerCertificateId" },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

static const struct ccm_cloud_param ca_params[] = {
    { .name = "CACertificateId" },
    { .name = "ResourceGroupId" },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

static const struct ccm_cloud_param create_params[] = {
    LISTENER_ROWS,
    { .name = "Domain", .required = true },
    { .name = "ServerCertificateId" },
    { 0 },
};

static const struct ccm_cloud_param set_params[] = {
    { .name = "DomainExtensionId", .required = true },
    { .name = "ServerCertificateId" },
    { 0 },
};

static const struct ccm_cloud_param id_params[] = {
    { .name = "DomainExtensionId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    LISTENER_ROWS,
    { .name = "DomainExtensionId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_cert_actions[] = {
    { .name = "DescribeServerCertificates", .params = server_params, .run = describe_server },
    { .name = "DescribeCACertificates", .params = ca_params, .region = true, .run = describe_ca },
    { .name = "CreateDomainExtension",
      .params = create_params,
      .region = true,
      .run = create,
      .change = CCM_CLOUD_CHANGE_EXTENSION },
    { .name = "SetDomainExtensionAttribute",
      .params = set_params,
      .region = true,
      .run = set,
      .change = CCM_CLOUD_CHANGE_EXTENSION },
    { .name = "DeleteDomainExtension",
      .params = id_params,
      .region = true,
      .run = del,
      .change = CCM_CLOUD_CHANGE_EXTENSION },
    { .name = "DescribeDomainExtensions",
      .params = list_params,
      .region = true,
      .run = describe_extensions },
    { 0 },
};
