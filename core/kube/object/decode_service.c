/* Decoder of Services. */
#include "kube/object/decode_priv.h"

/* An int or a name: a text is a name, whatever it looks like. Unset means the port itself. */
static void decode_target(struct kube_builder *b, const cJSON *json, struct ccm_service_port *port)
{
    const char *name = ccm_json_str(json, "targetPort");

    port->target_port_name = kube_builder_text(b, name);
    if (name == NULL || name[0] == '\0') {
        port->target_port = ccm_json_i64(json, "targetPort", port->port);
    }
}

static int service_decode_ports(struct kube_builder *b, const cJSON *spec,
                                struct ccm_service *service, struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(ccm_json_get(spec, "ports"), cJSON_Object, KUBE_DECODE_MAX_PORTS,
                                   &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const char *protocol = ccm_json_text(item, "protocol");
        struct ccm_service_port port = {
            .name = kube_builder_text(b, ccm_json_text(item, "name")),
            .protocol = kube_builder_text(b, protocol[0] == '\0' ? "TCP" : protocol),
            .app_protocol = kube_builder_text(b, ccm_json_text(item, "appProtocol")),
            .port = ccm_json_i64(item, "port", 0),
            .node_port = ccm_json_i64(item, "nodePort", 0),
        };

        decode_target(b, item, &port);
        kube_builder_put(b, list, i, &port, sizeof(port));
    }
    service->ports = list;
    service->port_count = count;
    return 0;
}

static int decode_ingress(struct kube_builder *b, const cJSON *status, struct ccm_service *service,
                          struct ccm_error *err)
{
    const cJSON *balancer = NULL;
    const cJSON *item = NULL;
    size_t count = 0;
    int r = kube_decode_object(status, "loadBalancer", &balancer, err);

    if (r == 0) {
        r = kube_decode_list(ccm_json_get(balancer, "ingress"), cJSON_Object, KUBE_DECODE_MAX_LIST,
                             &item, &count, err);
    }
    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const struct ccm_ingress ingress = {
            .ip = kube_builder_text(b, ccm_json_text(item, "ip")),
            .hostname = kube_builder_text(b, ccm_json_text(item, "hostname")),
            .ip_mode = kube_builder_text(b, ccm_json_text(item, "ipMode")),
        };

        kube_builder_put(b, list, i, &ingress, sizeof(ingress));
    }
    service->ingress = list;
    service->ingress_count = count;
    return 0;
}

static int decode_status(struct kube_builder *b, const cJSON *json, struct ccm_service *service,
                         struct ccm_error *err)
{
    const cJSON *status = NULL;
    int r = kube_decode_object(json, "status", &status, err);

    if (r == 0) {
        r = decode_ingress(b, status, service, err);
    }
    if (r == 0) {
        r = kube_decode_conditions(b, status, &service->conditions, &service->condition_count, err);
    }
    return r;
}

static void decode_scalars(struct kube_builder *b, const cJSON *spec, struct ccm_service *service)
{
    service->type = kube_builder_text(b, ccm_json_text(spec, "type"));
    service->load_balancer_class = kube_builder_text(b, ccm_json_text(spec, "loadBalancerClass"));
    service->external_traffic_policy =
        kube_builder_text(b, ccm_json_text(spec, "externalTrafficPolicy"));
    service->load_balancer_ip = kube_builder_text(b, ccm_json_text(spec, "loadBalancerIP"));
    service->session_affinity = kube_builder_text(b, ccm_json_text(spec, "sessionAffinity"));
    service->cluster_ip = kube_builder_text(b, ccm_json_text(spec, "clusterIP"));
    service->health_check_node_port = ccm_json_i64(spec, "healthCheckNodePort", 0);
    service->allocate_node_ports = ccm_json_bool(spec, "allocateLoadBalancerNodePorts", true);
    service->session_affinity_timeout_s = ccm_json_i64(
        ccm_json_get(ccm_json_get(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", 0);
    service->publish_not_ready_addresses = ccm_json_bool(spec, "publishNotReadyAddresses", false);
}

int kube_decode_service(struct kube_builder *b, const void *arg, struct ccm_error *err)
{
    const struct kube_decode_source *source = arg;
    struct ccm_service service = { 0 };
    const cJSON *spec = NULL;
    int r = kube_decode_meta(b, source, sizeof(service), &service.meta, err);

    if (r == 0) {
        r = kube_decode_object(source->json, "spec", &spec, err);
    }
    if (r < 0) {
        return r;
    }
    decode_scalars(b, spec, &service);
    r = service_decode_ports(b, spec, &service, err);
    if (r == 0) {
        r = kube_decode_texts(b, ccm_json_get(spec, "loadBalancerSourceRanges"),
                              KUBE_DECODE_MAX_LIST, &service.source_ranges,
                              &service.source_range_count, err);
    }
    if (r == 0) {
        r = kube_decode_texts(b, ccm_json_get(spec, "ipFamilies"), KUBE_DECODE_MAX_LIST,
                              &service.ip_families, &service.ip_family_count, err);
    }
    if (r == 0) {
        r = decode_status(b, source->json, &service, err);
    }
    if (r < 0) {
        return r;
    }
    kube_builder_root(b, &service, sizeof(service));
    return 0;
}
