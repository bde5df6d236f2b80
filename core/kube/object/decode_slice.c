/* Decoder of EndpointSlices. */
#include "kube/object/decode_priv.h"

#include "util/text.h"

#include <errno.h>
#include <string.h>

static uint64_t decode_flags(const cJSON *conditions)
{
    const bool ready = ccm_json_bool(conditions, "ready", true);
    const bool serving = ccm_json_bool(conditions, "serving", ready);
    const bool terminating = ccm_json_bool(conditions, "terminating", false);

    return (ready ? CCM_ENDPOINT_READY : 0) | (serving ? CCM_ENDPOINT_SERVING : 0) |
           (terminating ? CCM_ENDPOINT_TERMINATING : 0);
}

/* Of another namespace than the slice it is nobody's. */
static bool is_own_pod(const cJSON *target, const char *namespace_)
{
    const char *other = ccm_json_text(target, "namespace");

    return strcmp(ccm_json_text(target, "kind"), "Pod") == 0 &&
           (other[0] == '\0' || strcmp(other, namespace_) == 0);
}

/* Never 0 where there is a uid. */
static uint64_t decode_pod_mark(const cJSON *target, const char *namespace_)
{
    const char *uid = is_own_pod(target, namespace_) ? ccm_json_text(target, "uid") : "";
    const uint64_t hash = ccm_text_hash(uid);
    const uint64_t mark = (hash ^ (hash << 32)) & CCM_ENDPOINT_POD_MARK;

    if (uid[0] == '\0') {
        return 0;
    }
    return mark == 0 ? CCM_ENDPOINT_POD_MARK : mark;
}

/* *ret_address: the item of the address; those behind it are further ones. */
static int decode_endpoint(struct kube_builder *b, const cJSON *json, const char *namespace_,
                           struct ccm_endpoint *ret, const cJSON **ret_address,
                           struct ccm_error *err)
{
    const cJSON *address = NULL;
    const cJSON *conditions = NULL;
    const cJSON *target = NULL;
    size_t count = 0;
    int r = kube_decode_list(ccm_json_get(json, "addresses"), cJSON_String, KUBE_DECODE_MAX_LIST,
                             &address, &count, err);

    if (r == 0 && count == 0) {
        r = ccm_error_set(err, -EBADMSG, CCM_ERROR_TERMINAL, "an endpoint without address");
    }
    if (r == 0) {
        r = kube_decode_object(json, "conditions", &conditions, err);
    }
    if (r == 0) {
        r = kube_decode_object(json, "targetRef", &target, err);
    }
    if (r < 0) {
        return r;
    }

    *ret = (struct ccm_endpoint){
        .address = kube_builder_text(b, address->valuestring),
        .node_name = kube_builder_node_name(b, ccm_json_text(json, "nodeName")),
        .pod_name = kube_builder_text(
            b, is_own_pod(target, namespace_) ? ccm_json_text(target, "name") : ""),
        .flags = decode_flags(conditions) | decode_pod_mark(target, namespace_),
    };
    *ret_address = address;
    return 0;
}

/* Of all endpoints, the first of each left out. */
static size_t count_further(const cJSON *item)
{
    size_t count = 0;

    for (; item != NULL; item = item->next) {
        const int addresses = cJSON_GetArraySize(ccm_json_get(item, "addresses"));

        count += addresses > 1 ? (size_t)addresses - 1 : 0;
    }
    return count;
}

static int decode_endpoints(struct kube_builder *b, const cJSON *json,
                            struct ccm_endpoint_slice *slice, struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    int r = kube_decode_list(ccm_json_get(json, "endpoints"), cJSON_Object,
                             KUBE_DECODE_MAX_ENDPOINTS, &item, &count, err);

    if (r < 0) {
        return r;
    }

    const char *namespace_ = ccm_json_text(ccm_json_get(json, "metadata"), "namespace");
    const size_t most = count_further(item);
    void *list = kube_builder_list(b, count);
    void *further = kube_builder_list(b, most);
    size_t at = 0;

    for (size_t i = 0; i < count; i++, item = item->next) {
        struct ccm_endpoint endpoint;
        const cJSON *address = NULL;

        r = decode_endpoint(b, item, namespace_, &endpoint, &address, err);
        if (r < 0) {
            return ccm_error_wrap(err, r, "endpoints[%zu]", i);
        }
        kube_builder_put(b, list, i, &endpoint, sizeof(endpoint));
        for (address = address->next; address != NULL && at < most; address = address->next) {
            endpoint.address = kube_builder_text(b, address->valuestring);
            kube_builder_put(b, further, at++, &endpoint, sizeof(endpoint));
        }
    }
    slice->endpoints = list;
    slice->endpoint_count = count;
    slice->further = further;
    slice->further_count = at;
    return 0;
}

static int slice_decode_ports(struct kube_builder *b, const cJSON *json,
                              struct ccm_endpoint_slice *slice, struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(ccm_json_get(json, "ports"), cJSON_Object, KUBE_DECODE_MAX_PORTS,
                                   &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const char *protocol = ccm_json_text(item, "protocol");
        const struct ccm_endpoint_port port = {
            .name = kube_builder_text(b, ccm_json_text(item, "name")),
            .protocol = kube_builder_text(b, protocol[0] == '\0' ? "TCP" : protocol),
            .port = ccm_json_i64(item, "port", 0),
        };

        kube_builder_put(b, list, i, &port, sizeof(port));
    }
    slice->ports = list;
    slice->port_count = count;
    return 0;
}

int kube_decode_slice(struct kube_builder *b, const void *arg, struct ccm_error *err)
{
    const struct kube_decode_source *source = arg;
    const cJSON *labels = ccm_json_path(source->json, "metadata", "labels", NULL);
    struct ccm_endpoint_slice slice = { 0 };
    int r = kube_decode_meta(b, source, sizeof(slice), &slice.meta, err);

    if (r < 0) {
        return r;
    }
    slice.service_name = kube_builder_text(b, ccm_json_text(labels, "kubernetes.io/service-name"));
    slice.address_type = kube_builder_text(b, ccm_json_text(source->json, "addressType"));
    r = slice_decode_ports(b, source->json, &slice, err);
    if (r == 0) {
        r = decode_endpoints(b, source->json, &slice, err);
    }
    if (r < 0) {
        return r;
    }
    kube_builder_root(b, &slice, sizeof(slice));
    return 0;
}
