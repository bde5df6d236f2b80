/*
 * Form of a fixture file: one JSON object, all members optional.
 *
 * "region"     "cn-hangzhou"
 * "vpcs"       [{"id", "cidr", "secondary": ["..."], "user_cidrs": ["..."], "ipv6", "route_table"}]
 *              route_table: id of its system table
 * "vswitches"  [{"id", "vpc", "zone", "cidr", "ipv6", "route_table", "available": N}]
 *              available: it gives out so many addresses and no more
 * "instances"  [{"id", "ip", "vswitch", "zone", "name", "status": "Running", "eni",
 *                "security_group", "tags": {}}]
 *              The vSwitch may be left out: then it is the one the address lies in, or the first
 *              of the zone. An address that is left out is chosen. Each instance gets a primary
 *              network interface, named "eni" or "eni-ID".
 * "enis"       [{"id", "ip" or "ips": [...], "ipv6": [...], "instance", "vswitch", "zone",
 *                "status": "InUse", "tags": {}}]
 * "accounts"   [{"id", "secret", "token", "expires_in_s": N, "account", "arn", "root": true}]
 *              token and expiry only for temporary keys; account: its number
 * "metadata"   {"instance": ID, "role": NAME, "expires_in_s": N, "tokens": "optional"|"required"}
 *              whom the metadata service speaks for, its RAM role, the life of the role's keys, and
 *              whether session tokens are mandatory
 * "certificates"
 *              [{"id", "type": "server"|"ca", "name", "domain", "sans": ["..."],
 *                "expires_in_days": N}]
 *              those of SLB; a negative number: expired
 * "lingjun_nodes"    {"id", "group"}
 * "cas_certificates"
 *              [{"id", "name", "domain", "sans": ["..."], "pem", "expires_in_days": N}]
 * "security_groups"
 *              [{"id", "name", "vpc", "type": "normal"|"enterprise", "tags": {}}]
 * "bandwidth_packages"
 *              [{"id", "tags": {}}]
 * "roles"      [{"id": "acs:ram::ACCOUNT:role/NAME", "max_session_s": N}]
 *              if there are any, no other role can be assumed
 *
 * The same object, with "instances" and "enis", is what POST /_sim/instances takes. An unknown
 * member is an error.
 */
#include "fixtures.h"

#include "fixtures_part.h"
#include "plain.h"
#include "route.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

const char ccm_cloud_default_fixtures[] =
    "{\"region\":\"cn-hangzhou\","
    "\"vpcs\":[{\"id\":\"vpc-test\",\"cidr\":\"10.0.0.0/8\"}],"
    "\"vswitches\":["
    "{\"id\":\"vsw-a\",\"vpc\":\"vpc-test\",\"zone\":\"cn-hangzhou-h\",\"cidr\":\"10.1.0.0/16\"},"
    "{\"id\":\"vsw-b\",\"vpc\":\"vpc-test\",\"zone\":\"cn-hangzhou-i\",\"cidr\":\"10.2.0.0/16\"}],"
    "\"instances\":["
    "{\"id\":\"i-node-1\",\"name\":\"node-1\",\"ip\":\"10.1.0.11\"},"
    "{\"id\":\"i-node-2\",\"name\":\"node-2\",\"ip\":\"10.2.0.12\"},"
    "{\"id\":\"i-node-3\",\"name\":\"node-3\",\"ip\":\"10.1.0.13\"},"
    "{\"id\":\"i-node-4\",\"name\":\"node-4\",\"ip\":\"10.2.0.14\"},"
    "{\"id\":\"i-node-5\",\"name\":\"node-5\",\"ip\":\"10.1.0.15\"}],"
    "\"enis\":["
    "{\"id\":\"eni-pods-1\",\"instance\":\"i-node-1\",\"ips\":[\"10.1.1.1\",\"10.1.1.2\","
    "\"10.1.1.3\",\"10.1.1.4\",\"10.1.1.5\",\"10.1.1.6\",\"10.1.1.7\",\"10.1.1.8\"]},"
    "{\"id\":\"eni-pods-2\",\"instance\":\"i-node-2\",\"ips\":[\"10.2.2.1\",\"10.2.2.2\","
    "\"10.2.2.3\",\"10.2.2.4\",\"10.2.2.5\",\"10.2.2.6\",\"10.2.2.7\",\"10.2.2.8\"]},"
    "{\"id\":\"eni-pods-3\",\"instance\":\"i-node-3\",\"ips\":[\"10.1.3.1\",\"10.1.3.2\","
    "\"10.1.3.3\",\"10.1.3.4\",\"10.1.3.5\",\"10.1.3.6\",\"10.1.3.7\",\"10.1.3.8\"]},"
    "{\"id\":\"eni-pods-4\",\"instance\":\"i-node-4\",\"ips\":[\"10.2.4.1\",\"10.2.4.2\","
    "\"10.2.4.3\",\"10.2.4.4\",\"10.2.4.5\",\"10.2.4.6\",\"10.2.4.7\",\"10.2.4.8\"]},"
    "{\"id\":\"eni-pods-5\",\"instance\":\"i-node-5\",\"ips\":[\"10.1.5.1\",\"10.1.5.2\","
    "\"10.1.5.3\",\"10.1.5.4\",\"10.1.5.5\",\"10.1.5.6\",\"10.1.5.7\",\"10.1.5.8\"]}],"
    "\"certificates\":["
    "{\"id\":\"cert-valid\",\"name\":\"valid\",\"domain\":\"www.example.com\","
    "\"sans\":[\"www.example.com\",\"api.example.com\"]},"
    "{\"id\":\"cert-expired\",\"name\":\"expired\",\"domain\":\"old.example.com\","
    "\"expires_in_days\":-30},"
    "{\"id\":\"cert-ca\",\"type\":\"ca\",\"name\":\"clients\",\"domain\":\"ca.example.com\"}],"
    "\"cas_certificates\":["
    "{\"id\":\"101-cn-hangzhou\",\"name\":\"valid\",\"domain\":\"www.example.com\","
    "\"sans\":[\"www.example.com\",\"api.example.com\"]},"
    "{\"id\":\"102-cn-hangzhou\",\"name\":\"expired\",\"domain\":\"old.example.com\","
    "\"expires_in_days\":-30}],"
    "\"security_groups\":["
    "{\"id\":\"sg-test\",\"name\":\"nodes\",\"vpc\":\"vpc-test\"}],"
    "\"metadata\":{\"instance\":\"i-node-1\",\"role\":\"sim-role\"}}";

int ccm_cloud_fixture_bad(struct ccm_buf *why, const char *what, const char *id, const char *text)
{
    ccm_buf_addf(why, "%s '%s': %s", what, id, text);
    return -EINVAL;
}

int ccm_cloud_fixture_check(const cJSON *json, const char *what, const char *const *names,
                            struct ccm_buf *why)
{
    if (!cJSON_IsObject(json) || ccm_text_empty(ccm_json_str(json, "id"))) {
        return ccm_cloud_fixture_bad(why, what, "", "must be an object with an id");
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        bool known = false;

        for (const char *const *name = names; *name != NULL && !known; name++) {
            known = ccm_text_equal(*name, item->string);
        }
        if (!known) {
            return ccm_cloud_fixture_bad(why, what, item->string, "is not known");
        }
    }
    return 0;
}

int ccm_cloud_fixture_tags(const cJSON *json, struct ccm_cloud_obj *obj)
{
    const cJSON *tags = ccm_json_get(json, "tags");
    int r = 0;

    for (const cJSON *item = tags == NULL ? NULL : tags->child; item != NULL && r == 0;
         item = item->next) {
        r = ccm_sim_params_set(&obj->tags, item->string,
                               cJSON_IsString(item) ? item->valuestring : "");
    }
    return r;
}

int ccm_cloud_fixture_join(const cJSON *json, const char *name, char **ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { 0 };

    for (const cJSON *item = ccm_json_items(json, name); item != NULL; item = item->next) {
        if (buf.len > 0) {
            ccm_buf_addc(&buf, ',');
        }
        ccm_buf_adds(&buf, cJSON_IsString(item) ? item->valuestring : "");
    }
    return ccm_buf_take(&buf, ret);
}

/* Every VPC has one, named "vtb-system" for the first VPC and "vtb-ID" for others if the file does
 * not name it. */
static int system_table(struct ccm_cloud *cloud, const cJSON *json, struct ccm_cloud_vpc *vpc)
{
    CCM_CLEANUP(ccm_freep) char *own = ccm_text_format("vtb-%s", vpc->obj.id);
    CCM_CLEANUP(ccm_freep) char *router = ccm_text_format("vrt-%s", vpc->obj.id);
    const char *id = ccm_json_str(json, "route_table");
    struct ccm_cloud_obj *table = NULL;

    if (own == NULL || router == NULL) {
        return -ENOMEM;
    }
    if (id == NULL) {
        id = ccm_cloud_plain_get(cloud, CCM_CLOUD_ROUTE_TABLE, "vtb-system") == NULL ? "vtb-system"
                                                                                     : own;
    }

    const struct ccm_cloud_pair pairs[] = {
        { "RouteTableId", id },
        { "VRouterId", router },
    };
    int r = ccm_cloud_attrs_set(&vpc->obj, pairs, CCM_ARRAY_LEN(pairs));

    r = r < 0 ? r : ccm_cloud_route_table_new(cloud, vpc->obj.id, id, "System", &table);
    return r;
}

static int add_vpc(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",   "cidr",        "secondary", "user_cidrs",
                                         "ipv6", "route_table", "tags",      NULL };
    CCM_CLEANUP(ccm_freep) char *secondary = NULL;
    CCM_CLEANUP(ccm_freep) char *user = NULL;
    const char *id = ccm_json_text(json, "id");
    uint32_t base = 0;
    uint32_t size = 0;
    int r = ccm_cloud_fixture_check(json, "vpc", names, why);

    if (r < 0) {
        return r;
    }
    if (ccm_cloud_cidr_parse(ccm_json_text(json, "cidr"), &base, &size) < 0) {
        return ccm_cloud_fixture_bad(why, "vpc", id, "cidr is no network");
    }
    if (ccm_strmap_has(cloud->vpcs, id)) {
        return ccm_cloud_fixture_bad(why, "vpc", id, "exists already");
    }
    if (ccm_cloud_fixture_join(json, "secondary", &secondary) < 0 ||
        ccm_cloud_fixture_join(json, "user_cidrs", &user) < 0) {
        return -ENOMEM;
    }

    struct ccm_cloud_vpc *vpc = calloc(1, sizeof(*vpc));
    const struct ccm_cloud_pair pairs[] = {
        { "CidrBlock", ccm_json_text(json, "cidr") },
        { "SecondaryCidrBlocks", secondary },
        { "UserCidrs", user },
        { "Ipv6CidrBlock", ccm_json_text(json, "ipv6") },
        { "RegionId", cloud->region },
        { "VpcName", id },
    };

    if (vpc == NULL) {
        return -ENOMEM;
    }
    r = ccm_cloud_obj_init(cloud, &vpc->obj, id);
    r = r < 0 ? r : ccm_cloud_attrs_set(&vpc->obj, pairs, CCM_ARRAY_LEN(pairs));
    r = r < 0 ? r : ccm_cloud_fixture_tags(json, &vpc->obj);
    r = r < 0 ? r : ccm_strmap_set(cloud->vpcs, id, vpc);
    if (r < 0) {
        ccm_cloud_vpc_free(vpc);
        return r;
    }
    return system_table(cloud, json, vpc);
}

static int add_vswitch(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",          "vpc",  "zone", "cidr", "available",
                                         "route_table", "tags", "ipv6", NULL };
    const char *id = ccm_json_text(json, "id");
    const char *table = ccm_json_str(json, "route_table");
    uint32_t base = 0;
    uint32_t size = 0;
    int r = ccm_cloud_fixture_check(json, "vswitch", names, why);

    if (r < 0) {
        return r;
    }
    if (ccm_cloud_cidr_parse(ccm_json_text(json, "cidr"), &base, &size) < 0) {
        return ccm_cloud_fixture_bad(why, "vswitch", id, "cidr is no network");
    }

    const struct ccm_cloud_vpc *vpc = ccm_strmap_get(cloud->vpcs, ccm_json_text(json, "vpc"));

    if (vpc == NULL) {
        return ccm_cloud_fixture_bad(why, "vswitch", id, "its vpc does not exist");
    }
    if (ccm_strmap_has(cloud->vswitches, id)) {
        return ccm_cloud_fixture_bad(why, "vswitch", id, "exists already");
    }

    struct ccm_cloud_vswitch *vswitch = calloc(1, sizeof(*vswitch));
    const struct ccm_cloud_pair pairs[] = {
        { "CidrBlock", ccm_json_text(json, "cidr") },
        { "VpcId", ccm_json_text(json, "vpc") },
        { "ZoneId", ccm_json_text(json, "zone") },
        { "RouteTableId", table == NULL ? ccm_cloud_attr(&vpc->obj, "RouteTableId") : table },
        { "VSwitchName", id },
        { "Ipv6CidrBlock", ccm_json_str(json, "ipv6") },
        { "EnabledIpv6", ccm_json_str(json, "ipv6") == NULL ? NULL : "true" },
    };

    if (vswitch == NULL) {
        return -ENOMEM;
    }
    vswitch->base = base;
    vswitch->size = size;
    /* Nodes and pods of tests live in the lower half. */
    vswitch->next = size / 2;
    vswitch->limit = ccm_json_i64(json, "available", -1);
    r = ccm_cloud_obj_init(cloud, &vswitch->obj, id);
    r = r < 0 ? r : ccm_cloud_attrs_set(&vswitch->obj, pairs, CCM_ARRAY_LEN(pairs));
    r = r < 0 ? r : ccm_cloud_fixture_tags(json, &vswitch->obj);
    r = r < 0 ? r : ccm_strmap_set(cloud->vswitches, id, vswitch);
    if (r < 0) {
        ccm_cloud_vswitch_free(vswitch);
        return r;
    }
    r = ccm_cloud_routes_of_vswitch(cloud, vswitch);
    if (r == 0 && table != NULL &&
        ccm_cloud_plain_get(cloud, CCM_CLOUD_ROUTE_TABLE, table) == NULL) {
        struct ccm_cloud_obj *fresh = NULL;

        r = ccm_cloud_route_table_new(cloud, vpc->obj.id, table, "Custom", &fresh);
    }
    return r;
}

static int add_account(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",      "secret", "token", "expires_in_s",
                                         "account", "arn",    "root",  NULL };
    const cJSON *expiry = ccm_json_get(json, "expires_in_s");
    int64_t expires =
        expiry == NULL ? 0 : ccm_clock_wall_ms() + ccm_json_i64(json, "expires_in_s", 0) * 1000;
    int r = ccm_cloud_fixture_check(json, "account", names, why);

    if (r < 0) {
        return r;
    }

    const char *id = ccm_json_text(json, "id");
    const char *account = ccm_json_str(json, "account");
    const char *arn = ccm_json_str(json, "arn");
    bool root = ccm_json_bool(json, "root", false);

    account = account == NULL ? "1000000000000001" : account;

    CCM_CLEANUP(ccm_freep)
    char *own = ccm_text_format(root ? "acs:ram::%s:root" : "acs:ram::%s:user/%s", account, id);

    r = own == NULL ? -ENOMEM
                    : ccm_cloud_accounts_set(cloud->accounts, id, ccm_json_text(json, "secret"),
                                             ccm_json_text(json, "token"), expires);
    return r < 0 ? r
                 : ccm_cloud_accounts_own(cloud->accounts, id, account, arn == NULL ? own : arn,
                                          root);
}

static int load_list(struct ccm_cloud *cloud, const cJSON *list, struct ccm_buf *why,
                     int (*add)(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why))
{
    int r = 0;

    if (!cJSON_IsArray(list)) {
        return ccm_cloud_fixture_bad(why, "member", list->string, "must be a list");
    }
    for (const cJSON *item = list->child; item != NULL && r == 0; item = item->next) {
        r = add(cloud, item, why);
    }
    return r;
}

static int load_metadata(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    if (!cJSON_IsObject(json)) {
        return ccm_cloud_fixture_bad(why, "member", "metadata", "must be an object");
    }
    ccm_text_copy(cloud->metadata.instance, sizeof(cloud->metadata.instance),
                  ccm_json_text(json, "instance"));
    ccm_text_copy(cloud->metadata.role, sizeof(cloud->metadata.role), ccm_json_text(json, "role"));
    cloud->metadata.life_s = ccm_json_i64(json, "expires_in_s", 21600);
    cloud->metadata.token_required = ccm_text_equal(ccm_json_str(json, "tokens"), "required");
    return 0;
}

static int load_member(struct ccm_cloud *cloud, const cJSON *item, struct ccm_buf *why)
{
    static const struct {
        const char *name;
        int (*add)(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why);
    } lists[] = {
        { "vpcs", add_vpc },
        { "vswitches", add_vswitch },
        { "instances", ccm_cloud_fixture_instance },
        { "enis", ccm_cloud_fixture_eni },
        { "accounts", add_account },
        { "certificates", ccm_cloud_fixture_cert },
        { "cas_certificates", ccm_cloud_fixture_cas_cert },
        { "lingjun_nodes", ccm_cloud_fixture_lingjun },
        { "security_groups", ccm_cloud_fixture_security_group },
        { "roles", ccm_cloud_fixture_role },
        { "bandwidth_packages", ccm_cloud_fixture_bandwidth_package },
    };

    if (ccm_text_equal(item->string, "region")) {
        if (!cJSON_IsString(item)) {
            return ccm_cloud_fixture_bad(why, "member", "region", "must be text");
        }
        ccm_text_copy(cloud->region, sizeof(cloud->region), item->valuestring);
        return 0;
    }
    if (ccm_text_equal(item->string, "metadata")) {
        return load_metadata(cloud, item, why);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(lists); i++) {
        if (ccm_text_equal(item->string, lists[i].name)) {
            return load_list(cloud, item, why, lists[i].add);
        }
    }
    return ccm_cloud_fixture_bad(why, "member", item->string, "is not known");
}

int ccm_cloud_fixtures_load(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    int r = 0;

    if (!cJSON_IsObject(json)) {
        return ccm_cloud_fixture_bad(why, "fixtures", "", "must be an object");
    }
    for (const cJSON *item = json->child; item != NULL && r == 0; item = item->next) {
        r = load_member(cloud, item, why);
    }
    return r;
}
