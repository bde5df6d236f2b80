#include "look.h"

#include "order.h"
#include "world.h"

#include "cloud.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/strmap.h"
#include "util/text.h"

#include <string.h>

#define PREFIX    "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
#define ID_LABEL  "service.k8s.alibaba/loadbalancer-id"
#define FINALIZER "service.k8s.alibaba/" /* begins so */
#define READY     "ccm.alibabacloud.com/LoadBalancerReady"
#define GATEWAYS  "/apis/gateway.networking.k8s.io/v1/gateways"

/* What of the values that histories use is refused. */
static const char *const bad_values[][2] = {
    { PREFIX "scheduler", "fastest" },    { PREFIX "health-check-interval", "often" },
    { PREFIX "healthy-threshold", "77" }, { PREFIX "id", "lb-none" },
    { PREFIX "id", "nlb-none" },
};

/* A member of a condition; "" = there is no such condition. */
static const char *condition_text(const cJSON *item, const char *type, const char *member)
{
    for (const cJSON *one = ccm_json_items(ccm_json_get(item, "status"), "conditions"); one != NULL;
         one = one->next) {
        if (strcmp(ccm_json_text(one, "type"), type) == 0) {
            return ccm_json_text(one, member);
        }
    }
    return "";
}

static cJSON *list_read(const char *path)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = (size_t)64 * 1024 * 1024 };
    cJSON *json = NULL;

    if (sim_kube("GET", path, NULL, &body) != 200 ||
        ccm_json_parse(ccm_buf_str(&body), body.len, &json) < 0) {
        return NULL; /* the kind is not defined */
    }
    return json;
}

static bool service_is_refused(const cJSON *service)
{
    const cJSON *annotations = ccm_json_get(ccm_json_get(service, "metadata"), "annotations");
    const char *id = ccm_json_text(annotations, PREFIX "id");
    const char *shown =
        ccm_json_text(ccm_json_get(ccm_json_get(service, "metadata"), "labels"), ID_LABEL);
    const bool nlb = ccm_json_str(ccm_json_get(service, "spec"), "loadBalancerClass") != NULL;

    if (id[0] != '\0' && !ccm_strmap_has(nlb ? sim_net.cloud->nlb->lbs : sim_net.cloud->lbs, id)) {
        return true;
    }
    if (id[0] != '\0' && shown[0] != '\0' && strcmp(id, shown) != 0) {
        return true; /* it had its own before */
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(bad_values); i++) {
        if (strcmp(ccm_json_text(annotations, bad_values[i][0]), bad_values[i][1]) == 0) {
            return true;
        }
    }
    return false;
}

/* Address or name in DNS of a load balancer that exists; "" = there is none of that id. */
static const char *address_of(const char *id)
{
    const struct ccm_cloud_lb *clb = ccm_strmap_get(sim_net.cloud->lbs, id);
    const struct ccm_nlb_lb *nlb = ccm_strmap_get(sim_net.cloud->nlb->lbs, id);

    return clb != NULL   ? ccm_cloud_attr(&clb->obj, "Address")
           : nlb != NULL ? ccm_cloud_attr(&nlb->obj, "DNSName")
                         : "";
}

/* The Service has an address, and it is that of its load balancer. */
static void look_at_address(const cJSON *service, const char *name)
{
    const char *id =
        ccm_json_text(ccm_json_get(ccm_json_get(service, "metadata"), "labels"), ID_LABEL);
    const cJSON *first =
        ccm_json_items(ccm_json_get(ccm_json_get(service, "status"), "loadBalancer"), "ingress");
    const char *ip = ccm_json_text(first, "ip");
    const char *found = ip[0] == '\0' ? ccm_json_text(first, "hostname") : ip;

    if (found[0] == '\0' || strcmp(found, address_of(id)) != 0) {
        sim_fail("Service %s says address [%s], and its load balancer [%s] has [%s]: %s", name,
                 found, id, address_of(id), condition_text(service, READY, "message"));
    }
}

/* A Warning about it. */
static bool event_exists(const char *name)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *events = list_read("/api/v1/events");

    for (const cJSON *one = ccm_json_items(events, "items"); one != NULL; one = one->next) {
        if (strcmp(ccm_json_text(ccm_json_get(one, "involvedObject"), "name"), name) == 0 &&
            strcmp(ccm_json_text(one, "type"), "Warning") == 0) {
            return true;
        }
    }
    return false;
}

static void look_at_balanced(const cJSON *service, const char *name)
{
    const char *ready = condition_text(service, READY, "status");

    if (service_is_refused(service)) {
        if (strcmp(ready, "False") != 0 || !event_exists(name)) {
            sim_fail("Service %s has a value that is refused, and condition %s is [%s]%s", name,
                     READY, ready, event_exists(name) ? "" : ", without an event");
        }
        return;
    }
    look_at_address(service, name);
    if (sim_look_is_ready(name) && strcmp(ready, "True") != 0) {
        sim_fail("Service %s is served, and condition %s is [%s]: %s", name, READY, ready,
                 condition_text(service, READY, "message"));
    }
}

/* Nothing of ours is on a Service of another type. */
static void look_at_released(const cJSON *service, const char *name)
{
    const cJSON *meta = ccm_json_get(service, "metadata");
    const cJSON *status = ccm_json_get(ccm_json_get(service, "status"), "loadBalancer");

    for (const cJSON *one = ccm_json_items(meta, "finalizers"); one != NULL; one = one->next) {
        if (cJSON_IsString(one) && ccm_text_starts(one->valuestring, FINALIZER)) {
            sim_fail("Service %s is none of ours any more, and has a finalizer", name);
        }
    }
    if (ccm_json_items(status, "ingress") != NULL ||
        condition_text(service, READY, "status")[0] != '\0' ||
        ccm_json_text(ccm_json_get(meta, "labels"), ID_LABEL)[0] != '\0') {
        sim_fail("Service %s is none of ours any more, and has an address, a condition or a label",
                 name);
    }
}

static bool dns_name_exists(const char *name)
{
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(sim_net.cloud->nlb->lbs, &cursor, NULL, &value)) {
        const struct ccm_nlb_lb *lb = value;

        if (strcmp(ccm_cloud_attr(&lb->obj, "DNSName"), name) == 0) {
            return true;
        }
    }
    return false;
}

static void look_at_gateway(const cJSON *gateway, const char *name)
{
    const char *address =
        ccm_json_text(ccm_json_items(ccm_json_get(gateway, "status"), "addresses"), "value");

    if (strcmp(condition_text(gateway, "Programmed", "status"), "True") != 0) {
        sim_fail("Gateway %s is not programmed: %s", name,
                 condition_text(gateway, "Programmed", "message"));
    }
    if (!dns_name_exists(address)) {
        sim_fail("Gateway %s says address [%s], which no load balancer has", name, address);
    }
}

void sim_look_at_status(void)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *services = list_read("/api/v1/services");
    CCM_CLEANUP(ccm_json_freep) cJSON *gateways = list_read(GATEWAYS);

    for (const cJSON *one = ccm_json_items(services, "items"); one != NULL; one = one->next) {
        const char *name = ccm_json_text(ccm_json_get(one, "metadata"), "name");

        if (strcmp(ccm_json_text(ccm_json_get(one, "spec"), "type"), "LoadBalancer") == 0) {
            look_at_balanced(one, name);
        } else {
            look_at_released(one, name);
        }
    }
    for (const cJSON *one = ccm_json_items(gateways, "items"); one != NULL; one = one->next) {
        look_at_gateway(one, ccm_json_text(ccm_json_get(one, "metadata"), "name"));
    }
}
