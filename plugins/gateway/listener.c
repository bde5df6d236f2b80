#include "listener.h"

#include "lbc/custom/condition.h"
#include "lbc/custom/selector.h"
#include "lbc/instance.h"
#include "lbc/model/annotation.h"
#include "lbc/rules/allow.h"
#include "secret_ref.h"

#include "util/parse.h"
#include "util/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct ccm_option gateway_opt_keep_ports = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "keep_set_ports",
    .fallback = "false",
    .help = "A port stays with the ListenerSet that has it, also when an older ListenerSet asks "
            "for it later. By default the oldest one gets it, as the Gateway API says.",
};

#define TCP (1U << GATEWAY_TCP_ROUTE)
#define UDP (1U << GATEWAY_UDP_ROUTE)
#define TLS (1U << GATEWAY_TLS_ROUTE)

/* --- one by itself --- */

/* The first thing that is wrong is what is told. */
static void listener_refuse(struct gateway_listener *one, const char **slot, const char *reason,
                            const char *why)
{
    const char **told = slot == &one->unresolved ? &one->unresolved_why : &one->why;

    *slot = *slot == NULL ? reason : *slot;
    *told = *told == NULL ? why : *told;
}

/* An option without effect might be one that somebody relies on. */
static void listener_check_options(struct gateway_listener *one, const cJSON *options)
{
    for (const cJSON *option = ccm_json_members(options); option != NULL; option = option->next) {
        if (strcmp(option->string, GATEWAY_CERTIFICATES_KEY) != 0) {
            listener_refuse(one, &one->refused, GATEWAY_INVALID,
                            "tls.options has a key that is not served: the only one "
                            "is " GATEWAY_CERTIFICATES_KEY "; annotation " LBC_ANNO_PREFIX
                            "tls-cipher-policy chooses versions and ciphers");
            one->unusable = true;
            one->keeps = true;
        }
    }
}

/* Ids that annotations could not name either. */
static int listener_check_ids(struct gateway_listener *one, const struct gateway *self)
{
    const struct lbc_allow allow = {
        .entries = self->host->option_strings(self->host, NULL, lbc_opt_allowed.name),
        .plugin = self->product.name,
        .namespace_ = one->owner->namespace_, /* of a ListenerSet: its own */
    };
    struct ccm_error err = CCM_ERROR_INIT;
    const char *cursor = one->certificates;
    const char *id = NULL;
    size_t len = 0;
    int r = 0;

    while (r == 0 && ccm_parse_piece(&cursor, ',', &id, &len)) {
        r = lbc_allow_check_id(&allow, LBC_ALLOW_CERTIFICATE, id, len, &err);
    }
    if (r == 0) {
        return 0;
    }
    one->certificates = "";
    one->unusable = true;
    one->keeps = true;
    one->certificate_why = strdup(err.message);
    listener_refuse(one, &one->unresolved, GATEWAY_INVALID_REF, one->certificate_why);
    return one->certificate_why == NULL ? -ENOMEM : 0;
}

static int listener_read_tls(struct gateway_listener *one, const struct gateway *self,
                             bool certified)
{
    const cJSON *tls = ccm_json_get(one->json, "tls");
    const cJSON *refs = ccm_json_items(tls, "certificateRefs");

    one->is_tls = true;
    one->passes = strcmp(lbc_custom_text(tls, "mode", "Terminate"), "Passthrough") == 0;
    one->certificates = lbc_custom_text(ccm_json_get(tls, "options"), GATEWAY_CERTIFICATES_KEY, "");
    one->protocol = one->passes ? LBC_TCP : LBC_TCPSSL;
    one->kinds = one->passes ? TLS : TCP | TLS;
    listener_check_options(one, ccm_json_get(tls, "options"));
    if (!one->passes && one->certificates[0] != '\0') {
        return listener_check_ids(one, self);
    }
    if (one->passes || (certified && refs == NULL)) {
        return 0;
    }
    if (refs != NULL) {
        return gateway_secrets_read(self, one);
    }
    listener_refuse(one, &one->unresolved, GATEWAY_INVALID_REF,
                    "no certificate: name the ids of some in tls.options, "
                    "key " GATEWAY_CERTIFICATES_KEY);
    one->unusable = true;
    one->keeps = true;
    return 0;
}

static int listener_read_protocol(struct gateway_listener *one, const struct gateway *self,
                                  bool certified)
{
    const char *protocol = ccm_json_text(one->json, "protocol");

    one->certificates = "";
    one->protocol = LBC_OTHER;
    if (ccm_text_equal(protocol, "TCP")) {
        one->protocol = LBC_TCP;
        one->kinds = TCP;
    } else if (ccm_text_equal(protocol, "UDP")) {
        one->protocol = LBC_UDP;
        one->kinds = UDP;
    } else if (ccm_text_equal(protocol, "TLS")) {
        return listener_read_tls(one, self, certified);
    } else {
        listener_refuse(one, &one->refused, "UnsupportedProtocol",
                        "a network load balancer serves TCP, UDP and TLS");
        one->unusable = true;
    }
    return 0;
}

/* allowedRoutes.kinds leaves some of them; one that is not ours is told. */
static void listener_read_kinds(struct gateway_listener *one)
{
    const cJSON *item = ccm_json_items(ccm_json_get(one->json, "allowedRoutes"), "kinds");
    const unsigned possible = one->kinds;
    unsigned allowed = 0;

    if (item == NULL) {
        return;
    }
    for (; item != NULL; item = item->next) {
        unsigned found = 0;

        for (unsigned i = 0; i < GATEWAY_ROUTE_KINDS; i++) {
            if (ccm_text_equal(ccm_json_text(item, "kind"), gateway_route_names[i].kind) &&
                ccm_text_equal(lbc_custom_text(item, "group", GATEWAY_GROUP), GATEWAY_GROUP)) {
                found = possible & 1U << i;
            }
        }
        allowed |= found;
        if (found == 0) {
            listener_refuse(one, &one->unresolved, "InvalidRouteKinds",
                            "allowedRoutes.kinds names a kind that this protocol does not serve");
        }
    }
    one->kinds = allowed;
}

/* --- among each other --- */

static bool listeners_clash(const struct gateway_listener *a, const struct gateway_listener *b)
{
    /* What serves a port is told apart by its number: TLS is said of the number alone. */
    return a->port == b->port && a->protocol != LBC_OTHER && b->protocol != LBC_OTHER &&
           (lbc_protocol_clash(a->protocol, b->protocol) || a->protocol == LBC_TCPSSL ||
            b->protocol == LBC_TCPSSL);
}

void gateway_listener_print_port(const struct gateway_listener *listener,
                                 char ret[static GATEWAY_PORT_TEXT])
{
    ret[0] = '\0';
    if (listener->gateway != NULL) {
        ccm_text_printf(ret, GATEWAY_PORT_TEXT, "%s port %" PRId64 " of Gateway %s",
                        ccm_json_text(listener->json, "protocol"), listener->port,
                        listener->gateway->key);
    }
}

/* The text is that of the Gateway, port and protocol: a set that turns to another Gateway, or a
 * listener to another port, has not had that one. */
static void listener_read_held(struct gateway_listener *one, const struct ccm_object *gateway)
{
    const cJSON *conflicted = lbc_custom_condition_find(one->said, GATEWAY_CONFLICTED);
    char text[GATEWAY_PORT_TEXT];

    if (strcmp(one->owner_kind, "Gateway") != 0 && one->protocol != LBC_OTHER) {
        one->gateway = gateway;
        gateway_listener_print_port(one, text);
        one->held = ccm_text_equal(ccm_json_text(conflicted, "status"), "False") &&
                    ccm_text_equal(ccm_json_text(conflicted, "message"), text);
    }
}

/* Of two that stand in one array, by its order. */
static bool listener_precedes(const struct gateway_listener *a, const struct gateway_listener *b,
                              bool keeps)
{
    return keeps && a->gateway != NULL && b->gateway != NULL && a->held != b->held ? a->held
                                                                                   : a < b;
}

static void listener_find_conflict(struct gateway_listener *one, const struct gateway_listener *all,
                                   size_t count, bool keeps)
{
    const struct gateway_listener *rival = NULL;

    for (const struct gateway_listener *other = all; other < all + count; other++) {
        if (other != one && listeners_clash(one, other) &&
            (one->owner == other->owner || listener_precedes(other, one, keeps)) &&
            (rival == NULL || listener_precedes(other, rival, keeps))) {
            rival = other;
        }
    }
    if (rival != NULL) {
        const bool names = one->is_tls && rival->is_tls && one->passes == rival->passes;

        one->rival = rival;
        one->conflict = names ? "HostnameConflict" : "ProtocolConflict";
        one->why = names ? "another listener has this port, and a network load balancer does "
                           "not tell names apart"
                         : "another listener has this port";
        one->unusable = true;
        one->keeps = false;
    }
}

void gateway_listeners_find_conflicts(struct gateway_listener *all, size_t count,
                                      const struct ccm_object *gateway, bool keeps)
{
    for (size_t i = 0; i < count; i++) {
        listener_read_held(&all[i], gateway);
    }
    for (size_t i = 0; i < count; i++) {
        listener_find_conflict(&all[i], all, count, keeps);
    }
}

/* Servers without a schema accept any value. */
static void listener_check_port(struct gateway_listener *one)
{
    if (one->port < 1 || one->port > UINT16_MAX) {
        listener_refuse(one, &one->refused, GATEWAY_INVALID,
                        "the port is not a number from 1 to 65535");
        one->unusable = true;
        one->keeps = false;
    }
}

static const cJSON *listener_find_said(const cJSON *owner, const char *name)
{
    const cJSON *one = ccm_json_items(ccm_json_get(owner, "status"), "listeners");

    while (one != NULL && strcmp(ccm_json_text(one, "name"), name) != 0) {
        one = one->next;
    }
    return one;
}

int gateway_listeners_read(const struct gateway *self, const struct gateway_owner *owner,
                           struct gateway_listener all[static GATEWAY_LISTENERS_MAX], size_t *count)
{
    const cJSON *item = ccm_json_items(ccm_json_get(owner->json, "spec"), "listeners");
    int r = 0;

    for (; r == 0 && item != NULL && *count < GATEWAY_LISTENERS_MAX; item = item->next) {
        struct gateway_listener *one = &all[(*count)++];

        *one = (struct gateway_listener){
            .json = item,
            .owner_kind = owner->kind,
            .owner = owner->object,
            .name = ccm_json_text(item, "name"),
            .hostname = lbc_custom_text(item, "hostname", ""),
            .port = ccm_json_i64(item, "port", 0),
        };
        one->said = listener_find_said(owner->json, one->name);
        r = listener_read_protocol(one, self, owner->certified);
        listener_check_port(one);
        listener_read_kinds(one);
    }
    return r;
}

void gateway_listeners_fini(struct gateway_listener *listeners, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(listeners[i].uploaded);
        lbc_texts_fini(&listeners[i].uploads);
        free(listeners[i].certificate_why);
    }
}

/* --- routes --- */

bool gateway_parent_is(const cJSON *parent, const struct ccm_object *route, const char *kind,
                       const struct ccm_object *object)
{
    return strcmp(lbc_custom_text(parent, "group", GATEWAY_GROUP), GATEWAY_GROUP) == 0 &&
           strcmp(lbc_custom_text(parent, "kind", "Gateway"), kind) == 0 &&
           strcmp(lbc_custom_text(parent, "namespace", route->namespace_), object->namespace_) ==
               0 &&
           ccm_text_equal(ccm_json_text(parent, "name"), object->name);
}

/* "*.a.b" stands for all names that end so. */
static bool wildcard_covers(const char *wildcard, const char *name)
{
    const char *tail = wildcard + 1;

    return wildcard[0] == '*' && (ccm_text_ends(name[0] == '*' ? name + 1 : name, tail));
}

static bool hostnames_meet(const char *a, const char *b)
{
    return a[0] == '\0' || b[0] == '\0' || ccm_text_equal_case(a, b) || wildcard_covers(a, b) ||
           wildcard_covers(b, a);
}

static bool listener_meets_names(const struct gateway_listener *listener,
                                 const struct lbc_custom_item *route)
{
    const cJSON *item = ccm_json_items(ccm_json_get(route->json, "spec"), "hostnames");

    if (route->kind != GATEWAY_TLS_ROUTE || item == NULL) {
        return true;
    }
    for (; item != NULL; item = item->next) {
        if (cJSON_IsString(item) && hostnames_meet(listener->hostname, item->valuestring)) {
            return true;
        }
    }
    return false;
}

enum gateway_attach gateway_listener_attach(const struct ccm_host *host,
                                            const struct gateway_listener *listener,
                                            const struct lbc_custom_item *route,
                                            const cJSON *parent)
{
    const char *section = lbc_custom_text(parent, "sectionName", "");
    const int64_t port = ccm_json_i64(parent, "port", 0);

    if ((section[0] != '\0' && !ccm_text_equal(section, listener->name)) ||
        (port != 0 && port != listener->port)) {
        return GATEWAY_NO_PARENT;
    }
    if ((listener->kinds & 1U << route->kind) == 0 ||
        !lbc_custom_namespace_is_from(
            host, ccm_json_get(ccm_json_get(listener->json, "allowedRoutes"), "namespaces"), "Same",
            listener->owner->namespace_, route->object->namespace_)) {
        return GATEWAY_NOT_ALLOWED;
    }
    return listener_meets_names(listener, route) ? GATEWAY_ATTACHED : GATEWAY_NO_HOSTNAME;
}
