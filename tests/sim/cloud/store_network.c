/* VPCs, vSwitches and their addresses, instances, network interfaces. */
#include "store.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static void eni_detach(struct ccm_cloud_eni *eni)
{
    struct ccm_cloud_instance *instance = eni->instance;

    for (size_t i = 0; instance != NULL && i < instance->enis_len; i++) {
        if (instance->enis[i] == eni) {
            instance->enis_len--;
            memmove(instance->enis + i, instance->enis + i + 1,
                    (instance->enis_len - i) * sizeof(struct ccm_cloud_eni *));
        }
    }
    eni->instance = NULL;
}

int ccm_cloud_eni_attach(struct ccm_cloud *cloud, struct ccm_cloud_eni *eni)
{
    struct ccm_cloud_instance *instance =
        ccm_strmap_get(cloud->instances, ccm_cloud_attr(&eni->obj, "InstanceId"));

    if (instance == eni->instance) {
        return 0;
    }
    eni_detach(eni);
    if (instance == NULL) {
        return 0;
    }
    if (ccm_array_grow(&instance->enis, &instance->enis_cap, instance->enis_len + 1,
                       sizeof(struct ccm_cloud_eni *)) < 0) {
        return -ENOMEM;
    }
    instance->enis[instance->enis_len++] = eni;
    eni->instance = instance;
    return 0;
}

void ccm_cloud_eni_del(struct ccm_cloud *cloud, struct ccm_cloud_eni *eni)
{
    eni_detach(eni);
    for (size_t i = 0; i < eni->ips.len; i++) {
        ccm_cloud_address_give_back(cloud, eni->ips.items[i].name);
        ccm_strmap_del(cloud->eni_by_ip, eni->ips.items[i].name);
    }

    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(eni->obj.id);

    ccm_strmap_del(cloud->enis, id);
}

void ccm_cloud_instance_del(struct ccm_cloud *cloud, const char *id)
{
    struct ccm_cloud_instance *instance = ccm_strmap_get(cloud->instances, id);

    while (instance != NULL && instance->enis_len > 0) {
        ccm_cloud_eni_del(cloud, instance->enis[instance->enis_len - 1]);
    }
    ccm_strmap_del(cloud->instances, id);
}

void ccm_cloud_vpc_free(void *value)
{
    struct ccm_cloud_vpc *vpc = value;

    ccm_cloud_obj_fini(&vpc->obj);
    free(vpc);
}

void ccm_cloud_vswitch_free(void *value)
{
    struct ccm_cloud_vswitch *vswitch = value;

    ccm_cloud_obj_fini(&vswitch->obj);
    free(vswitch);
}

void ccm_cloud_instance_free(void *value)
{
    struct ccm_cloud_instance *instance = value;

    free(instance->enis);
    ccm_cloud_obj_fini(&instance->obj);
    free(instance);
}

void ccm_cloud_eni_free(void *value)
{
    struct ccm_cloud_eni *eni = value;

    ccm_sim_params_fini(&eni->ips);
    ccm_sim_params_fini(&eni->ipv6);
    ccm_cloud_obj_fini(&eni->obj);
    free(eni);
}

static int address_parse(const char *text, uint32_t *ret)
{
    struct in_addr address;

    if (inet_pton(AF_INET, text, &address) != 1) {
        return -EINVAL;
    }
    *ret = ntohl(address.s_addr);
    return 0;
}

static void address_format(uint32_t address, char *text)
{
    struct in_addr in = { .s_addr = htonl(address) };

    (void)inet_ntop(AF_INET, &in, text, INET_ADDRSTRLEN); /* the buffer is large enough */
}

int ccm_cloud_cidr_parse(const char *text, uint32_t *ret_base, uint32_t *ret_size)
{
    const char *slash = strchr(text, '/');
    char host[INET_ADDRSTRLEN];
    uint32_t bits = 0;
    uint32_t base = 0;

    if (slash == NULL || (size_t)(slash - text) >= sizeof(host) ||
        ccm_parse_u32(slash + 1, 1, 32, &bits) < 0) {
        return -EINVAL;
    }
    ccm_text_copy(host, (size_t)(slash - text) + 1, text);
    if (address_parse(host, &base) < 0) {
        return -EINVAL;
    }

    uint32_t size = 1U << (32 - bits);

    if ((base & (size - 1)) != 0) {
        return -EINVAL;
    }
    *ret_base = base;
    *ret_size = size;
    return 0;
}

int64_t ccm_cloud_vswitch_available(const struct ccm_cloud_vswitch *vswitch)
{
    /* The first address and the last three of a vSwitch belong to the service. */
    int64_t all = vswitch->size > 4 ? (int64_t)vswitch->size - 4 : 0;

    if (vswitch->limit >= 0 && vswitch->limit < all) {
        all = vswitch->limit;
    }
    return all > vswitch->used ? all - vswitch->used : 0;
}

static int take(struct ccm_cloud *cloud, struct ccm_cloud_vswitch *vswitch, const char *text)
{
    int r = ccm_strmap_set(cloud->addresses, text, vswitch);

    if (r == 0 && vswitch != NULL) {
        vswitch->used++;
    }
    return r;
}

int ccm_cloud_address_take(struct ccm_cloud *cloud, struct ccm_cloud_vswitch *vswitch,
                           const char *wanted, char *text)
{
    uint32_t address = 0;

    if (!ccm_text_empty(wanted)) {
        if (address_parse(wanted, &address) < 0 || address - vswitch->base >= vswitch->size) {
            return -EINVAL;
        }
        if (ccm_strmap_has(cloud->addresses, wanted)) {
            return -EADDRINUSE;
        }
        ccm_text_copy(text, INET_ADDRSTRLEN, wanted);
        return take(cloud, vswitch, text);
    }
    if (ccm_cloud_vswitch_available(vswitch) == 0) {
        return -ENOSPC;
    }
    for (uint32_t i = 0; i < vswitch->size; i++) {
        uint32_t offset = vswitch->next++ % vswitch->size;

        if (offset == 0 || offset >= vswitch->size - 3) {
            continue;
        }
        address_format(vswitch->base + offset, text);
        if (!ccm_strmap_has(cloud->addresses, text)) {
            return take(cloud, vswitch, text);
        }
    }
    return -ENOSPC;
}

int ccm_cloud_address_take_public(struct ccm_cloud *cloud, char *text)
{
    /* 47.96.0.0/15 belongs to the real service; it is only a number here. */
    const uint32_t base = 0x2F600000;
    const uint32_t size = 1U << 17;

    for (uint32_t i = 0; i < size; i++) {
        cloud->last_public = (cloud->last_public + 1) % size;
        address_format(base + cloud->last_public, text);
        if (!ccm_strmap_has(cloud->addresses, text)) {
            return take(cloud, NULL, text);
        }
    }
    return -ENOSPC;
}

void ccm_cloud_address_give_back(struct ccm_cloud *cloud, const char *address)
{
    struct ccm_cloud_vswitch *vswitch = ccm_strmap_get(cloud->addresses, address);

    if (vswitch != NULL) {
        vswitch->used--;
    }
    ccm_strmap_del(cloud->addresses, address);
}

struct ccm_cloud_vswitch *ccm_cloud_vswitch_of(const struct ccm_cloud *cloud, const char *address)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    uint32_t number = 0;

    if (address_parse(address, &number) < 0) {
        return NULL;
    }
    while (ccm_strmap_next(cloud->vswitches, &cursor, &id, &value) != 0) {
        struct ccm_cloud_vswitch *vswitch = value;

        if (number - vswitch->base < vswitch->size) {
            return vswitch;
        }
    }
    return NULL;
}
