/* JSON of the cloud -> plain data. */
#include "read.h"

#include "lbc/rules/lb_attrs.h"
#include "owner_key.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int json_parse_texts(const cJSON *parent, const char *name, struct lbc_texts *ret)
{
    int r = 0;

    for (const cJSON *one = ccm_json_items(parent, name); r == 0 && one != NULL; one = one->next) {
        r = cJSON_IsString(one) ? lbc_texts_put(ret, one->valuestring) : 0;
    }
    return r;
}

/* --- load balancers --- */

static int json_parse_zones(const cJSON *parent, struct nlb_lb *ret)
{
    const cJSON *zone = ccm_json_items(parent, "ZoneMappings");
    int r = 0;

    for (; r == 0 && zone != NULL; zone = zone->next) {
        const cJSON *address = ccm_json_items(zone, "LoadBalancerAddresses");

        const char *id = ccm_json_text(zone, "ZoneId");

        if (id[0] == '\0') {
            return -EPROTO;
        }
        r = nlb_lb_put_zone(ret, id, ccm_json_text(zone, "VSwitchId"),
                            ccm_json_str(address, "PrivateIPv4Address"),
                            ccm_json_str(address, "AllocationId"));
    }
    return r;
}

int nlb_read_parse_lb(const cJSON *json, struct nlb_lb *ret)
{
    const char *id = ccm_json_text(json, "LoadBalancerId");
    int r;

    if (id[0] == '\0') {
        return -EPROTO;
    }
    if (lbc_text_set(&ret->lbc.id, id) < 0 ||
        lbc_text_set(&ret->dns, ccm_json_text(json, "DNSName")) < 0 ||
        lbc_text_set(&ret->lbc.vpc_id, ccm_json_text(json, "VpcId")) < 0 ||
        lbc_text_set(&ret->status, ccm_json_text(json, "LoadBalancerStatus")) < 0) {
        return -ENOMEM;
    }
    r = lbc_lb_parse(&nlb_annotations, json, ret->lbc.texts);
    r = r < 0 ? r : json_parse_zones(json, ret);
    r = r < 0 ? r : json_parse_texts(json, "SecurityGroupIds", &ret->security_groups);
    return r < 0 ? r : alilb_parse_tags(json, &ret->lbc.tags);
}

/* --- listeners --- */

int nlb_read_parse_listener(const cJSON *json, struct lbc_listener *ret)
{
    const char *id = ccm_json_text(json, "ListenerId");
    const char *status = ccm_json_text(json, "ListenerStatus");
    uint16_t port = 0;
    bool good = alilb_parse_port(json, "ListenerPort", &port);

    ret->port = port;
    ret->last_port = port;
    if (good && port == 0) {
        good = alilb_parse_port(json, "StartPort", &ret->port) &&
               alilb_parse_port(json, "EndPort", &ret->last_port) && ret->port > 0 &&
               ret->port <= ret->last_port;
        ret->is_range = true;
    }
    if (!good || id[0] == '\0') {
        return -EPROTO;
    }
    ret->changing =
        ccm_text_equal_case(status, "Provisioning") || ccm_text_equal_case(status, "Configuring");
    ret->protocol = lbc_protocol_parse(ccm_json_text(json, "ListenerProtocol"), NLB_PROTOCOLS);
    if (lbc_text_set(&ret->id, id) < 0 ||
        lbc_text_set(&ret->description, ccm_json_text(json, "ListenerDescription")) < 0 ||
        lbc_text_set(&ret->group_id, ccm_json_text(json, "ServerGroupId")) < 0) {
        return -ENOMEM;
    }

    const struct lbc_attr_answer answer = {
        .table = &nlb_annotations,
        .group = LBC_ANNO_LISTENER,
        .protocol = ret->protocol,
        .json = json,
        .other = ccm_json_get(json, "ProxyProtocolV2Config"),
        .other_bit = ALILB_ATTR_PPV2,
    };

    return lbc_attrs_add_answer(&ret->attrs, &answer);
}

/* --- groups --- */

int nlb_read_parse_group(const cJSON *json, struct nlb_group *ret)
{
    const char *id = ccm_json_text(json, "ServerGroupId");

    if (id[0] == '\0') {
        return -EPROTO;
    }
    ret->lbc.protocol = lbc_protocol_parse(ccm_json_text(json, "Protocol"), NLB_PROTOCOLS);
    ret->any_port = ccm_json_bool(json, "AnyPortEnabled", false);
    ret->lbc.unread = ccm_json_i64(json, "ServerCount", 1) != 0;
    if (lbc_text_set(&ret->lbc.id, id) < 0 ||
        lbc_text_set(&ret->lbc.name, ccm_json_text(json, "ServerGroupName")) < 0 ||
        lbc_text_set(&ret->type, ccm_json_text(json, "ServerGroupType")) < 0 ||
        lbc_text_set(&ret->family, ccm_json_text(json, "AddressIPVersion")) < 0 ||
        lbc_text_set(&ret->vpc_id, ccm_json_text(json, "VpcId")) < 0 ||
        (!nlb_name_is_key(ret->lbc.name) &&
         json_parse_texts(json, "RelatedLoadBalancerIds", &ret->users) < 0) ||
        alilb_parse_tags(json, &ret->tags) < 0) {
        return -ENOMEM;
    }

    const struct lbc_attr_answer answer = {
        .table = &nlb_annotations,
        .group = LBC_ANNO_SERVERS,
        .protocol = ret->lbc.protocol,
        .json = json,
        .other = ccm_json_get(json, "HealthCheck"),
        .other_bit = ALILB_ATTR_HEALTH,
    };

    return lbc_attrs_add_answer(&ret->lbc.attrs, &answer);
}

/* --- the security group --- */

int nlb_read_parse_rule(const cJSON *json, struct nlb_rule *ret)
{
    const char *ipv6 = ccm_json_text(json, "Ipv6SourceCidrIp");
    const int64_t priority = ccm_json_i64(json, "Priority", 0);

    if (!cJSON_IsObject(json)) {
        return -EPROTO;
    }
    ret->ipv6 = ipv6[0] != '\0';
    ret->drop = ccm_text_equal_case(ccm_json_text(json, "Policy"), "drop");
    ret->priority = priority < 0 || priority > 1000 ? 0 : (int)priority;
    if (lbc_text_set(&ret->id, ccm_json_text(json, "SecurityGroupRuleId")) < 0 ||
        lbc_text_set(&ret->cidr, ret->ipv6 ? ipv6 : ccm_json_text(json, "SourceCidrIp")) < 0 ||
        lbc_text_set(&ret->protocol, ccm_json_text(json, "IpProtocol")) < 0 ||
        lbc_text_set(&ret->port_range, ccm_json_text(json, "PortRange")) < 0 ||
        lbc_text_set(&ret->description, ccm_json_text(json, "Description")) < 0) {
        return -ENOMEM;
    }
    return 0;
}
