#include "subject.h"

#include "address.h"
#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "lbc/model/object.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What only Services can say. */
static const char *const not_ours[] = { "id", "force-override-listeners", "vgroup-port",
                                        "protocol-port", "listener-port-range" };

/* --- what it is to be made with --- */

#define PARAMETERS_MAX 65536 /* bytes of a ConfigMap: it is read in every pass */

static int parameters_put(struct ccm_strmap *to, const char *key, const char *value)
{
    CCM_CLEANUP(ccm_freep) char *copy = strdup(value);

    if (copy == NULL || ccm_strmap_set(to, key, copy) < 0) {
        return -ENOMEM;
    }
    (void)CCM_STEAL(copy); /* the map owns it now */
    return 0;
}

/* Keys of a ConfigMap have no slash: they are the ends of those of annotations. */
static int parameters_put_entry(struct ccm_strmap *to, const cJSON *entry)
{
    const bool whole = strcmp(entry->string, "backend-type") == 0;
    CCM_CLEANUP(ccm_freep)
    char *key = ccm_text_format("%s%s", whole ? "" : LBC_ANNO_PREFIX,
                                whole ? LBC_BACKEND_TYPE_KEY : entry->string);

    if (key == NULL) {
        return -ENOMEM;
    }
    return cJSON_IsString(entry) ? parameters_put(to, key, entry->valuestring) : 0;
}

/* An annotation under the beginning that those of Services had before is the same one; it counts
 * where its own place lacks the present one. */
static int parameters_put_annotation(struct ccm_strmap *to, const cJSON *all, const cJSON *one)
{
    static const char before[] = LBC_ANNO_LEGACY_PREFIX;
    CCM_CLEANUP(ccm_freep) char *key = NULL;

    if (!cJSON_IsString(one)) {
        return 0;
    }
    if (!ccm_text_starts(one->string, before)) {
        return parameters_put(to, one->string, one->valuestring);
    }
    key = ccm_text_format("%s%s", LBC_ANNO_PREFIX, one->string + sizeof(before) - 1);
    if (key == NULL) {
        return -ENOMEM;
    }
    return ccm_json_get(all, key) != NULL ? 0 : parameters_put(to, key, one->valuestring);
}

/* A person may write 1 MiB of them. */
static bool parameters_are_many(const struct ccm_host *host, const char *key)
{
    const struct ccm_object *map = host->get_raw(host, "v1", "configmaps", key);
    const bool many = map != NULL && strlen(((const struct ccm_raw *)map)->json) > PARAMETERS_MAX;

    if (map != NULL) {
        host->release(host, map);
    }
    return many;
}

int gateway_parameters_read(const struct ccm_host *host, const cJSON *ref, const char *namespace_,
                            struct ccm_strmap *to, const char **ret_why)
{
    struct lbc_custom_item map = { 0 };
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    const cJSON *entry = NULL;
    int r = 0;

    *ret_why = NULL;
    if (ref == NULL) {
        return 0;
    }
    key = lbc_custom_key(namespace_ == NULL ? lbc_custom_text(ref, "namespace", "") : namespace_,
                         lbc_custom_text(ref, "name", ""));
    if (key == NULL) {
        return -ENOMEM;
    }
    if (lbc_custom_text(ref, "group", "")[0] != '\0' ||
        strcmp(lbc_custom_text(ref, "kind", ""), "ConfigMap") != 0) {
        *ret_why = "parametersRef names no ConfigMap";
        return 0;
    }
    if (parameters_are_many(host, key)) {
        *ret_why = "parametersRef names a ConfigMap of more than 64 KiB";
        return 0;
    }
    r = lbc_custom_item_get(host, "v1", "configmaps", key, &map);
    if (r == 0 && map.object == NULL) {
        *ret_why = "parametersRef names a ConfigMap that is not there, or lacks "
                   "label " GATEWAY_PARAMETERS_LABEL;
    }
    cJSON_ArrayForEach(entry, ccm_json_get(map.json, "data"))
    {
        r = r < 0 ? r : parameters_put_entry(to, entry);
    }
    lbc_custom_item_fini(host, &map);
    return r;
}

/* Labels of what is made for the Gateway: tags. More than the annotation takes goes on as what is
 * too long, which the engine refuses. */
static int subject_read_labels(struct gateway_subject *subject, const cJSON *labels)
{
    static const char key[] = LBC_ANNO_PREFIX "additional-resource-tags";
    const char *before = ccm_strmap_get(subject->annotations, key);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 2 * LBC_TAGS_BYTES };
    const cJSON *label = NULL;

    ccm_buf_addf(&text, "%.*s", LBC_TAGS_BYTES + 1, before == NULL ? "" : before);
    cJSON_ArrayForEach(label, labels)
    {
        if (cJSON_IsString(label) && text.len <= LBC_TAGS_BYTES) {
            ccm_buf_addf(&text, "%s%.256s=%.256s", text.len == 0 ? "" : ",", label->string,
                         label->valuestring);
        }
    }
    if (ccm_buf_error(&text) < 0) {
        return -ENOMEM;
    }
    return text.len == 0 ? 0 : parameters_put(subject->annotations, key, ccm_buf_str(&text));
}

static void subject_refuse(struct gateway_subject *subject, const char *reason, const char *why)
{
    if (subject->invalid == NULL) {
        subject->invalid = reason;
        ccm_text_copy(subject->why, sizeof(subject->why), why);
    }
}

static void subject_check_annotations(struct gateway_subject *subject)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(not_ours); i++) {
        char key[LBC_ANNO_KEY_MAX];
        char why[LBC_ANNO_KEY_MAX + 80];

        ccm_text_printf(key, sizeof(key), "%s%s", LBC_ANNO_PREFIX, not_ours[i]);
        if (ccm_strmap_has(subject->annotations, key)) {
            ccm_text_printf(why, sizeof(why), "annotation %s is for Services alone", key);
            subject_refuse(subject, "InvalidParameters", why);
        }
    }
}

static int subject_read_parameters(struct gateway_subject *subject, const cJSON *class)
{
    const cJSON *infrastructure =
        ccm_json_get(ccm_json_get(subject->gateway.json, "spec"), "infrastructure");
    const cJSON *annotations = ccm_json_get(infrastructure, "annotations");
    const char *faults[2] = { NULL, NULL };
    const cJSON *one = NULL;
    int r = gateway_parameters_read(subject->host,
                                    ccm_json_get(ccm_json_get(class, "spec"), "parametersRef"),
                                    NULL, subject->annotations, &faults[0]);

    if (r == 0) {
        r = gateway_parameters_read(subject->host, ccm_json_get(infrastructure, "parametersRef"),
                                    subject->gateway.object->namespace_, subject->annotations,
                                    &faults[1]);
    }
    cJSON_ArrayForEach(one, annotations)
    {
        r = r < 0 ? r : parameters_put_annotation(subject->annotations, annotations, one);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(faults); i++) {
        if (faults[i] != NULL) {
            subject_refuse(subject, "InvalidParameters", faults[i]);
        }
    }
    subject_check_annotations(subject);
    return r < 0 ? r : subject_read_labels(subject, ccm_json_get(infrastructure, "labels"));
}

static int subject_read_class(const struct gateway *self, struct gateway_subject *subject)
{
    const cJSON *spec = ccm_json_get(subject->gateway.json, "spec");
    struct lbc_custom_item class = { 0 };
    int r = lbc_custom_item_get(self->host, GATEWAY_V1, "gatewayclasses",
                                lbc_custom_text(spec, "gatewayClassName", ""), &class);

    if (r == 0 && class.object != NULL) {
        subject->claim =
            ccm_text_equal(ccm_json_text(ccm_json_get(class.json, "spec"), "controllerName"),
                           self->controller)
                ? GATEWAY_OURS
                : GATEWAY_OTHERS;
    }
    if (r == 0 && subject->claim == GATEWAY_OURS) {
        r = subject_read_parameters(subject, class.json);
    }
    lbc_custom_item_fini(self->host, &class);
    return r;
}

/* --- its routes --- */

/* The one that was made first serves, as the API has it; by name where that is the same moment. */
static int route_compare_age(const void *a, const void *b)
{
    const struct ccm_object *left = ((const struct lbc_custom_item *)a)->object;
    const struct ccm_object *right = ((const struct lbc_custom_item *)b)->object;

    if (left->created_ms != right->created_ms) {
        return left->created_ms < right->created_ms ? -1 : 1;
    }
    return strcmp(left->key, right->key);
}

static bool route_attaches(const struct gateway_subject *subject,
                           const struct gateway_listener *listener,
                           const struct lbc_custom_item *route)
{
    const cJSON *parent = ccm_json_items(ccm_json_get(route->json, "spec"), "parentRefs");

    for (; parent != NULL; parent = parent->next) {
        if (gateway_parent_is(parent, route->object, subject->gateway.object) &&
            gateway_listener_attach(subject->host, subject->gateway.object, listener, route,
                                    parent) == GATEWAY_ATTACHED) {
            return true;
        }
    }
    return false;
}

static int subject_read_routes(struct gateway_subject *subject)
{
    struct lbc_custom_items routes = { 0 };
    int r = gateway_routes_list(subject->host, GATEWAY_BY_PARENT, subject->gateway.object->name,
                                &routes);

    if (routes.len > 0) {
        qsort(routes.items, routes.len, sizeof(*routes.items), route_compare_age);
    }
    for (size_t i = 0; r == 0 && i < subject->count; i++) {
        struct gateway_listener *listener = &subject->listeners[i];

        for (size_t j = 0; r == 0 && j < routes.len; j++) {
            struct gateway_refs refs;

            if (!route_attaches(subject, listener, &routes.items[j])) {
                continue;
            }
            if (listener->attached++ == 0) {
                r = gateway_targets_read(subject->host, &routes.items[j], subject->pods,
                                         &subject->targets[i], &refs);
            }
        }
    }
    lbc_custom_items_fini(subject->host, &routes);
    return r;
}

/* --- all of it --- */

static bool subject_uses_pods(const struct gateway *self, const struct gateway_subject *subject)
{
    const char *type = ccm_strmap_get(subject->annotations, LBC_BACKEND_TYPE_KEY);

    return ccm_text_empty(type) ? self->lbc->pods_by_default
                                : strcmp(type, LBC_BACKEND_TYPE_PODS) == 0;
}

static int subject_read_addresses(struct gateway_subject *subject, const cJSON *spec)
{
    const char *why = NULL;
    const int r = gateway_addresses_place(spec, subject->annotations, &why);

    if (why != NULL) {
        subject_refuse(subject, "UnsupportedAddress", why);
    }
    return r;
}

/* What would be left out without a word. */
static void subject_check_spec(struct gateway_subject *subject, const cJSON *spec)
{
    const cJSON *others = ccm_json_get(ccm_json_get(spec, "allowedListeners"), "namespaces");

    if (ccm_json_get(spec, "tls") != NULL) {
        subject_refuse(subject, GATEWAY_INVALID,
                       "spec.tls is not served: clients are asked for a certificate by "
                       "annotations " LBC_ANNO_PREFIX "cacert and cacert-id");
    }
    if (strcmp(lbc_custom_text(others, "from", "None"), "None") != 0) {
        subject_refuse(subject, GATEWAY_INVALID,
                       "spec.allowedListeners is not served: listeners of ListenerSets are none "
                       "of this Gateway's");
    }
}

static int subject_read(const struct gateway *self, struct gateway_subject *subject, bool routes)
{
    const cJSON *spec = ccm_json_get(subject->gateway.json, "spec");
    int r = subject_read_class(self, subject);

    if (r == 0) {
        r = subject_read_addresses(subject, spec);
    }
    if (r < 0) {
        return r;
    }
    subject_check_spec(subject, spec);
    subject->pods = subject_uses_pods(self, subject);
    r = gateway_listeners_read(
        self, &subject->gateway,
        !ccm_text_empty(ccm_strmap_get(subject->annotations, LBC_ANNO_PREFIX "cert-id")),
        subject->listeners, &subject->count);
    for (size_t i = 0; i < subject->count; i++) {
        subject->usable += subject->listeners[i].unusable ? 0 : 1;
    }
    return r == 0 && routes ? subject_read_routes(subject) : r;
}

int gateway_subject_new(const struct gateway *self, const char *key, bool routes,
                        struct gateway_subject **ret)
{
    CCM_CLEANUP(gateway_subject_freep)
    struct gateway_subject *subject = calloc(1, sizeof(*subject));
    int r = 0;

    *ret = NULL;
    if (subject == NULL) {
        return -ENOMEM;
    }
    subject->host = self->host;
    subject->finalizer = self->finalizer;
    subject->annotations = ccm_strmap_new(free);
    if (subject->annotations == NULL) {
        return -ENOMEM;
    }
    r = lbc_custom_item_get(self->host, GATEWAY_V1, "gateways", key, &subject->gateway);
    if (r == 0 && subject->gateway.object != NULL) {
        r = subject_read(self, subject, routes);
        *ret = r == 0 ? CCM_STEAL(subject) : NULL;
    }
    return r;
}

void gateway_subject_freep(struct gateway_subject **subject)
{
    struct gateway_subject *one = *subject;

    if (one == NULL) {
        return;
    }
    for (size_t i = 0; i < one->count; i++) {
        gateway_targets_fini(one->host, &one->targets[i]);
    }
    gateway_listeners_fini(one->listeners, one->count);
    lbc_custom_item_fini(one->host, &one->gateway);
    ccm_strmap_free(one->annotations);
    free(one);
    *subject = NULL;
}

bool gateway_subject_is_bound(const struct gateway_subject *subject)
{
    return lbc_object_has_finalizer(subject->gateway.object, subject->finalizer);
}

bool gateway_subject_is_wanted(const struct gateway_subject *subject)
{
    return subject->claim == GATEWAY_OURS && subject->invalid == NULL &&
           subject->gateway.object->deleted_ms == 0 &&
           (subject->usable > 0 || gateway_subject_is_bound(subject));
}
