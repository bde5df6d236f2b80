/* Instances and network interfaces of a fixture file. */
#include "fixtures_part.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>

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
        return ccm_cloud_fixture_bad(why, "address", wanted,
                                     r == -EINVAL ? "is not in the vSwitch" : "is taken");
    }
    r = r < 0 ? r : ccm_sim_params_set(&eni->ips, text, primary ? "true" : "false");
    r = r < 0 ? r : ccm_strmap_set(cloud->eni_by_ip, text, eni);
    if (r == 0 && primary) {
        r = ccm_sim_params_set(&eni->obj.attrs, "PrivateIpAddress", text);
    }
    return r;
}

static int eni_read_ipv6(struct ccm_cloud_eni *eni, const cJSON *json, struct ccm_buf *why)
{
    int r = 0;

    for (const cJSON *item = ccm_json_items(json, "ipv6"); item != NULL && r == 0;
         item = item->next) {
        r = cJSON_IsString(item)
                ? ccm_sim_params_set(&eni->ipv6, item->valuestring, "")
                : ccm_cloud_fixture_bad(why, "eni", eni->obj.id, "ipv6 must be texts");
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

    return r < 0 ? r : ccm_cloud_fixture_tags(json, &instance->obj);
}

int ccm_cloud_fixture_instance(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
{
    static const char *const names[] = { "id",     "ip",  "ipv6", "vswitch",        "zone", "name",
                                         "status", "eni", "tags", "security_group", NULL };
    CCM_CLEANUP(ccm_freep) char *own = ccm_text_format("eni-%s", ccm_json_text(json, "id"));
    const char *id = ccm_json_text(json, "id");
    const char *ip = ccm_json_text(json, "ip");
    const char *eni_id = ccm_json_str(json, "eni");
    struct ccm_cloud_eni *eni = NULL;
    int r = ccm_cloud_fixture_check(json, "instance", names, why);

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
        return ccm_cloud_fixture_bad(why, "instance", id,
                                     "or its network interface exists already");
    }
    if (plan.vswitch == NULL) {
        return ccm_cloud_fixture_bad(why, "instance", id, "no vSwitch fits");
    }
    r = eni_make(cloud, &plan, &eni);
    r = r < 0 ? r : eni_address(cloud, plan.vswitch, eni, ip, why);
    r = r < 0 ? r : eni_read_ipv6(eni, json, why);
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
        return r;
    }
    return ccm_cloud_eni_attach(cloud, eni);
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
    return r < 0 ? r : eni_read_ipv6(eni, json, why);
}

int ccm_cloud_fixture_eni(struct ccm_cloud *cloud, const cJSON *json, struct ccm_buf *why)
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
    int r = ccm_cloud_fixture_check(json, "eni", names, why);

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
        return ccm_cloud_fixture_bad(why, "eni", id, "exists already");
    }
    if (plan.vswitch == NULL) {
        return ccm_cloud_fixture_bad(why, "eni", id, "no vSwitch fits");
    }
    if (!ccm_text_empty(instance) && !ccm_strmap_has(cloud->instances, instance)) {
        return ccm_cloud_fixture_bad(why, "eni", id, "its instance does not exist");
    }
    r = eni_make(cloud, &plan, &eni);
    r = r < 0 ? r : eni_addresses(cloud, plan.vswitch, eni, json, why);
    r = r < 0 ? r : ccm_cloud_fixture_tags(json, &eni->obj);
    return r < 0 ? r : ccm_cloud_eni_attach(cloud, eni);
}
