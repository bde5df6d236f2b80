#include "kube/decode_priv.h"

/* An int or a name: a text is a name, whatever it looks like. Unset means the port itself. */
static void decode_target(struct ccm_builder *b, const cJSON *json, struct ccm_service_port *port)
{
    const char *name = ccm_json_str(json, "targetPort");

    port->target_port_name = ccm_builder_text(b, name);
    if (name == NULL || name[0] == '\0') {
        port->target_port = ccm_json_i64(json, "targetPort", port->port);
    }
}

static int decode_ports(struct ccm_builder *b, const cJSON *spec, struct ccm_service *service,
                        struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r =
        ccm_decode_list(spec, "ports", cJSON_Object, CCM_DECODE_MAX_PORTS, &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = ccm_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const char *protocol = ccm_json_text(item, "protocol");
        struct ccm_service_port port = {
            .name = ccm_builder_text(b, ccm_json_text(item, "name")),
            .protocol = ccm_builder_text(b, protocol[0] == '\0' ? "TCP" : protocol),
            .app_protocol = ccm_builder_text(b, ccm_json_text(item, "appProtocol")),
            .port = ccm_json_i64(item, "port", 0),
            .node_port = ccm_json_i64(item, "nodePort", 0),
        };

        decode_target(b, item, &port);
        ccm_builder_put(b, list, i, &port, sizeof(port));
    }
    service->ports = list;
    service->port_count = count;
    return 0;
}

static int decode_ingress(struct ccm_builder *b, const cJSON *status, struct ccm_service *service,
                          struct ccm_error *err)
{
    const cJSON *balancer = NULL;
    const cJSON *item = NULL;
    size_t count = 0;
    int r = ccm_decode_object(status, "loadBalancer", &balancer, err);

    if (r == 0) {
        r = ccm_decode_list(balancer, "ingress", cJSON_Object, CCM_DECODE_MAX_LIST, &item, &count,
                            err);
    }
    if (r < 0) {
        return r;
    }

    void *list = ccm_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const struct ccm_ingress ingress = {
            .ip = ccm_builder_text(b, ccm_json_text(item, "ip")),
            .hostname = ccm_builder_text(b, ccm_json_text(item, "hostname")),
            .ip_mode = ccm_builder_text(b, ccm_json_text(item, "ipMode")),
        };

        ccm_builder_put(b, list, i, &ingress, sizeof(ingress));
    }
    service->ingress = list;
    service->ingress_count = count;
    return 0;
}

static int decode_status(struct ccm_builder *b, const cJSON *json, struct ccm_service *service,
                         struct ccm_error *err)
{
    const cJSON *status = NULL;
    int r = ccm_decode_object(json, "status", &status, err);

    if (r == 0) {
        r = decode_ingress(b, status, service, err);
    }
    if (r == 0) {
        r = ccm_decode_conditions(b, status, &service->conditions, &service->condition_count, err);
    }
    return r;
}

static void decode_scalars(struct ccm_builder *b, const cJSON *spec, struct ccm_service *service)
{
    service->type = ccm_builder_text(b, ccm_json_text(spec, "type"));
    service->load_balancer_class = ccm_builder_text(b, ccm_json_text(spec, "loadBalancerClass"));
    service->external_traffic_policy =
        ccm_builder_text(b, ccm_json_text(spec, "externalTrafficPolicy"));
    service->load_balancer_ip = ccm_builder_text(b, ccm_json_text(spec, "loadBalancerIP"));
    service->session_affinity = ccm_builder_text(b, ccm_json_text(spec, "sessionAffinity"));
    service->cluster_ip = ccm_builder_text(b, ccm_json_text(spec, "clusterIP"));
    service->health_check_node_port = ccm_json_i64(spec, "healthCheckNodePort", 0);
    service->allocate_node_ports = ccm_json_bool(spec, "allocateLoadBalancerNodePorts", true);
    service->session_affinity_timeout_s = ccm_json_i64(
        ccm_json_get(ccm_json_get(spec, "sessionAffinityConfig"), "clientIP"), "timeoutSeconds", 0);
    service->publish_not_ready_addresses = ccm_json_bool(spec, "publishNotReadyAddresses", false);
}

int ccm_decode_service(struct ccm_builder *b, const void *arg, struct ccm_error *err)
{
    const struct ccm_decode_source *source = arg;
    struct ccm_service service = { 0 };
    const cJSON *spec = NULL;
    int r = ccm_decode_meta(b, source, sizeof(service), &service.meta, err);

    if (r == 0) {
        r = ccm_decode_object(source->json, "spec", &spec, err);
    }
    if (r < 0) {
        return r;
    }
    decode_scalars(b, spec, &service);
    r = decode_ports(b, spec, &service, err);
    if (r == 0) {
        r = ccm_decode_texts(b, spec, "loadBalancerSourceRanges", CCM_DECODE_MAX_LIST,
                             &service.source_ranges, &service.source_range_count, err);
    }
    if (r == 0) {
        r = ccm_decode_texts(b, spec, "ipFamilies", CCM_DECODE_MAX_LIST, &service.ip_families,
                             &service.ip_family_count, err);
    }
    if (r == 0) {
        r = decode_status(b, source->json, &service, err);
    }
    if (r < 0) {
        return r;
    }
    ccm_builder_root(b, &service, sizeof(service));
    return 0;
}
