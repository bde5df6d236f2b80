#include "machine.h"

#include "util/array.h"
#include "util/cidr.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POOL_TAG "ack.alibabacloud.com/nodepool-id"

const struct node_label node_labels[NODE_LABELS] = {
    { "beta.kubernetes.io/instance-type", NODE_FACT_TYPE, false },
    { "node.kubernetes.io/instance-type", NODE_FACT_TYPE, false },
    { "failure-domain.beta.kubernetes.io/zone", NODE_FACT_ZONE, false },
    { "topology.kubernetes.io/zone", NODE_FACT_ZONE, false },
    { "failure-domain.beta.kubernetes.io/region", NODE_FACT_REGION, false },
    { "topology.kubernetes.io/region", NODE_FACT_REGION, false },
    { NODE_LABEL_SEEN, NODE_FACT_CHARGE, true },
    { "node.alibabacloud.com/spot-strategy", NODE_FACT_SPOT, true },
    { "node.alibabacloud.com/nodepool-id", NODE_FACT_POOL, true },
};

static const char *machine_find_tag(const cJSON *machine, const char *key)
{
    for (const cJSON *tag = ccm_json_items(ccm_json_get(machine, "Tags"), "Tag"); tag != NULL;
         tag = tag->next) {
        if (strcmp(ccm_json_text(tag, "TagKey"), key) == 0) {
            return ccm_json_text(tag, "TagValue");
        }
    }
    return NULL;
}

const char *node_machine_fact(const cJSON *machine, enum node_fact fact)
{
    static const char *const members[NODE_FACTS] = {
        [NODE_FACT_TYPE] = "InstanceType", [NODE_FACT_ZONE] = "ZoneId",
        [NODE_FACT_REGION] = "RegionId",   [NODE_FACT_CHARGE] = "InstanceChargeType",
        [NODE_FACT_SPOT] = "SpotStrategy",
    };
    const char *text = NULL;

    if (fact == NODE_FACT_POOL) {
        return machine_find_tag(machine, POOL_TAG); /* "" counts */
    }
    text = ccm_json_text(machine, members[fact]);
    return text[0] == '\0' ? NULL : text;
}

const char *node_machine_status(const cJSON *machine)
{
    return ccm_json_text(machine, "Status");
}

static const cJSON *machine_find_primary(const cJSON *machine)
{
    const cJSON *item =
        ccm_json_items(ccm_json_get(machine, "NetworkInterfaces"), "NetworkInterface");

    while (item != NULL && strcmp(ccm_json_text(item, "Type"), "Primary") != 0) {
        item = item->next;
    }
    return item;
}

const char *node_machine_interface(const cJSON *machine)
{
    return ccm_json_text(machine_find_primary(machine), "NetworkInterfaceId");
}

static const cJSON *machine_find_private(const cJSON *machine)
{
    return ccm_json_items(ccm_json_path(machine, "VpcAttributes", "PrivateIpAddress", NULL),
                          "IpAddress");
}

bool node_machine_has_address(const cJSON *machine, const char *address)
{
    const cJSON *item = machine_find_private(machine);

    while (item != NULL && !(cJSON_IsString(item) && strcmp(item->valuestring, address) == 0)) {
        item = item->next;
    }
    return item != NULL;
}

/* ---- addresses ---- */

void node_addresses_fini(struct node_addresses *list)
{
    free(list->items);
    *list = (struct node_addresses){ 0 };
}

static int addresses_add(struct node_addresses *list, const char *type, const char *address)
{
    if (ccm_text_empty(address)) {
        return 0;
    }
    if (ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items)) < 0) {
        return -ENOMEM;
    }
    list->items[list->len++] = (struct ccm_node_address){ type, address };
    return 0;
}

static int addresses_add_texts(struct node_addresses *list, const char *type, const cJSON *item)
{
    int r = 0;

    for (; item != NULL && r == 0; item = item->next) {
        r = cJSON_IsString(item) ? addresses_add(list, type, item->valuestring) : 0;
    }
    return r;
}

static int addresses_add_ipv6(struct node_addresses *list, const cJSON *machine)
{
    const cJSON *set =
        ccm_json_items(ccm_json_get(machine_find_primary(machine), "Ipv6Sets"), "Ipv6Set");
    int r = 0;

    for (; set != NULL && r == 0; set = set->next) {
        r = addresses_add(list, "InternalIP", ccm_json_text(set, "Ipv6Address"));
    }
    return r;
}

int node_machine_addresses(const cJSON *machine, const struct ccm_node *node, bool ipv6,
                           struct node_addresses *ret)
{
    const cJSON *public = ccm_json_items(ccm_json_get(machine, "PublicIpAddress"), "IpAddress");
    const cJSON *inner = ccm_json_items(ccm_json_get(machine, "InnerIpAddress"), "IpAddress");
    int r = addresses_add_texts(ret, "ExternalIP", public);

    if (r == 0) {
        r = addresses_add(ret, "ExternalIP",
                          ccm_json_text(ccm_json_get(machine, "EipAddress"), "IpAddress"));
    }
    if (r == 0) {
        r = addresses_add_texts(ret, "InternalIP", inner);
    }
    if (r == 0) {
        r = addresses_add_texts(ret, "InternalIP", machine_find_private(machine));
    }
    if (r == 0 && ipv6) {
        r = addresses_add_ipv6(ret, machine);
    }
    for (uint64_t i = 0; i < node->address_count && r == 0; i++) {
        if (strcmp(node->addresses[i]->type, "Hostname") == 0) {
            r = addresses_add(ret, "Hostname", node->addresses[i]->address);
        }
    }
    return r;
}

/* Another address of the same type and family: it gives way to the chosen one. */
static bool address_rivals(const struct ccm_node_address *address,
                           const struct ccm_node_address *chosen)
{
    struct ccm_ip a;
    struct ccm_ip b;

    return strcmp(address->type, chosen->type) == 0 && ccm_ip_parse(address->address, &a) == 0 &&
           ccm_ip_parse(chosen->address, &b) == 0 && memcmp(&a, &b, sizeof(a)) != 0 &&
           ccm_ip_is_v4(&a) == ccm_ip_is_v4(&b);
}

static bool address_equals(const struct ccm_node_address *address, const struct ccm_ip *wanted)
{
    struct ccm_ip own;

    return ccm_ip_parse(address->address, &own) == 0 && memcmp(&own, wanted, sizeof(own)) == 0;
}

static bool addresses_choose_one(struct node_addresses *list, const struct ccm_ip *wanted)
{
    size_t found = 0;
    size_t kept = 0;

    while (found < list->len && !address_equals(&list->items[found], wanted)) {
        found++;
    }
    if (found == list->len) {
        return false;
    }

    const struct ccm_node_address chosen = list->items[found];

    for (size_t i = 0; i < list->len; i++) {
        if (!address_rivals(&list->items[i], &chosen)) {
            list->items[kept++] = list->items[i];
        }
    }
    list->len = kept;
    return true;
}

int node_addresses_choose(struct node_addresses *list, const char *wanted)
{
    const char *piece = NULL;
    size_t len = 0;
    bool any = false;

    while (ccm_parse_piece(&wanted, ',', &piece, &len)) {
        char text[CCM_IP_TEXT] = "";
        struct ccm_ip ip;

        if (len < sizeof(text)) {
            ccm_text_copy(text, len + 1, piece);
        }
        any = (ccm_ip_parse(text, &ip) == 0 && addresses_choose_one(list, &ip)) || any;
    }
    return any ? 0 : -ENOENT;
}

bool node_addresses_match(const struct node_addresses *list, const struct ccm_node *node)
{
    if (list->len != node->address_count) {
        return false;
    }
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->items[i].type, node->addresses[i]->type) != 0 ||
            strcmp(list->items[i].address, node->addresses[i]->address) != 0) {
            return false;
        }
    }
    return true;
}
