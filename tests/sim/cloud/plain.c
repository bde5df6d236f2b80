#include "plain.h"

#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

void ccm_cloud_plain_free(void *value)
{
    struct ccm_cloud_obj *obj = value;

    ccm_cloud_obj_fini(obj);
    free(obj);
}

int ccm_cloud_plain_new(struct ccm_cloud *cloud, enum ccm_cloud_kind kind, const char *id,
                        struct ccm_cloud_obj **ret)
{
    if (ccm_strmap_has(cloud->plain[kind], id)) {
        return -EEXIST;
    }

    struct ccm_cloud_obj *obj = calloc(1, sizeof(*obj));

    if (obj == NULL) {
        return -ENOMEM;
    }

    int r = ccm_cloud_obj_init(cloud, obj, id);

    r = r < 0 ? r : ccm_strmap_set(cloud->plain[kind], id, obj);
    if (r < 0) {
        ccm_cloud_plain_free(obj);
        return r;
    }
    *ret = obj;
    return 0;
}

struct ccm_cloud_obj *ccm_cloud_plain_get(const struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                                          const char *id)
{
    return ccm_strmap_get(cloud->plain[kind], id);
}

void ccm_cloud_plain_del(struct ccm_cloud *cloud, enum ccm_cloud_kind kind, const char *id)
{
    struct ccm_cloud_obj *obj = ccm_strmap_take(cloud->plain[kind], id);

    if (obj != NULL) {
        ccm_cloud_plain_free(obj);
    }
}

struct ccm_cloud_obj *ccm_cloud_plain_next(const struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                                           void **cursor)
{
    const char *id = NULL;
    void *value = NULL;

    return ccm_strmap_next(cloud->plain[kind], cursor, &id, &value) != 0 ? value : NULL;
}

size_t ccm_cloud_plain_count(const struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                             const char *attr, const char *value)
{
    void *cursor = NULL;
    size_t n = 0;

    for (const struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, kind, &cursor); obj != NULL;
         obj = ccm_cloud_plain_next(cloud, kind, &cursor)) {
        n += ccm_text_equal(ccm_cloud_attr(obj, attr), value);
    }
    return n;
}

int ccm_cloud_copy_params(const struct ccm_cloud_call *call, struct ccm_cloud_obj *obj,
                          const char *const *names)
{
    for (const char *const *name = names; *name != NULL; name++) {
        const struct ccm_cloud_pair pair = { *name, ccm_cloud_text(call, *name, NULL) };
        int r = ccm_cloud_attrs_set(obj, &pair, 1);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

bool ccm_cloud_params_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                          const char *const *names)
{
    for (const char *const *name = names; *name != NULL; name++) {
        const char *want = ccm_cloud_text(call, *name, NULL);

        if (want != NULL && !ccm_text_equal(want, ccm_cloud_attr(obj, *name))) {
            return false;
        }
    }
    return true;
}

bool ccm_cloud_list_has(const char *list, const char *text)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (strlen(text) == len && strncmp(start, text, len) == 0) {
            return true;
        }
    }
    return false;
}

void ccm_cloud_write_pieces(struct ccm_jsonw *w, const char *key, const char *list)
{
    const char *cursor = list;
    const char *start = NULL;
    size_t len = 0;

    ccm_jsonw_open(w, key, '[');
    while (ccm_parse_piece(&cursor, ',', &start, &len)) {
        char piece[256];

        if (len > 0 && len < sizeof(piece)) {
            ccm_text_copy(piece, len + 1, start);
            ccm_jsonw_str(w, NULL, piece);
        }
    }
    ccm_jsonw_close(w, ']');
}

void ccm_cloud_write_list(struct ccm_jsonw *w, const char *outer, const char *inner,
                          const char *list)
{
    ccm_jsonw_open(w, outer, '{');
    ccm_cloud_write_pieces(w, inner, list);
    ccm_jsonw_close(w, '}');
}

static const struct {
    const char *type;
    const char *member; /* of the state */
    const char *id_name;
} kinds[CCM_CLOUD_KINDS] = {
    [CCM_CLOUD_ACL] = { "acl", "acls", "AclId" },
    [CCM_CLOUD_ACL_ENTRY] = { "aclentry", "aclEntries", "AclEntryId" },
    [CCM_CLOUD_SERVER_CERT] = { "servercertificate", "serverCertificates", "ServerCertificateId" },
    [CCM_CLOUD_CA_CERT] = { "cacertificate", "caCertificates", "CACertificateId" },
    [CCM_CLOUD_EXTENSION] = { "domainextension", "domainExtensions", "DomainExtensionId" },
    [CCM_CLOUD_ROUTE_TABLE] = { "routetable", "routeTables", "RouteTableId" },
    [CCM_CLOUD_ROUTE] = { "route", "routes", "RouteEntryId" },
    [CCM_CLOUD_EIP] = { "eip", "eips", "AllocationId" },
    [CCM_CLOUD_SECURITY_GROUP] = { "securitygroup", "securityGroups", "SecurityGroupId" },
    [CCM_CLOUD_SECURITY_RULE] = { "securityrule", "securityRules", "SecurityGroupRuleId" },
    [CCM_CLOUD_CAS_CERT] = { "cascertificate", "casCertificates", "CertIdentifier" },
    [CCM_CLOUD_LINGJUN] = { "lingjunnode", "lingjunNodes", "NodeId" },
    [CCM_CLOUD_ROLE] = { "role", "roles", "Arn" },
    [CCM_CLOUD_BANDWIDTH_PACKAGE] = { "bandwidthpackage", "bandwidthPackages",
                                      "BandwidthPackageId" },
};

bool ccm_cloud_plain_kind(const char *type, enum ccm_cloud_kind *ret)
{
    for (size_t i = 0; i < CCM_CLOUD_KINDS; i++) {
        if (kinds[i].type != NULL && ccm_text_equal(kinds[i].type, type)) {
            *ret = (enum ccm_cloud_kind)i;
            return true;
        }
    }
    return false;
}

static void pairs_write(struct ccm_jsonw *w, const struct ccm_sim_params *pairs)
{
    for (size_t i = 0; i < pairs->len; i++) {
        ccm_jsonw_str(w, pairs->items[i].name, pairs->items[i].value);
    }
}

static void kind_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud, enum ccm_cloud_kind kind)
{
    void *cursor = NULL;

    ccm_jsonw_open(w, kinds[kind].member, '[');
    for (const struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, kind, &cursor); obj != NULL;
         obj = ccm_cloud_plain_next(cloud, kind, &cursor)) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, kinds[kind].id_name, obj->id);
        pairs_write(w, &obj->attrs);
        ccm_jsonw_open(w, "Tags", '{');
        pairs_write(w, &obj->tags);
        ccm_jsonw_close(w, '}');
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

void ccm_cloud_plain_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    for (size_t i = 0; i < CCM_CLOUD_KINDS; i++) {
        if (kinds[i].member != NULL) {
            kind_write(w, cloud, (enum ccm_cloud_kind)i);
        }
    }
}
