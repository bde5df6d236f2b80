#include "control.h"
#include "nlb.h"
#include "plain.h"
#include "route.h"
#include "store.h"

static void pairs_write(struct ccm_jsonw *w, const struct ccm_sim_params *pairs)
{
    for (size_t i = 0; i < pairs->len; i++) {
        ccm_jsonw_str(w, pairs->items[i].name, pairs->items[i].value);
    }
}

static void tags_write(struct ccm_jsonw *w, const struct ccm_cloud_obj *obj)
{
    ccm_jsonw_open(w, "Tags", '{');
    pairs_write(w, &obj->tags);
    ccm_jsonw_close(w, '}');
}

static void backends_write(struct ccm_jsonw *w, const struct ccm_cloud_vgroup *group)
{
    ccm_jsonw_open(w, "BackendServers", '[');
    for (size_t i = 0; i < group->len; i++) {
        const struct ccm_cloud_backend *backend = &group->backends[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "ServerId", backend->server_id);
        ccm_jsonw_str(w, "ServerIp", backend->server_ip);
        ccm_jsonw_str(w, "Type", backend->type);
        ccm_jsonw_i64(w, "Port", backend->port);
        ccm_jsonw_i64(w, "Weight", backend->weight);
        ccm_jsonw_str(w, "Description", backend->description);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void lb_write(struct ccm_jsonw *w, const struct ccm_cloud_lb *lb)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "LoadBalancerId", lb->obj.id);
    pairs_write(w, &lb->obj.attrs);
    tags_write(w, &lb->obj);
    ccm_jsonw_open(w, "Listeners", '[');
    for (size_t i = 0; i < lb->listeners_len; i++) {
        const struct ccm_cloud_listener *listener = lb->listeners[i];

        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_i64(w, "ListenerPort", listener->port);
        ccm_jsonw_str(w, "ListenerProtocol", listener->protocol);
        pairs_write(w, &listener->obj.attrs);
        tags_write(w, &listener->obj);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_open(w, "VServerGroups", '[');
    for (size_t i = 0; i < lb->vgroups_len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "VServerGroupId", lb->vgroups[i]->obj.id);
        pairs_write(w, &lb->vgroups[i]->obj.attrs);
        tags_write(w, &lb->vgroups[i]->obj);
        backends_write(w, lb->vgroups[i]);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void obj_write(struct ccm_jsonw *w, const char *id_name, const struct ccm_cloud_obj *obj)
{
    ccm_jsonw_str(w, id_name, obj->id);
    pairs_write(w, &obj->attrs);
    tags_write(w, obj);
}

static void lbs_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "loadBalancers", '[');
    while (ccm_strmap_next(cloud->lbs, &cursor, &id, &value) != 0) {
        lb_write(w, value);
    }
    ccm_jsonw_close(w, ']');
}

static void vswitches_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "vSwitches", '[');
    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vswitch *vswitch = value;

        ccm_jsonw_open(w, NULL, '{');
        obj_write(w, "VSwitchId", &vswitch->obj);
        ccm_jsonw_i64(w, "AvailableIpAddressCount", ccm_cloud_vswitch_available(vswitch));
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void enis_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "networkInterfaces", '[');
    while (ccm_strmap_next(cloud->enis, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_eni *eni = value;

        ccm_jsonw_open(w, NULL, '{');
        obj_write(w, "NetworkInterfaceId", &eni->obj);
        ccm_jsonw_open(w, "PrivateIps", '[');
        for (size_t i = 0; i < eni->ips.len; i++) {
            ccm_jsonw_str(w, NULL, eni->ips.items[i].name);
        }
        ccm_jsonw_close(w, ']');
        ccm_jsonw_open(w, "Ipv6Addresses", '[');
        for (size_t i = 0; i < eni->ipv6.len; i++) {
            ccm_jsonw_str(w, NULL, eni->ipv6.items[i].name);
        }
        ccm_jsonw_close(w, ']');
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void instances_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "instances", '[');
    while (ccm_strmap_next(cloud->instances, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_instance *instance = value;

        ccm_jsonw_open(w, NULL, '{');
        obj_write(w, "InstanceId", &instance->obj);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void vpcs_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(w, "vpcs", '[');
    while (ccm_strmap_next(cloud->vpcs, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_vpc *vpc = value;

        ccm_jsonw_open(w, NULL, '{');
        obj_write(w, "VpcId", &vpc->obj);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

void ccm_cloud_state(struct ccm_cloud *cloud, struct ccm_sim_reply *reply)
{
    struct ccm_jsonw w = { .buf = &reply->body };

    ccm_cloud_lock(cloud);
    ccm_cloud_advance(cloud);
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "regionId", cloud->region);
    lbs_write(&w, cloud);
    vpcs_write(&w, cloud);
    vswitches_write(&w, cloud);
    instances_write(&w, cloud);
    enis_write(&w, cloud);
    ccm_cloud_routes_advance(cloud);
    ccm_cloud_plain_write(&w, cloud);
    ccm_nlb_state(&w, cloud);
    ccm_jsonw_close(&w, '}');
    ccm_cloud_unlock(cloud);
}
