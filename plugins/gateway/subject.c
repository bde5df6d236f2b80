#include "subject.h"

#include "address.h"
#include "controller.h"
#include "lbc/custom/parameters.h"
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

/* Labels of what is made for the Gateway: tags. More than the annotation takes goes on as what is
 * too long, which the engine refuses. */
static int subject_read_labels(struct gateway_subject *subject, const cJSON *labels)
{
    static const char key[] = LBC_ANNO_PREFIX "additional-resource-tags";
    const char *before = ccm_strmap_get(subject->annotations, key);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 2 * LBC_TAGS_BYTES };

    ccm_buf_addf(&text, "%.*s", LBC_TAGS_BYTES + 1, before == NULL ? "" : before);
    for (const cJSON *label = ccm_json_members(labels); label != NULL; label = label->next) {
        if (cJSON_IsString(label) && text.len <= LBC_TAGS_BYTES) {
            ccm_buf_addf(&text, "%s%.256s=%.256s", text.len == 0 ? "" : ",", label->string,
                         label->valuestring);
        }
    }
    if (ccm_buf_error(&text) < 0) {
        return -ENOMEM;
    }
    return text.len == 0 ? 0
                         : lbc_custom_parameters_put(subject->annotations, key, ccm_buf_str(&text));
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
            ccm_strmap_del(subject->annotations, key);
        }
    }
}

/* The settings of before, in place of those that cannot be read. */
static int subject_recall(const struct gateway *self, struct gateway_subject *subject)
{
    const struct ccm_object *object = subject->gateway.object;
    const int r = gateway_past_get(self->past, object->key, object->uid, subject->annotations);

    subject->blind = r <= 0;
    return r < 0 ? r : 0;
}

/* What ConfigMaps say. *ret_known: they could be read. */
static int subject_read_maps(struct gateway_subject *subject, const cJSON *class,
                             const cJSON *infrastructure, bool *ret_known)
{
    const char *faults[2] = { NULL, NULL };
    int r = lbc_custom_parameters_read(subject->host,
                                       ccm_json_get(ccm_json_get(class, "spec"), "parametersRef"),
                                       NULL, subject->annotations, &faults[0]);

    if (r == 0) {
        r = lbc_custom_parameters_read(subject->host, ccm_json_get(infrastructure, "parametersRef"),
                                       subject->gateway.object->namespace_, subject->annotations,
                                       &faults[1]);
    }
    *ret_known = true;
    for (size_t i = 0; i < CCM_ARRAY_LEN(faults); i++) {
        if (faults[i] != NULL) {
            subject_refuse(subject, "InvalidParameters", faults[i]);
            *ret_known = false;
        }
    }
    return r;
}

/* class NULL: it does not exist, and the settings of before count. */
static int subject_read_parameters(const struct gateway *self, struct gateway_subject *subject,
                                   const cJSON *class)
{
    const struct ccm_object *object = subject->gateway.object;
    const cJSON *infrastructure =
        ccm_json_get(ccm_json_get(subject->gateway.json, "spec"), "infrastructure");
    bool known = false;
    int r = class == NULL ? 0 : subject_read_maps(subject, class, infrastructure, &known);

    if (r == 0 && !known) {
        r = subject_recall(self, subject);
    }
    r = r < 0 ? r
              : lbc_custom_parameters_add(subject->annotations,
                                          ccm_json_get(infrastructure, "annotations"));
    subject_check_annotations(subject);
    if (r == 0 && known) { /* else they are among the settings of before */
        r = subject_read_labels(subject, ccm_json_get(infrastructure, "labels"));
    }
    if (r == 0 && known) {
        gateway_past_put(self->past, object->key, object->uid, subject->annotations);
    }
    return r;
}

static int subject_read_class(const struct gateway *self, struct gateway_subject *subject)
{
    const cJSON *spec = ccm_json_get(subject->gateway.json, "spec");
    struct lbc_custom_item class = { 0 };
    int r = lbc_custom_item_get(self->host, GATEWAY_V1, "gatewayclasses",
                                lbc_custom_text(spec, "gatewayClassName", ""), &class);
    const char *controller = ccm_json_text(ccm_json_get(class.json, "spec"), "controllerName");

    if (r == 0 && class.object != NULL) {
        subject->claim = strcmp(controller, self->controller) == 0 ? GATEWAY_OURS : GATEWAY_OTHERS;
    }
    if (r == 0 && (subject->claim == GATEWAY_OURS ||
                   (class.object == NULL && gateway_subject_is_bound(subject)))) {
        r = subject_read_parameters(self, subject, class.json);
        subject->claim = class.object == NULL && subject->blind ? GATEWAY_NOBODYS : GATEWAY_OURS;
    }
    lbc_custom_item_fini(self->host, &class);
    return r;
}

/* --- its routes --- */

/* The one that was made first serves, as the API has it; by name where that is the same moment. */
static int route_compare_age(const void *a, const void *b)
{
    return lbc_custom_compare_age(((const struct lbc_custom_item *)a)->object,
                                  ((const struct lbc_custom_item *)b)->object);
}

static bool route_attaches(const struct gateway_subject *subject,
                           const struct gateway_listener *listener,
                           const struct lbc_custom_item *route)
{
    const cJSON *parent = ccm_json_items(ccm_json_get(route->json, "spec"), "parentRefs");

    for (; parent != NULL; parent = parent->next) {
        if (gateway_parent_is(parent, route->object, listener->owner_kind, listener->owner) &&
            gateway_listener_attach(subject->host, listener, route, parent) == GATEWAY_ATTACHED) {
            return true;
        }
    }
    return false;
}

static int subject_attach_routes(struct gateway_subject *subject, size_t at,
                                 const struct lbc_custom_items *routes)
{
    struct gateway_listener *listener = &subject->listeners[at];
    int r = 0;

    for (size_t i = 0; r == 0 && i < routes->len; i++) {
        struct gateway_refs refs;

        if (route_attaches(subject, listener, &routes->items[i]) && listener->attached++ == 0) {
            r = gateway_targets_read(subject->host, &routes->items[i], subject->pods,
                                     &subject->targets[at], &refs);
        }
    }
    return r;
}

/* Of `count` listeners of one owner, from `first` on. */
static int subject_read_routes(struct gateway_subject *subject, size_t first, size_t count)
{
    struct lbc_custom_items routes = { 0 };
    int r = count == 0 ? 0
                       : gateway_routes_list(subject->host, GATEWAY_BY_PARENT,
                                             subject->listeners[first].owner->name, &routes);

    if (routes.len > 0) {
        qsort(routes.items, routes.len, sizeof(*routes.items), route_compare_age);
    }
    for (size_t i = first; r == 0 && i < first + count; i++) {
        r = subject_attach_routes(subject, i, &routes);
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
    if (ccm_json_get(spec, "tls") != NULL) {
        subject_refuse(subject, GATEWAY_INVALID,
                       "spec.tls is not served: clients are asked for a certificate by "
                       "annotations " LBC_ANNO_PREFIX "cacert and cacert-id");
    }
}

static int subject_read_listeners(const struct gateway *self, struct gateway_subject *subject)
{
    const struct gateway_owner owner = { "Gateway", subject->gateway.object, subject->gateway.json,
                                         !ccm_text_empty(ccm_strmap_get(
                                             subject->annotations, LBC_ANNO_PREFIX "cert-id")) };
    int r = gateway_listeners_read(self, &owner, subject->listeners, &subject->count);

    subject->own = subject->count;
    if (r == 0 && subject->claim == GATEWAY_OURS) {
        r = gateway_sets_read(self, subject);
    }
    gateway_listeners_find_conflicts(
        subject->listeners, subject->count, subject->gateway.object,
        self->host->option_int(self->host, NULL, gateway_opt_keep_ports.name) != 0);
    for (size_t i = 0; i < subject->count; i++) {
        subject->usable += subject->listeners[i].unusable ? 0 : 1;
        subject->creatable += gateway_listener_is_creatable(&subject->listeners[i]) ? 1 : 0;
        subject->own_usable = i < subject->own ? subject->usable : subject->own_usable;
    }
    return r;
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
    r = subject_read_listeners(self, subject);
    if (r == 0 && routes) {
        r = subject_read_routes(subject, 0, subject->own);
    }
    for (size_t i = 0; r == 0 && routes && i < subject->sets.len; i++) {
        r = subject_read_routes(subject, subject->sets.items[i].first,
                                subject->sets.items[i].count);
    }
    return r;
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
    gateway_sets_fini(one->host, &one->sets);
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
    return subject->claim == GATEWAY_OURS && !subject->blind &&
           subject->gateway.object->deleted_ms == 0 &&
           (gateway_subject_is_bound(subject) ||
            (subject->invalid == NULL && subject->creatable > 0));
}
