#include "lbc/rules/lint.h"
#include "lbc/names.h"

#include "lbc/model/candidate.h"
#include "lbc/model/settings.h"
#include "lbc/rules/inside.h"
#include "util/class_near.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

#define PATH_MAX_BYTES 64

/* Of one Service. */
struct lint {
    const struct lbc_lint_rules *rules;
    const struct ccm_service *service;
    const struct ccm_lint_sink *sink;
};

/* The row of a key as the Service has it; NULL when it is unknown. */
static const struct lbc_anno *find_row(const struct lbc_anno_table *table, const char *key)
{
    const char *suffix = lbc_anno_suffix(key);

    return lbc_anno_find(table, suffix == NULL ? key : suffix);
}

/* A value that does nothing, good or bad, fails no Service. */
static uint64_t level_of(const struct lint *lint, const struct lbc_anno *row)
{
    return row == NULL || lbc_rules_count(lint->rules, lint->service, row) ? CCM_LEVEL_ERROR
                                                                           : CCM_LEVEL_WARN;
}

static void lint_add_finding(void *arg, const char *key, bool warning, const char *message)
{
    const struct lint *lint = arg;
    const uint64_t level =
        warning ? CCM_LEVEL_WARN : level_of(lint, find_row(lint->rules->annotations, key));

    lint->sink->finding(lint->sink, level, key, message);
}

static void lint_add_suffix_finding(const struct lint *lint, uint64_t level, const char *suffix,
                                    const char *message)
{
    char key[LBC_ANNO_KEY_MAX];

    lint->sink->finding(lint->sink, level, lbc_anno_suffix_key(&lint->service->meta, suffix, key),
                        message);
}

static void lint_checks(const struct lint *lint)
{
    for (const struct lbc_check *check = lint->rules->checks;
         check != NULL && check->suffix != NULL; check++) {
        struct ccm_error err = CCM_ERROR_INIT;

        const struct lbc_anno *row = lbc_anno_find(lint->rules->annotations, check->suffix);
        const int r = lbc_check_run(check, lint->rules, lint->service, &err);

        if (r < 0) {
            (void)lbc_anno_explain(row, r, &err); /* it stays what it is */
            lint_add_suffix_finding(lint, level_of(lint, row), check->suffix, err.message);
        }
    }
}

static int lint_get_protocol(const struct lint *lint, uint64_t index, enum lbc_protocol *ret,
                             struct ccm_error *err)
{
    return lbc_setting_protocol(lint->service, lint->service->ports[index], lint->rules->protocols,
                                ret, err);
}

/* A port that asks for the same listener as an earlier one. */
static bool is_twin(const struct lint *lint, uint64_t index, enum lbc_protocol protocol)
{
    const struct ccm_service *service = lint->service;

    for (uint64_t i = 0; !lint->rules->has_ranges && i < index; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        enum lbc_protocol other = LBC_OTHER;

        if (service->ports[i]->port == service->ports[index]->port &&
            lint_get_protocol(lint, i, &other, &err) == 0 && lbc_protocol_clash(other, protocol)) {
            return true;
        }
    }
    return false;
}

static void lint_port(const struct lint *lint, uint64_t index)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_lint_sink *sink = lint->sink;
    const struct ccm_service_port *port = lint->service->ports[index];
    enum lbc_protocol protocol = LBC_OTHER;
    char path[PATH_MAX_BYTES];

    ccm_text_printf(path, sizeof(path), "spec.ports[%llu].port", (unsigned long long)index);
    if (port->port < 1 || port->port > UINT16_MAX) {
        sink->finding(sink, CCM_LEVEL_ERROR, path, "port out of range");
    }
    if (lint_get_protocol(lint, index, &protocol, &err) == 0) {
        if (is_twin(lint, index, protocol)) {
            sink->finding(sink, CCM_LEVEL_ERROR, path,
                          "two ports of the Service ask for the same listener");
        }
    } else if (lbc_protocol_parse(port->protocol, lint->rules->protocols->known) != LBC_OTHER) {
        (void)lbc_anno_explain(lbc_anno_find(lint->rules->annotations, "protocol-port"), -EINVAL,
                               &err); /* it stays what it is */
        lint_add_suffix_finding(lint, CCM_LEVEL_ERROR, "protocol-port", err.message);
    } else { /* no annotation's fault */
        ccm_text_printf(path, sizeof(path), "spec.ports[%llu].protocol", (unsigned long long)index);
        sink->finding(sink, CCM_LEVEL_ERROR, path, err.message);
    }
}

static void lint_add_found(void *arg, const struct lbc_found *found)
{
    const struct lint *lint = arg;
    struct ccm_error text = CCM_ERROR_INIT;
    char key[LBC_ANNO_KEY_MAX];

    if (strchr(found->key, '/') == NULL && !ccm_text_starts(found->key, "spec.")) {
        (void)lbc_anno_suffix_key(&lint->service->meta, found->key, key); /* it is `key` */
    } else {
        ccm_text_copy(key, sizeof(key), found->key);
    }
    (void)ccm_error_set(&text, 0, CCM_ERROR_TERMINAL, "annotation %s %s", key,
                        found->text); /* the text is wanted */
    lint->sink->finding(lint->sink, found->level, key,
                        found->kind == LBC_FOUND_NO_EFFECT ? text.message : found->text);
}

static bool lint_is_on(void *arg, const struct ccm_option *option)
{
    const struct ccm_lint_sink *sink = ((const struct lint *)arg)->sink;

    return sink->option_int(sink, option->group, option->name) != 0;
}

static bool lint_has_pods_by_default(const struct lint *lint)
{
    return ccm_text_equal(lint->sink->option_string(lint->sink, NULL, "default_backend_type"),
                          lbc_names.pods);
}

/* What rows say, as the plugin is configured. */
static void lint_rules(struct lint *lint, unsigned kinds)
{
    const struct lbc_rule_ask ask = {
        .kinds = kinds,
        .rules = lint->rules,
        .service = lint->service,
        .view = lint->service,
        .pods_by_default = lint_has_pods_by_default(lint),
        .ip_mode = lint->sink->option_string(lint->sink, NULL, LBC_IP_MODE_OPTION),
        .is_on = lint_is_on,
        .found = lint_add_found,
        .arg = lint,
    };

    lbc_rules_find(&ask);
}

static bool lint_is_reused(const struct lint *lint)
{
    return !ccm_text_empty(lbc_setting_reused_id(lint->rules->annotations, lint->service));
}

/* --- nodes as backends --- */

/* Whether nodes are the backends, as far as Service and configuration tell. */
static bool lint_is_by_node(const struct lint *lint)
{
    return lbc_backend_mode(lint->service, lint_has_pods_by_default(lint)) != LBC_MODE_PODS;
}

/* About what nodes as backends cannot do: where the Service leaves the kind of backends to the
 * configuration, of which there may be none at hand, it is a warning. */
static void lint_add_node_finding(const struct lint *lint, const char *place, const char *message)
{
    const bool open =
        ccm_text_empty(ccm_object_annotation(&lint->service->meta, lbc_names.backend_type));
    struct ccm_error text = CCM_ERROR_INIT;

    (void)ccm_error_set(&text, 0, CCM_ERROR_TERMINAL, "%s: set annotation %s to %s%s", message,
                        lbc_names.backend_type, lbc_names.pods,
                        open ? ", unless option default_backend_type is that" : ""); /* wanted */
    lint->sink->finding(lint->sink, open ? CCM_LEVEL_WARN : CCM_LEVEL_ERROR, place, text.message);
}

/* What needs pods as backends, or node ports. */
static void lint_nodes(const struct lint *lint)
{
    const struct ccm_service *service = lint->service;
    bool has_node_port = false;

    for (uint64_t i = 0; i < service->port_count; i++) {
        has_node_port = has_node_port || service->ports[i]->node_port > 0;
    }
    if (!lint_is_by_node(lint)) {
        return;
    }
    if (service->allocate_node_ports == 0 && !has_node_port) {
        lint_add_node_finding(lint, "spec.allocateLoadBalancerNodePorts", LBC_NO_NODE_PORT);
    }
    if (lint->rules->has_ranges && lbc_anno_get(&service->meta, "listener-port-range")[0] != '\0') {
        char key[LBC_ANNO_KEY_MAX];
        char text[120];

        ccm_text_printf(text, sizeof(text),
                        "listener port range can only be used for %s backend type service",
                        lbc_names.pods);
        lint_add_node_finding(lint, lbc_anno_suffix_key(&service->meta, "listener-port-range", key),
                              text);
    }
}

/* The range of every API server that nobody gave another one. */
#define NODE_PORT_MIN 30000
#define NODE_PORT_MAX 32767

static void lint_node_port(const struct lint *lint, uint64_t index)
{
    const int64_t number = lint->service->ports[index]->node_port;
    char path[PATH_MAX_BYTES];
    char text[200];

    if (number == 0 || (number >= NODE_PORT_MIN && number <= NODE_PORT_MAX)) {
        return;
    }
    ccm_text_printf(path, sizeof(path), "spec.ports[%llu].nodePort", (unsigned long long)index);
    ccm_text_printf(text, sizeof(text),
                    "nodePort %lld is outside of %d to %d: the API server refuses it, unless its "
                    "option service-node-port-range says otherwise",
                    (long long)number, NODE_PORT_MIN, NODE_PORT_MAX);
    lint->sink->finding(lint->sink, CCM_LEVEL_WARN, path, text);
}

/* Somebody may know that listeners are made by hand: by false, or by groups that were chosen. */
static bool lint_lacks_listeners(const struct lint *lint)
{
    const struct ccm_object *meta = &lint->service->meta;

    return lbc_anno_get(meta, "force-override-listeners")[0] == '\0' &&
           lbc_anno_get(meta, "vgroup-port")[0] == '\0';
}

/* A load balancer that a person made, where the configuration keeps them from Services, or where
 * they serve nobody. */
static void lint_reuse(const struct lint *lint)
{
    const struct ccm_lint_sink *sink = lint->sink;
    const char *mode = sink->option_string(sink, NULL, "reuse");

    if (!lint_is_reused(lint)) {
        return;
    }
    if (lint_lacks_listeners(lint)) {
        lint_add_suffix_finding(lint, CCM_LEVEL_WARN, "id",
                                "no listener is made on a load balancer that a person made, unless "
                                "annotation force-override-listeners is \"true\"; with \"false\" "
                                "somebody makes them by hand");
    }
    if (ccm_text_equal(mode, "off")) {
        lint_add_suffix_finding(lint, CCM_LEVEL_ERROR, "id",
                                "option reuse is off: no load balancer is reused");
    } else if (ccm_text_equal(mode, "tagged")) {
        char text[160];

        ccm_text_printf(
            text, sizeof(text),
            "option reuse is tagged: the load balancer needs tag %s with this namespace",
            lbc_names.tag_use);
        lint_add_suffix_finding(lint, CCM_LEVEL_WARN, "id", text);
    }
}

/* A public address where the configuration forbids to make one. */
static void lint_public(const struct lint *lint)
{
    const struct lbc_anno *row = lint->rules->public_option == NULL
                                     ? NULL
                                     : lbc_anno_find(lint->rules->annotations, "address-type");
    const char *type = lbc_anno_get(&lint->service->meta, "address-type");

    if (row == NULL) {
        return;
    }
    const bool is_public = (row->flags & LBC_ANNO_NO_CASE) != 0
                               ? ccm_text_equal_case(type, "internet")
                               : ccm_text_equal(type, "internet");

    if (lint->sink->option_int(lint->sink, NULL, lint->rules->public_option) == 0 ||
        lint_is_reused(lint)) {
        return;
    }
    if (type[0] == '\0') {
        lint->sink->finding(lint->sink, CCM_LEVEL_ERROR, "spec.type", lint->rules->public_text);
    } else if (is_public) {
        lint_add_suffix_finding(lint, CCM_LEVEL_ERROR, "address-type", lint->rules->public_text);
    }
}

/* A class that looks like one of ours: nobody takes care of the Service. */
static void lint_near(const struct ccm_service *service, const char *known,
                      const struct ccm_lint_sink *sink)
{
    char text[CCM_CLASS_NEAR_TEXT];

    ccm_class_write_near(service->load_balancer_class, known, text);
    sink->finding(sink, CCM_LEVEL_WARN, "spec.loadBalancerClass", text);
}

/* The first class of the list that the Service's was perhaps meant to be. */
static bool lint_near_list(const struct ccm_service *service, const char *list,
                           const struct ccm_lint_sink *sink)
{
    const char *piece = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&list, ',', &piece, &len)) {
        char known[CCM_CLASS_NEAR_TEXT];

        ccm_text_printf(known, sizeof(known), "%.*s", (int)len, piece);
        if (len > 0 && len < sizeof(known) &&
            ccm_class_is_near(service->load_balancer_class, known)) {
            lint_near(service, known, sink);
            return true;
        }
    }
    return false;
}

bool lbc_lint_takes(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                    const struct ccm_lint_sink *sink)
{
    struct lbc_choice choice = { 0 };

    if (rules->choose == NULL) {
        const bool ours = rules->is_ours != NULL ? rules->is_ours(service)
                                                 : lbc_class_is(service, rules->class_name);

        if (!ours && rules->class_name != NULL && ccm_text_equal(service->type, "LoadBalancer")) {
            (void)lint_near_list(service, rules->class_name, sink); /* told, or nothing is near */
        }
        return ours;
    }
    rules->choose(sink, &choice);
    if (rules->takes(service, &choice)) {
        return true;
    }
    if (ccm_text_equal(service->type, "LoadBalancer") &&
        !ccm_text_empty(service->load_balancer_class) &&
        !lbc_class_is_in(service, choice.sibling) && !lbc_class_is_in(service, choice.others)) {
        (void)lint_near_list(service, choice.own, sink); /* told, or nothing is near */
    }
    return false;
}

void lbc_lint_service(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                      const struct ccm_lint_sink *sink)
{
    struct lint lint = { rules, service, sink };

    if (!lbc_lint_takes(rules, service, sink)) {
        return;
    }
    lint_public(&lint);
    lbc_anno_lint(rules->annotations, &service->meta, lint_add_finding, &lint);
    lint_checks(&lint);
    lint_rules(&lint, 1U << LBC_FOUND_UNCLEAR);
    lint_nodes(&lint);
    for (uint64_t i = 0; i < service->port_count; i++) {
        lint_port(&lint, i);
        lint_node_port(&lint, i);
    }
    lint_rules(&lint, 1U << LBC_FOUND_NO_EFFECT | 1U << LBC_FOUND_FIELD);
    lint_reuse(&lint);
    lint_rules(&lint, 1U << LBC_FOUND_INSIDE | 1U << LBC_FOUND_TLS);
    if (rules->more != NULL) {
        rules->more(service, sink);
    }
}
