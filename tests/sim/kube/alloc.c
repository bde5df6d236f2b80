#include "alloc.h"

#include "util/strmap.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTS (CCM_KS_PORT_MAX - CCM_KS_PORT_MIN + 1)

struct ccm_ks_alloc {
    bool ports[PORTS];
    struct ccm_strmap *ips; /* keys only */
    uint64_t random;
};

struct ccm_ks_alloc *ccm_ks_alloc_new(void)
{
    struct ccm_ks_alloc *alloc = calloc(1, sizeof(*alloc));

    if (alloc == NULL) {
        return NULL;
    }
    alloc->ips = ccm_strmap_new(NULL);
    alloc->random = 88172645463325252U;
    if (alloc->ips == NULL) {
        free(alloc);
        return NULL;
    }
    return alloc;
}

void ccm_ks_alloc_free(struct ccm_ks_alloc *alloc)
{
    if (alloc != NULL) {
        ccm_strmap_free(alloc->ips);
        free(alloc);
    }
}

/* xorshift: spreads well and gives the same sequence in every run. */
static uint64_t next_random(struct ccm_ks_alloc *alloc)
{
    alloc->random ^= alloc->random << 13;
    alloc->random ^= alloc->random >> 7;
    alloc->random ^= alloc->random << 17;
    return alloc->random;
}

static bool names_port(const cJSON *service, int port)
{
    const cJSON *spec = ccm_json_get(service, "spec");
    const cJSON *item;

    cJSON_ArrayForEach(item, ccm_json_get(spec, "ports"))
    {
        if (ccm_json_i64(item, "nodePort", 0) == port) {
            return true;
        }
    }
    return ccm_json_i64(spec, "healthCheckNodePort", 0) == port;
}

bool ccm_ks_alloc_port_taken(const struct ccm_ks_alloc *alloc, int port, const cJSON *old)
{
    if (port < CCM_KS_PORT_MIN || port > CCM_KS_PORT_MAX) {
        return false;
    }
    return alloc->ports[port - CCM_KS_PORT_MIN] && !names_port(old, port);
}

bool ccm_ks_alloc_ip_taken(const struct ccm_ks_alloc *alloc, const char *ip, const cJSON *old)
{
    return ccm_strmap_has(alloc->ips, ip) != 0 &&
           strcmp(ccm_json_text(ccm_json_get(old, "spec"), "clusterIP"), ip) != 0;
}

int ccm_ks_alloc_port(struct ccm_ks_alloc *alloc, const cJSON *object, const cJSON *old)
{
    const int start = (int)(next_random(alloc) % PORTS);

    for (int i = 0; i < PORTS; i++) {
        const int at = (start + i) % PORTS;
        const int port = CCM_KS_PORT_MIN + at;

        if (!alloc->ports[at] && !names_port(object, port) && !names_port(old, port)) {
            return port;
        }
    }
    return 0;
}

bool ccm_ks_alloc_ip(struct ccm_ks_alloc *alloc, char ip[16])
{
    for (int tries = 0; tries < 100000; tries++) {
        const uint32_t host = (uint32_t)(next_random(alloc) % ((1U << 20) - 512U)) + 256U;

        ccm_text_printf(ip, 16, "10.%u.%u.%u", 96U + (host >> 16), (host >> 8) & 255U, host & 255U);
        if (ccm_strmap_has(alloc->ips, ip) == 0) {
            return true;
        }
    }
    return false;
}

bool ccm_ks_alloc_ip6(struct ccm_ks_alloc *alloc, char ip[48])
{
    for (int tries = 0; tries < 100000; tries++) {
        const unsigned host = (unsigned)(next_random(alloc) % 0xffffU) + 1U;

        ccm_text_printf(ip, 48, "fd00:10:96::%x", host);
        if (ccm_strmap_has(alloc->ips, ip) == 0) {
            return true;
        }
    }
    return false;
}

static void mark_ip(struct ccm_ks_alloc *alloc, const char *ip, bool used)
{
    if (ip[0] == '\0' || strcmp(ip, "None") == 0) {
        return;
    }
    if (!used) {
        ccm_strmap_del(alloc->ips, ip);
    } else if (ccm_strmap_set(alloc->ips, ip, NULL) < 0) {
        return; /* ENOMEM: the address may be given twice */
    }
}

static void mark(struct ccm_ks_alloc *alloc, const cJSON *service, bool used)
{
    const cJSON *spec = ccm_json_get(service, "spec");
    const cJSON *item;
    int64_t port = ccm_json_i64(spec, "healthCheckNodePort", 0);

    if (port >= CCM_KS_PORT_MIN && port <= CCM_KS_PORT_MAX) {
        alloc->ports[port - CCM_KS_PORT_MIN] = used;
    }
    cJSON_ArrayForEach(item, ccm_json_get(spec, "ports"))
    {
        port = ccm_json_i64(item, "nodePort", 0);
        if (port >= CCM_KS_PORT_MIN && port <= CCM_KS_PORT_MAX) {
            alloc->ports[port - CCM_KS_PORT_MIN] = used;
        }
    }
    mark_ip(alloc, ccm_json_text(spec, "clusterIP"), used);
    cJSON_ArrayForEach(item, ccm_json_get(spec, "clusterIPs"))
    {
        mark_ip(alloc, cJSON_IsString(item) ? item->valuestring : "", used);
    }
}

void ccm_ks_alloc_record(struct ccm_ks_alloc *alloc, const cJSON *old, const cJSON *object)
{
    if (old != NULL) {
        mark(alloc, old, false);
    }
    if (object != NULL) {
        mark(alloc, object, true);
    }
}
