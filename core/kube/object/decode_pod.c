/* Decoder of Pods. */
#include "kube/object/decode_priv.h"

/* The text `member` of each object of a list. */
static int pod_decode_texts(struct kube_builder *b, const cJSON *objects, const char *member,
                            const char *const **ret, uint64_t *ret_count, struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(objects, cJSON_Object, KUBE_DECODE_MAX_LIST, &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        kube_builder_put_text(b, list, i, ccm_json_text(item, member));
    }
    *ret = list;
    *ret_count = count;
    return 0;
}

int kube_decode_pod(struct kube_builder *b, const void *arg, struct ccm_error *err)
{
    const struct kube_decode_source *source = arg;
    struct ccm_pod pod = { 0 };
    const cJSON *spec = NULL;
    const cJSON *status = NULL;
    int r = kube_decode_meta(b, source, sizeof(pod), &pod.meta, err);

    if (r == 0) {
        r = kube_decode_object(source->json, "spec", &spec, err);
    }
    if (r == 0) {
        r = kube_decode_object(source->json, "status", &status, err);
    }
    if (r < 0) {
        return r;
    }
    pod.phase = kube_builder_text(b, ccm_json_text(status, "phase"));
    pod.node_name = kube_builder_text(b, ccm_json_text(spec, "nodeName"));
    pod.ip = kube_builder_text(b, ccm_json_text(status, "podIP"));
    pod.host_network = ccm_json_bool(spec, "hostNetwork", false) ? 1 : 0;
    r = pod_decode_texts(b, ccm_json_get(spec, "readinessGates"), "conditionType",
                         &pod.readiness_gates, &pod.readiness_gate_count, err);
    if (r == 0) {
        r = pod_decode_texts(b, ccm_json_get(status, "podIPs"), "ip", &pod.ips, &pod.ip_count, err);
    }
    if (r == 0) {
        r = kube_decode_conditions(b, status, &pod.conditions, &pod.condition_count, err);
    }
    if (r < 0) {
        return r;
    }
    kube_builder_root(b, &pod, sizeof(pod));
    return 0;
}
