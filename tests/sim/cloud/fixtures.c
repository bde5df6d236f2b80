/*
 * Form of a fixture file: one JSON object, all members optional.
 *
 *   "region":    "cn-hangzhou"
 *   "vpcs":      [{"id", "cidr", "secondary": ["..."], "user_cidrs": ["..."], "ipv6",
 *                "route_table"}]  the last: id of its system table
 *   "vswitches": [{"id", "vpc", "zone", "cidr", "ipv6", "route_table", "available": N}]
 *                available: it gives out so many addresses and no more
 *   "instances": [{"id", "ip", "vswitch", "name", "status": "Running", "eni", "tags": {}}]
 *                The vSwitch may be left out: then it is the one the address lies in, or the first
 * of "zone". An address that is left out is chosen. Each instance gets a primary network interface,
 * named "eni" or "eni-ID". "enis":      [{"id", "ip" or "ips": [...], "ipv6": [...], "instance",
 * "vswitch", "status": "InUse", "tags": {}}] "accounts":  [{"id", "secret", "token",
 * "expires_in_s": N}]  token and expiry only for temporary keys "metadata":  {"instance": ID,
 * "role": NAME, "expires_in_s": N, "tokens": "optional" or "required"} whom the metadata service
 * speaks for, its RAM role, the life of the role's keys, and whether session tokens are mandatory
 *
 *   "certificates":     [{"id", "type": "server" or "ca", "name", "domain", "sans": ["..."],
 *                       "expires_in_days": N}]  those of SLB; a negative number: expired
 *   "cas_certificates": [{"id", "name", "domain", "sans": ["..."], "pem", "expires_in_days": N}]
 *   "security_groups":  [{"id", "name", "vpc", "type": "normal" or "enterprise", "tags": {}}]
 *   "bandwidth_packages": [{"id", "tags": {}}]
 *   "roles":            [{"id": "acs:ram::ACCOUNT:role/NAME", "max_session_s": N}]  if there are
 *                       any, no other role can be assumed
 * Accounts also take "account" (its number), "arn" and "root": true; instances "security_group".
 *
 * The same object, with "instances" and "enis", is what POST /_sim/instances takes. An unknown
 * member is an error.
 */
#include "fixtures.h"

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

static int bad(struct ccm_buf *why, const char *what, const char *id, const char *text)
{
    ccm_buf_addf(why, "%s '%s': %s", what, id, text);
    return -EINVAL;
}

/* Only these members, and an id. */
static int check_members(const cJSON *json, const char *what, const char *const *names,
                         struct ccm_buf *why)
{
    if (!cJSON_IsObject(json) || ccm_text_empty(ccm_json_str(json, "id"))) {
        return bad(why, what, "", "must be an object with an id");
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        bool known = false;

        for (const char *const *name = names; *name != NULL && !known; name++) {
            known = ccm_text_equal(*name, item->string);
        }
        if (!known) {
            return bad(why, what, item->string, "is not known");
        }
    }
    return 0;
}

static int read_tags(const cJSON *json, struct ccm_cloud_obj *obj)
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

/* Texts of an array, joined by commas. */
static int join(const cJSON *json, const char *name, char **ret)
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
    int r = check_members(json, "vpc", names, why);

    if (r < 0) {
        return r;
    }
    if (ccm_cloud_cidr_parse(ccm_json_text(json, "cidr"), &base, &size) < 0) {
        return bad(why, "vpc", id, "cidr is no network");
    }
    if (ccm_strmap_has(cloud->vpcs, id)) {
        return bad(why, "vpc", id, "exists already");
    }
    if (join(json, "secondary", &secondary) < 0 || join(json, "user_cidrs", &user) < 0) {
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
    r = r < 0 ? r : read_tags(json, &vpc->obj);
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
    int r = check_members(json, "vswitch", names, why);

    if (r < 0) {
        return r;
    }
    if (ccm_cloud_cidr_parse(ccm_json_text(json, "cidr"), &base, &size) < 0) {
        return bad(why, "vswitch", id, "cidr is no network");
    }

    const struct ccm_cloud_vpc *vpc = ccm_strmap_get(cloud->vpcs, ccm_json_text(json, "vpc"));

    if (vpc == NULL) {
        return bad(why, "vswitch", id, "its vpc does not exist");
    }
    if (ccm_strmap_has(cloud->vswitches, id)) {
        return bad(why, "vswitch", id, "exists already");
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
    r = r < 0 ? r : read_tags(json, &vswitch->obj);
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

/* The vSwitch that is named, that holds the address, or that lies in the zone. */
static struct ccm_cloud_vswitch *vswitch_find(const struct ccm_cloud *cloud, const cJSON *json,
                                              const char *ip)
{
    const char *id = ccm_json_str(json, "vswitch");
    const char *zone = ccm_json_str(json, "zone");
    void *cursor = NULL;
    void *value = NULL;

    if (id != NULL) {
        return ccm_strmap_get(cloud->vswitches, id);
    }
    if (!ccm_text_empty(ip)) {
        return ccm_cloud_vswitch_of(cloud, ip);
    }
    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        struct ccm_cloud_vswitch *vswitch = value;

        if (zone == NULL || ccm_text_equal(zone, ccm_cloud_attr(&vswitch->obj, "ZoneId"))) {
            return vswitch;
        }
    }
    return NULL;
}

struct eni_plan {
    const char *id;
    const char *instance;
    const char *status;
    const char *type;
    struct ccm_cloud_vswitch *vswitch;
};

static int eni_make(struct ccm_cloud *cloud, const struct eni_plan *plan,
                    struct ccm_cloud_eni **ret)
{
    struct ccm_cloud_eni *eni = calloc(1, sizeof(*eni));
    char mac[24];

    if (eni == NULL) {
        return -ENOMEM;
    }

    int r = ccm_cloud_obj_init(cloud, &eni->obj, plan->id);

    (void)snprintf(mac, sizeof(mac), "00:16:3e:%02x:%02x:%02x",
                   (unsigned)(eni->obj.seq >> 16) & 0xFFU, (unsigned)(eni->obj.seq >> 8) & 0xFFU,
                   (unsigned)eni->obj.seq & 0xFFU); /* always fits */

    const struct ccm_cloud_pair pairs[] = {
        { "InstanceId", plan->instance },
        { "MacAddress", mac },
        { "NetworkInterfaceName", plan->id },
        { "Status", plan->status },
        { "Type", plan->type },
        { "VSwitchId", plan->vswitch->obj.id },
        { "VpcId", ccm_cloud_attr(&plan->vswitch->obj, "VpcId") },
        { "ZoneId", ccm_cloud_attr(&plan->vswitch->obj, "ZoneId") },
    };

    r = r < 0 ? r : ccm_cloud_attrs_set(&eni->obj, pairs, CCM_ARRAY_LEN(pairs));
    r = r < 0 ? r : ccm_strmap_set(cloud->enis, plan->id, eni);
    if (r < 0) {
        ccm_cloud_eni_free(eni);
        return r;
    }
    *ret = eni;
    return 0;
}

/* Take an address for the interface; the first one is its primary. */
static int eni_address(struct ccm_cloud *cloud, struct ccm_cloud_vswitch *vswitch,
                       struct ccm_cloud_eni *eni, const char *wanted, struct ccm_buf *why)
{
    char text[INET_ADDRSTRLEN];
    bool primary = eni->ips.len == 0;
    int r = ccm_cloud_address_take(cloud, vswitch, wanted, text);

    if (r == -EINVAL || r == -EADDRINUSE || r == -ENOSPC) {
        return bad(why, "address", wanted, r == -EINVAL ? "is not in the vSwitch" : "is taken");
    }
    r = r < 0 ? r : ccm_sim_params_set(&eni->ips, text, primary ? "true" : "false");
    r = r < 0 ? r : ccm_strmap_set(cloud->eni_by_ip, text, eni);
    if (r == 0 && primary) {
        r = ccm_sim_params_set(&eni->obj.attrs, "PrivateIpAddress", text);
    }
    return r;
}

static int instance_fill(struct ccm_cloud *cloud, const cJSON *json,
                         struct ccm_cloud_instance *instance, const struct ccm_cloud_eni *eni)
{
    const char *name = ccm_json_str(json, "name");
    const char *status = ccm_json_str(json, "status");
    const struct ccm_cloud_pair pairs[] = {
        { "HostName", name == NULL ? instance->obj.id : name },
        { "InstanceName", name == NULL ? instance->obj.id : name },
        { "PrivateIp", ccm_cloud_attr(&eni->obj, "PrivateIpAddress") },
        { "RegionId", cloud->region },
        { "SecurityGroupId", ccm_json_str(json, "security_group") },
        { "Status", status == NULL ? "Running" : status },
        { "VSwitchId", ccm_cloud_attr(&eni->obj, "VSwitchId") },
        { "VpcId", ccm_cloud_attr(&eni->obj, "VpcId") },
        { "ZoneId", ccm_cloud_attr(&eni->obj, "ZoneId") },
    };
    int r = ccm_cloud_attrs_set(&instance->obj, pairs, CCM_ARRAY_LEN(pairs));

    return r < 0 ? r : read_tags(json, &instance->obj);
}

static int add_instance(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",     "ip",  "vswitch", "zone",           "name",
                                         "status", "eni", "tags",    "security_group", NULL };
    CCM_CLEANUP(ccm_freep) char *own = ccm_text_format("eni-%s", ccm_json_text(json, "id"));
    const char *id = ccm_json_text(json, "id");
    const char *ip = ccm_json_text(json, "ip");
    const char *eni_id = ccm_json_str(json, "eni");
    struct ccm_cloud_eni *eni = NULL;
    int r = check_members(json, "instance", names, why);

    if (r < 0 || own == NULL) {
        return r < 0 ? r : -ENOMEM;
    }

    const struct eni_plan plan = {
        .id = eni_id == NULL ? own : eni_id,
        .instance = id,
        .status = "InUse",
        .type = "Primary",
        .vswitch = vswitch_find(cloud, json, ip),
    };

    if (ccm_strmap_has(cloud->instances, id) || ccm_strmap_has(cloud->enis, plan.id)) {
        return bad(why, "instance", id, "or its network interface exists already");
    }
    if (plan.vswitch == NULL) {
        return bad(why, "instance", id, "no vSwitch fits");
    }
    r = eni_make(cloud, &plan, &eni);
    r = r < 0 ? r : eni_address(cloud, plan.vswitch, eni, ip, why);
    if (r < 0) {
        ccm_strmap_del(cloud->enis, plan.id);
        return r;
    }

    struct ccm_cloud_instance *instance = calloc(1, sizeof(*instance));

    if (instance == NULL) {
        return -ENOMEM;
    }
    r = ccm_cloud_obj_init(cloud, &instance->obj, id);
    r = r < 0 ? r : instance_fill(cloud, json, instance, eni);
    r = r < 0 ? r : ccm_strmap_set(cloud->instances, id, instance);
    if (r < 0) {
        ccm_cloud_instance_free(instance);
    }
    return r;
}

static int eni_addresses(struct ccm_cloud *cloud, struct ccm_cloud_vswitch *vswitch,
                         struct ccm_cloud_eni *eni, const cJSON *json, struct ccm_buf *why)
{
    const cJSON *ips = ccm_json_items(json, "ips");
    int r = 0;

    if (ips == NULL) {
        r = eni_address(cloud, vswitch, eni, ccm_json_text(json, "ip"), why);
    }
    for (; ips != NULL && r == 0; ips = ips->next) {
        r = eni_address(cloud, vswitch, eni, cJSON_IsString(ips) ? ips->valuestring : "?", why);
    }
    for (const cJSON *item = ccm_json_items(json, "ipv6"); item != NULL && r == 0;
         item = item->next) {
        r = cJSON_IsString(item) ? ccm_sim_params_set(&eni->ipv6, item->valuestring, "")
                                 : bad(why, "eni", eni->obj.id, "ipv6 must be texts");
    }
    return r;
}

static int add_eni(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",      "ip",     "ips",  "ipv6", "instance",
                                         "vswitch", "status", "zone", "tags", NULL };
    const char *id = ccm_json_text(json, "id");
    const cJSON *first = ccm_json_items(json, "ips");
    const char *ip = first == NULL ? ccm_json_text(json, "ip")
                                   : (cJSON_IsString(first) ? first->valuestring : "");
    const char *instance = ccm_json_text(json, "instance");
    const char *status = ccm_json_str(json, "status");
    const char *usual = ccm_text_empty(instance) ? "Available" : "InUse";
    struct ccm_cloud_eni *eni = NULL;
    int r = check_members(json, "eni", names, why);

    if (r < 0) {
        return r;
    }

    const struct eni_plan plan = {
        .id = id,
        .instance = instance,
        .status = status == NULL ? usual : status,
        .type = "Secondary",
        .vswitch = vswitch_find(cloud, json, ip),
    };

    if (ccm_strmap_has(cloud->enis, id)) {
        return bad(why, "eni", id, "exists already");
    }
    if (plan.vswitch == NULL) {
        return bad(why, "eni", id, "no vSwitch fits");
    }
    if (!ccm_text_empty(instance) && !ccm_strmap_has(cloud->instances, instance)) {
        return bad(why, "eni", id, "its instance does not exist");
    }
    r = eni_make(cloud, &plan, &eni);
    r = r < 0 ? r : eni_addresses(cloud, plan.vswitch, eni, json, why);
    return r < 0 ? r : read_tags(json, &eni->obj);
}

static int add_account(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",      "secret", "token", "expires_in_s",
                                         "account", "arn",    "root",  NULL };
    const cJSON *expiry = ccm_json_get(json, "expires_in_s");
    int64_t expires =
        expiry == NULL ? 0 : ccm_clock_wall_ms() + ccm_json_i64(json, "expires_in_s", 0) * 1000;
    int r = check_members(json, "account", names, why);

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

/* Members of the object that are texts or numbers -> attributes, by a table. */
static int plain_fill(const cJSON *json, struct ccm_cloud_obj *obj,
                      const struct ccm_cloud_pair *rows)
{
    int r = read_tags(json, obj);

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

    return r == -EEXIST ? bad(why, what, id, "exists already") : r;
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

static int add_cert(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
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
    int r = check_members(json, "certificate", names, why);

    r = r < 0 ? r : join(json, "sans", &sans);
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

static int add_cas_cert(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "name", "domain", "sans", "pem", "expires_in_days",
                                         NULL };
    static const struct ccm_cloud_pair rows[] = {
        { "name", "CertName" }, { "domain", "CommonName" }, { "pem", "Pem" }, { 0 }
    };
    CCM_CLEANUP(ccm_freep) char *sans = NULL;
    struct ccm_cloud_obj *cert = NULL;
    int r = check_members(json, "cas certificate", names, why);

    r = r < 0 ? r : join(json, "sans", &sans);
    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_CAS_CERT, "cas certificate", why, &cert);
    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_pair pair = { "Sans", sans };

    r = ccm_cloud_attrs_set(cert, &pair, 1);
    r = r < 0 ? r : plain_fill(json, cert, rows);
    return r < 0 ? r : expiry_set(json, cert, NULL, "AfterDate");
}

static int add_security_group(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "name", "vpc", "type", "tags", NULL };
    static const struct ccm_cloud_pair rows[] = {
        { "name", "SecurityGroupName" }, { "vpc", "VpcId" }, { "type", "SecurityGroupType" }, { 0 }
    };
    struct ccm_cloud_obj *group = NULL;
    int r = check_members(json, "security group", names, why);

    if (r == 0 && !ccm_strmap_has(cloud->vpcs, ccm_json_text(json, "vpc"))) {
        r = bad(why, "security group", ccm_json_text(json, "id"), "its vpc does not exist");
    }
    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_SECURITY_GROUP, "security group", why, &group);
    return r < 0 ? r : plain_fill(json, group, rows);
}

static int add_role(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "max_session_s", NULL };
    static const struct ccm_cloud_pair rows[] = { { "max_session_s", "MaxSessionDuration" },
                                                  { 0 } };
    struct ccm_cloud_obj *role = NULL;
    int r = check_members(json, "role", names, why);

    r = r < 0 ? r : plain_add(cloud, json, CCM_CLOUD_ROLE, "role", why, &role);
    return r < 0 ? r : plain_fill(json, role, rows);
}

/* Common bandwidth packages, which load balancers of NLB join. */
static int add_bandwidth_package(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id", "tags", NULL };
    struct ccm_cloud_obj *package = NULL;
    int r = check_members(json, "bandwidth package", names, why);

    r = r < 0 ? r
              : plain_add(cloud, json, CCM_CLOUD_BANDWIDTH_PACKAGE, "bandwidth package", why,
                          &package);
    return r < 0 ? r : read_tags(json, package);
}

static int load_list(struct ccm_cloud *cloud, const cJSON *list, struct ccm_buf *why,
                     int (*add)(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why))
{
    int r = 0;

    if (!cJSON_IsArray(list)) {
        return bad(why, "member", list->string, "must be a list");
    }
    for (const cJSON *item = list->child; item != NULL && r == 0; item = item->next) {
        r = add(cloud, item, why);
    }
    return r;
}

static int load_metadata(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    if (!cJSON_IsObject(json)) {
        return bad(why, "member", "metadata", "must be an object");
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
        { "instances", add_instance },
        { "enis", add_eni },
        { "accounts", add_account },
        { "certificates", add_cert },
        { "cas_certificates", add_cas_cert },
        { "security_groups", add_security_group },
        { "roles", add_role },
        { "bandwidth_packages", add_bandwidth_package },
    };

    if (ccm_text_equal(item->string, "region")) {
        if (!cJSON_IsString(item)) {
            return bad(why, "member", "region", "must be text");
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
    return bad(why, "member", item->string, "is not known");
}

int ccm_cloud_fixtures_load(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    int r = 0;

    if (!cJSON_IsObject(json)) {
        return bad(why, "fixtures", "", "must be an object");
    }
    for (const cJSON *item = json->child; item != NULL && r == 0; item = item->next) {
        r = load_member(cloud, item, why);
    }
    return r;
}
