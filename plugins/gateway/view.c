#include "view.h"

#include "lbc/keys.h"
#include "lbc/model/class.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANNOTATIONS_OWN 2 /* protocol-port, cert-id */

/* The arrays belong to it, texts too where they are not the subject's. */
struct gateway_view {
    struct ccm_service service; /* first */
    struct gateway_subject *subject;
    char *uid;
    char *name;
    char *protocols;
    char *certificate;
    struct ccm_pair *pairs;
    const struct ccm_pair **annotations;
    struct gateway_port *ports;
    const struct ccm_service_port **port_list;
    struct ccm_ingress ingress;
    const struct ccm_ingress *ingress_list[1];
    struct ccm_condition condition;
    const struct ccm_condition *condition_list[1];
};

/* --- metadata --- */

/* Names of Gateways may have dots, which separate the parts of a key in the cloud. */
static char *view_format_name(const char *name)
{
    char *text = ccm_text_format("%s%s", GATEWAY_NAME_PREFIX, name);

    for (char *p = text; p != NULL && *p != '\0'; p++) {
        *p = *p == '.' ? '_' : *p;
    }
    return text;
}

static int view_set_meta(struct gateway_view *view)
{
    const struct ccm_object *object = view->subject->gateway.object;
    struct ccm_object *meta = &view->service.meta;

    *meta = *object;
    meta->struct_size = sizeof(view->service);
    meta->kind = CCM_KIND_SERVICE;
    view->uid = ccm_text_format("%c%s", GATEWAY_KIND, object->uid);
    view->name = view_format_name(object->name);
    meta->uid = view->uid;
    meta->name = view->name;
    return view->uid == NULL || view->name == NULL ? -ENOMEM : 0;
}

/* --- annotations --- */

static int pair_compare_key(const void *a, const void *b)
{
    return strcmp((*(const struct ccm_pair *const *)a)->key,
                  (*(const struct ccm_pair *const *)b)->key);
}

static void view_put_annotation(struct gateway_view *view, const char *key, const char *value)
{
    struct ccm_object *meta = &view->service.meta;
    struct ccm_pair *pair = &view->pairs[meta->annotation_count];

    *pair = (struct ccm_pair){ key, value };
    view->annotations[meta->annotation_count++] = pair;
}

/* What the listeners say, in the words of annotations. */
static int view_read_listeners(struct gateway_view *view)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf protocols = { .max = 4096 };
    const struct gateway_subject *subject = view->subject;

    for (size_t i = 0; i < subject->count; i++) {
        const struct gateway_listener *one = &subject->listeners[i];

        if (!gateway_listener_has_port(one) || one->protocol != LBC_TCPSSL) {
            continue;
        }
        ccm_buf_addf(&protocols, "%stcpssl:%lld", protocols.len == 0 ? "" : ",",
                     (long long)one->port);
        if (i < subject->own && view->certificate == NULL && one->certificates[0] != '\0' &&
            !one->uses_secrets) {
            view->certificate = strndup(one->certificates, strcspn(one->certificates, ","));
            if (view->certificate == NULL) {
                return -ENOMEM;
            }
        }
    }
    return protocols.len == 0 ? 0 : ccm_buf_take(&protocols, &view->protocols);
}

static int view_set_annotations(struct gateway_view *view)
{
    static const char certificate_key[] = LBC_ANNO_PREFIX "cert-id";
    struct ccm_strmap *said = view->subject->annotations;
    const size_t most = ccm_strmap_len(said) + ANNOTATIONS_OWN;
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    view->pairs = calloc(most, sizeof(*view->pairs));
    view->annotations = calloc(most, sizeof(const struct ccm_pair *));
    if (view->pairs == NULL || view->annotations == NULL || view_read_listeners(view) < 0) {
        return -ENOMEM;
    }
    view->service.meta.annotation_count = 0;
    view->service.meta.annotations = view->annotations;
    while (ccm_strmap_next(said, &cursor, &key, &value)) {
        view_put_annotation(view, key, value);
    }
    if (view->protocols != NULL) {
        view_put_annotation(view, LBC_ANNO_PREFIX "protocol-port", view->protocols);
    }
    if (view->certificate != NULL && !ccm_strmap_has(said, certificate_key)) {
        view_put_annotation(view, certificate_key, view->certificate);
    }
    qsort(view->annotations, view->service.meta.annotation_count, sizeof(const struct ccm_pair *),
          pair_compare_key);
    return 0;
}

/* --- ports --- */

/* Its number stands for where backends are reached, too: groups are named by it, and keep their
 * names whatever routes and Services say. */
static struct ccm_service_port port_of(const struct gateway_listener *listener)
{
    return (struct ccm_service_port){
        .name = listener->name,
        .protocol = listener->protocol == LBC_UDP ? "UDP" : "TCP",
        .app_protocol = "",
        .target_port_name = "",
        .port = listener->port,
        .target_port = listener->port,
        .node_port = listener->port,
    };
}

static int view_set_ports(struct gateway_view *view)
{
    const struct gateway_subject *subject = view->subject;
    struct ccm_service *service = &view->service;

    view->ports = calloc(subject->count + 1, sizeof(*view->ports));
    view->port_list = calloc(subject->count + 1, sizeof(const struct ccm_service_port *));
    if (view->ports == NULL || view->port_list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < subject->count; i++) {
        struct gateway_port *port = &view->ports[service->port_count];

        if (!gateway_listener_has_port(&subject->listeners[i])) {
            continue;
        }
        *port = (struct gateway_port){ port_of(&subject->listeners[i]), &subject->listeners[i],
                                       &subject->targets[i] };
        view->port_list[service->port_count++] = &port->port;
    }
    service->ports = view->port_list;
    return 0;
}

/* --- what it shows --- */

static void view_set_status(struct gateway_view *view)
{
    const cJSON *status = ccm_json_get(view->subject->gateway.json, "status");
    const cJSON *address = ccm_json_items(status, "addresses");
    const cJSON *one = ccm_json_items(status, "conditions");
    struct ccm_service *service = &view->service;

    if (address != NULL) {
        view->ingress = (struct ccm_ingress){ "", lbc_custom_text(address, "value", ""), "" };
        view->ingress_list[0] = &view->ingress;
        service->ingress = view->ingress_list;
        service->ingress_count = 1;
    }
    for (; one != NULL; one = one->next) {
        if (ccm_text_equal(ccm_json_text(one, "type"), LBC_LIFE_CONDITION)) {
            view->condition = (struct ccm_condition){
                .type = LBC_LIFE_CONDITION,
                .status = lbc_custom_text(one, "status", ""),
                .reason = lbc_custom_text(one, "reason", ""),
                .message = lbc_custom_text(one, "message", ""),
            };
            view->condition_list[0] = &view->condition;
            service->conditions = view->condition_list;
            service->condition_count = 1;
        }
    }
}

static void view_freep(struct gateway_view **view)
{
    struct gateway_view *one = *view;

    if (one == NULL) {
        return;
    }
    gateway_subject_freep(&one->subject);
    free(one->uid);
    free(one->name);
    free(one->protocols);
    free(one->certificate);
    free(one->pairs);
    free(one->annotations);
    free(one->ports);
    free(one->port_list);
    free(one);
}

static int view_new(const struct lbc_custom_front *front, const char *key,
                    const struct ccm_service **ret)
{
    const struct gateway *self = (const struct gateway *)front;
    CCM_CLEANUP(view_freep) struct gateway_view *view = calloc(1, sizeof(*view));
    int r = view == NULL ? -ENOMEM : gateway_subject_new(self, key, true, &view->subject);

    *ret = NULL;
    if (r < 0 || view->subject == NULL) {
        return r;
    }
    view->service.type = view->subject->claim == GATEWAY_OTHERS ? "ClusterIP" : "LoadBalancer";
    view->service.load_balancer_class = GATEWAY_CLASS;
    view->service.external_traffic_policy = "Cluster";
    view->service.load_balancer_ip = "";
    view->service.session_affinity = "None";
    view->service.cluster_ip = "";
    view->service.allocate_node_ports = 1;
    if (view_set_meta(view) < 0 || view_set_annotations(view) < 0 || view_set_ports(view) < 0) {
        return -ENOMEM;
    }
    view_set_status(view);
    *ret = &CCM_STEAL(view)->service;
    return 0;
}

static void view_free(const struct ccm_service *view)
{
    struct gateway_view *one = (struct gateway_view *)(uintptr_t)view;

    view_freep(&one);
}

bool gateway_view_is_ours(const struct ccm_service *service)
{
    return lbc_class_is(service, GATEWAY_CLASS);
}

/* --- the table --- */

static int view_services(const struct lbc_custom_front *front, const char *key,
                         struct ccm_strmap *to)
{
    CCM_CLEANUP(gateway_subject_freep) struct gateway_subject *subject = NULL;
    int r = gateway_subject_new((const struct gateway *)front, key, true, &subject);

    for (size_t i = 0; r == 0 && subject != NULL && i < subject->count; i++) {
        const struct gateway_targets *targets = &subject->targets[i];

        for (size_t j = 0; r == 0 && j < targets->len; j++) {
            r = ccm_strmap_set(to, targets->items[j].service->meta.key, NULL);
        }
    }
    return r;
}

const struct lbc_custom_kind gateway_views = {
    .kind = "Gateway",
    .api_version = GATEWAY_V1,
    .resource = "gateways",
    .view_new = view_new,
    .view_free = view_free,
    .services = view_services,
};
