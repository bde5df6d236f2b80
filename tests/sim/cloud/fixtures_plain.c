/* What of a fixture file is nothing but attributes: certificates, roles,
 * security groups, ... */
#include "fixtures_part.h"
#include "plain.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>

/* Members of the object that are texts or numbers -> attributes, by a table. */
static int plain_fill(const cJSON *json, struct ccm_cloud_obj *obj,
                      const struct ccm_cloud_pair *rows)
{
    int r = ccm_cloud_fixture_tags(json, obj);

    for (const struct ccm_cloud_pair *row = rows; row->name != NULL && r == 0; row++) {
        const cJSON *item = ccm_json_get(json, row->name);
        CCM_CLEANUP(ccm_freep)
        char *text = cJSON_IsNumber(item) ? ccm_text_format("%.0f", item->valuedouble) : NULL;
        const struct ccm_cloud_pair pair = { row->value,
                                             cJSON_IsString(item) ? item->valuestring : text };

        r = ccm_cloud_attrs_set(obj, &pair, 1);
    }
    return r;
}

static int plain_add(struct ccm_cloud *cloud, const cJSON *json, enum ccm_cloud_kind kind,
                     const char *what, struct ccm_buf *why, struct ccm_cloud_obj **ret)
{
    const char *id = ccm_json_text(json, "id");
    int r = ccm_cloud_plain_new(cloud, kind, id, ret);

    return r == -EEXIST ? ccm_cloud_fixture_bad(why, what, id, "exists already") : r;
}

/* The end of a certificate: in so many days from now, which may lie in the past. */
static int expiry_set(const cJSON *json, struct ccm_cloud_obj *cert, const char *text_attr,
                      const char *stamp_attr)
{
    int64_t end =
        ccm_clock_wall_ms() + ccm_json_i64(json, "expires_in_days", 365) * INT64_C(86400000);
    CCM_CLEANUP(ccm_freep) char *stamp = ccm_text_format("%lld", (long long)end);
    char text[CCM_CLOCK_TEXT];

    ccm_clock_format(end, text, sizeof(text));

    const struct ccm_cloud_pair pairs[] = {
        { stamp_attr, stamp },
        { text_attr, text },
    };

    return stamp == NULL ? -ENOMEM : ccm_cloud_attrs_set(cert, pairs, text_attr == NULL ? 1 : 2);
}

int ccm_cloud_fixture_cert(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = {
        "id", "type", "name", "domain", "sans", "tags", "expires_in_days", NULL
    };
    static const struct ccm_cloud_pair rows[] = { { "name", "Name" },
                                                  { "domain", "CommonName" },
                                                  { 0 } };
    CCM_CLEANUP(ccm_freep) char *sans = NULL;
    bool ca = ccm_text_equal(ccm_json_str(json, "type"), "ca");
    struct ccm_cloud_obj *cert = NULL;
    int r = ccm_cloud_fixture_check(json, "certificate", names, why);

    r = r < 0 ? r : ccm_cloud_fixture_join(json, "sans", &sans);
    r = r < 0 ? r
              : plain_add(cloud, json, ca ? CCM_CLOUD_CA_CERT : CCM_CLOUD_SERVER_CERT,
                          "certificate", why, &cert);
    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_pair pairs[] = { { "RegionId", cloud->region }, { "Sans", sans } };

    r = ccm_cloud_attrs_set(cert, pairs, CCM_ARRAY_LEN(pairs));
    r = r < 0 ? r : plain_fill(json, cert, rows);
    return r < 0 ? r : expiry_set(json, cert, "ExpireTime", "ExpireTimeStamp");
}

int ccm_cloud_fixture_cas_cert(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "name", "domain", "sans", "pem", "expires_in_days",
                                         NULL };
    static const struct ccm_cloud_pair rows[] = {
        { "name", "CertName" }, { "domain", "CommonName" }, { "pem", "Pem" }, { 0 }
    };
    CCM_CLEANUP(ccm_freep) char *sans = NULL;
    struct ccm_cloud_obj *cert = NULL;
    int r = ccm_cloud_fixture_check(json, "cas certificate", names, why);

    r = r < 0 ? r : ccm_cloud_fixture_join(json, "sans", &sans);
    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_CAS_CERT, "cas certificate", why, &cert);
    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_pair pair = { "Sans", sans };

    r = ccm_cloud_attrs_set(cert, &pair, 1);
    r = r < 0 ? r : plain_fill(json, cert, rows);
    return r < 0 ? r : expiry_set(json, cert, NULL, "AfterDate");
}

int ccm_cloud_fixture_lingjun(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "group", NULL };
    static const struct ccm_cloud_pair rows[] = { { "group", "NodeGroupId" }, { 0 } };
    struct ccm_cloud_obj *node = NULL;
    int r = ccm_cloud_fixture_check(json, "lingjun node", names, why);

    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_LINGJUN, "lingjun node", why, &node);
    return r < 0 ? r : plain_fill(json, node, rows);
}

int ccm_cloud_fixture_security_group(struct ccm_cloud *cloud, const cJSON *json,
                                     struct ccm_buf *why)
{
    static const char *const names[] = { "id", "name", "vpc", "type", "tags", NULL };
    static const struct ccm_cloud_pair rows[] = {
        { "name", "SecurityGroupName" }, { "vpc", "VpcId" }, { "type", "SecurityGroupType" }, { 0 }
    };
    struct ccm_cloud_obj *group = NULL;
    int r = ccm_cloud_fixture_check(json, "security group", names, why);

    if (r == 0 && !ccm_strmap_has(cloud->vpcs, ccm_json_text(json, "vpc"))) {
        r = ccm_cloud_fixture_bad(why, "security group", ccm_json_text(json, "id"),
                                  "its vpc does not exist");
    }
    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_SECURITY_GROUP, "security group", why, &group);
    return r < 0 ? r : plain_fill(json, group, rows);
}

int ccm_cloud_fixture_role(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "max_session_s", NULL };
    static const struct ccm_cloud_pair rows[] = { { "max_session_s", "MaxSessionDuration" },
                                                  { 0 } };
    struct ccm_cloud_obj *role = NULL;
    int r = ccm_cloud_fixture_check(json, "role", names, why);

    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_ROLE, "role", why, &role);
    return r < 0 ? r : plain_fill(json, role, rows);
}

/* Common bandwidth packages, which load balancers of NLB join. */
int ccm_cloud_fixture_bandwidth_package(struct ccm_cloud *cloud, const cJSON *json,
                                        struct ccm_buf *why)
{
    static const char *const names[] = { "id", "tags", NULL };
    struct ccm_cloud_obj *package = NULL;
    int r = ccm_cloud_fixture_check(json, "bandwidth package", names, why);

    r = r < 0 ? r
              : plain_add(cloud, json, CCM_CLOUD_BANDWIDTH_PACKAGE, "bandwidth package", why,
                          &package);
    return r < 0 ? r : ccm_cloud_fixture_tags(json, package);
}
