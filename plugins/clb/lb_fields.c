#include "lb_fields.h"

#include "lbc/apply/token.h"
#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(member) offsetof(struct clb_lb, member)

const struct clb_lb_field clb_lb_fields[CLB_LB_FIELD_COUNT] = {
    [CLB_LB_NAME] = { "name", "LoadBalancerName", NULL, NULL, TEXT(name) },
    [CLB_LB_ADDRESS_TYPE] = { "address-type", "AddressType", NULL,
                              "LoadBalancer AddressType once created. delete and retry",
                              TEXT(address_type) },
    [CLB_LB_VSWITCH] = { "vswitch-id", "VSwitchId", NULL,
                         "LoadBalancer vSwitch once created. delete and retry", TEXT(vswitch_id) },
    [CLB_LB_NETWORK] = { "network-type", "NetworkType", NULL,
                         "LoadBalancer network type once created", TEXT(network_type) },
    [CLB_LB_MASTER] = { "master-zoneid", "MasterZoneId", NULL,
                        "LoadBalancer master zone id once created", TEXT(master_zone) },
    [CLB_LB_SLAVE] = { "slave-zoneid", "SlaveZoneId", NULL,
                       "LoadBalancer slave zone id once created", TEXT(slave_zone) },
    [CLB_LB_IP_VERSION] = { "ip-version", "AddressIPVersion", NULL,
                            "LoadBalancer AddressIPVersion once created", TEXT(ip_version) },
    [CLB_LB_GROUP] = { "resource-group-id", "ResourceGroupId", NULL, "ResourceGroupId once created",
                       TEXT(resource_group) },
    [CLB_LB_ADDRESS] = { "ip", "Address", NULL, "LoadBalancer address once created",
                         TEXT(address) },
    [CLB_LB_TRAFFIC_CHARGE] = { "charge-type", "InternetChargeType", "InternetChargeTypeAlias",
                                NULL, TEXT(traffic_charge) },
    [CLB_LB_BANDWIDTH] = { "bandwidth", "Bandwidth", NULL, NULL, TEXT(bandwidth) },
    [CLB_LB_SPEC] = { "spec", "LoadBalancerSpec", NULL, NULL, TEXT(spec) },
    [CLB_LB_CHARGE] = { "instance-charge-type", "InstanceChargeType", NULL, NULL,
                        TEXT(charge_type) },
    [CLB_LB_MODIFICATION] = { "modification-protection", "ModificationProtectionStatus", NULL, NULL,
                              TEXT(modification) },
    [CLB_LB_PROTECT] = { "delete-protection", "DeleteProtection", NULL, NULL, SIZE_MAX },
};

static char **text_of(struct clb_lb *lb, enum clb_lb_field_id id)
{
    return (char **)(void *)((char *)lb + clb_lb_fields[id].offset);
}

const char *clb_lb_get(const struct clb_lb *lb, enum clb_lb_field_id id)
{
    return *(char *const *)(const void *)((const char *)lb + clb_lb_fields[id].offset);
}

int clb_lb_set(struct clb_lb *lb, enum clb_lb_field_id id, const char *value)
{
    return lbc_text_set(text_of(lb, id), value);
}

void clb_lb_fini(struct clb_lb *lb)
{
    for (size_t i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        if (clb_lb_fields[i].offset != SIZE_MAX) {
            free(*text_of(lb, (enum clb_lb_field_id)i));
        }
    }
    free(lb->id);
    free(lb->vpc_id);
    free(lb->eips);
    lbc_tags_fini(&lb->tags);
    memset(lb, 0, sizeof(*lb));
}

uint64_t clb_lb_charge_what(const struct clb_lb *lb, const char *traffic_charge,
                            const char *bandwidth)
{
    struct lbc_token token = LBC_TOKEN_INIT;

    lbc_token_add(&token, lb->id);
    lbc_token_add(&token, traffic_charge);
    lbc_token_add(&token, bandwidth);
    return token.hash == 0 ? 1 : token.hash;
}

int clb_lb_copy(struct clb_lb *to, const struct clb_lb *from)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < CLB_LB_FIELD_COUNT; i++) {
        if (clb_lb_fields[i].offset != SIZE_MAX) {
            r = clb_lb_set(to, (enum clb_lb_field_id)i, clb_lb_get(from, (enum clb_lb_field_id)i));
        }
    }
    to->protect = from->protect;
    to->untagged = from->untagged;
    to->partial = from->partial;
    if (r < 0 || lbc_text_set(&to->id, from->id) < 0 ||
        lbc_text_set(&to->vpc_id, from->vpc_id) < 0 || lbc_text_set(&to->eips, from->eips) < 0) {
        return -ENOMEM;
    }
    return lbc_tags_copy(&to->tags, &from->tags);
}
