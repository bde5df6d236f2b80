/* What the servers are that a request names. */
#include "nlb.h"
#include "util/text.h"

#include <arpa/inet.h>

static bool in_group_of(const struct ccm_nlb_group *group, const char *attr, const char *value)
{
    return ccm_text_equal_case(ccm_cloud_attr(&group->obj, attr), value);
}

static bool is_ipv6(const char *ip)
{
    struct in6_addr address;

    return inet_pton(AF_INET6, ip, &address) == 1;
}

static bool is_ip(const char *ip)
{
    struct in_addr address;

    return inet_pton(AF_INET, ip, &address) == 1 || is_ipv6(ip);
}

static int find_ecs(struct ccm_cloud_call *call, const char *id, struct ccm_nlb_finding *ret)
{
    const struct ccm_cloud_instance *instance = ccm_strmap_get(call->cloud->instances, id);

    if (instance == NULL) {
        return ccm_nlb_fail_absent(call, "Ecs");
    }
    *ret = (struct ccm_nlb_finding){
        .ip = ccm_cloud_attr(&instance->obj, "PrivateIp"),
        .vpc = ccm_cloud_attr(&instance->obj, "VpcId"),
        .zone = ccm_cloud_attr(&instance->obj, "ZoneId"),
    };
    return 0;
}

static int find_eni(struct ccm_cloud_call *call, const char *id, const char *ip,
                    struct ccm_nlb_finding *ret)
{
    const struct ccm_cloud_eni *eni = ccm_strmap_get(call->cloud->enis, id);

    if (eni == NULL) {
        return ccm_cloud_fail(call, 404, "ResourceNotFound.Eni",
                              "The specified resource Eni is not found.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(&eni->obj, "Status"), "InUse")) {
        return ccm_cloud_fail(call, 400, "IncorrectStatus.Eni", "Eni status is invalid.");
    }
    if (!ccm_text_empty(ip) && ccm_sim_params_get(&eni->ips, ip) == NULL &&
        ccm_sim_params_get(&eni->ipv6, ip) == NULL) {
        return ccm_nlb_fail_illegal(call, "IllegalParam.IP", "IP");
    }
    *ret = (struct ccm_nlb_finding){
        .ip = ccm_text_empty(ip) ? ccm_cloud_attr(&eni->obj, "PrivateIpAddress") : ip,
        .vpc = ccm_cloud_attr(&eni->obj, "VpcId"),
        .zone = ccm_cloud_attr(&eni->obj, "ZoneId"),
    };
    return 0;
}

/* In a group of addresses both id and address are the address. */
static int find_ip(struct ccm_cloud_call *call, const struct ccm_nlb_group *group, const char *id,
                   const char *ip, struct ccm_nlb_finding *ret)
{
    if (ccm_text_empty(ip)) {
        return ccm_cloud_fail(call, 400, "MissingParam.IP", "The param of IP is missing.");
    }
    if (!is_ip(ip) || !ccm_text_equal(ip, id)) {
        return ccm_nlb_fail_illegal(call, "IllegalParam.IP", "IP");
    }
    *ret = (struct ccm_nlb_finding){
        .ip = ip,
        .vpc = ccm_cloud_attr(&group->obj, "VpcId"),
        .zone = "",
    };
    return 0;
}

int ccm_nlb_server_find(struct ccm_cloud_call *call, const struct ccm_nlb_group *group,
                        const struct ccm_nlb_server *server, struct ccm_nlb_finding *ret)
{
    bool by_ip = ccm_text_equal(server->type, "Ip");
    int r = 0;

    if (by_ip != in_group_of(group, "ServerGroupType", "Ip")) {
        return ccm_nlb_fail_mismatch(call, "ServerType", server->type, group->obj.id);
    }
    if (by_ip) {
        r = find_ip(call, group, server->id, server->ip, ret);
    } else if (ccm_text_equal(server->type, "Ecs")) {
        r = find_ecs(call, server->id, ret);
    } else if (ccm_text_equal(server->type, "Eni")) {
        r = find_eni(call, server->id, server->ip, ret);
    } else {
        r = ccm_nlb_fail_absent(call, "Eci"); /* this cloud has no container instances */
    }
    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ret->vpc, ccm_cloud_attr(&group->obj, "VpcId"))) {
        return ccm_nlb_fail_mismatch(call, "VpcId", server->id, group->obj.id);
    }
    if (is_ipv6(ret->ip) && !in_group_of(group, "AddressIPVersion", "DualStack")) {
        return ccm_nlb_fail_denied(call, "ServerGroupNotSupportIpv6");
    }
    if (!ccm_text_empty(server->ip) && !ccm_text_equal(server->ip, ret->ip)) {
        return ccm_nlb_fail_illegal(call, "IllegalParam.IP", "IP");
    }
    return 0;
}
