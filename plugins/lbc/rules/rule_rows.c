/* Rows about annotations and fields that hold for all kinds of load balancers. */
#include "lbc/names.h"
#include "lbc/rules/rule.h"

#include "ccm/object.h"
#include "lbc/model/annotation.h"
#include "lbc/model/candidate.h"
#include "lbc/model/settings.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

static bool is_own(const struct ccm_service *service)
{
    return !lbc_setting_is_reused(service);
}

static bool overrides_own(const struct ccm_service *service)
{
    return is_own(service) &&
           strcmp(lbc_anno_get(&service->meta, "force-override-listeners"), "false") != 0;
}

static bool has_no_group(const struct ccm_service *service)
{
    return is_own(service) || lbc_anno_get(&service->meta, "vgroup-port")[0] == '\0';
}

/* Any other spelling means nodes. */
static bool is_misspelt(const struct ccm_service *service)
{
    const char *value = ccm_object_annotation(&service->meta, lbc_names.backend_type);

    return !ccm_text_equal_case(value, lbc_names.nodes) && strcmp(value, lbc_names.pods) != 0;
}

static bool has_listeners(const struct ccm_service *service)
{
    return is_own(service) ||
           ccm_text_equal(lbc_anno_get(&service->meta, "force-override-listeners"), "true");
}

/* The check asks nodes for a port that the Service has elsewhere: its own, or that of its pods. */
static bool checks_other_port(const struct ccm_service *service)
{
    uint32_t number = 0;
    bool found = false;

    if (ccm_parse_u32(lbc_anno_get(&service->meta, "health-check-connect-port"), 1, UINT16_MAX,
                      &number) < 0 ||
        !has_listeners(service)) {
        return false;
    }
    for (uint64_t i = 0; i < service->port_count; i++) {
        const struct ccm_service_port *port = service->ports[i];

        if (port->node_port == number) {
            return false;
        }
        found = found || port->port == number || port->target_port == number;
    }
    return found;
}

static bool changes_transport(const struct ccm_service *service)
{
    const bool listeners = has_listeners(service);

    for (uint64_t i = 0; listeners && i < service->port_count; i++) {
        const struct ccm_service_port *port = service->ports[i];
        struct ccm_error ignored = CCM_ERROR_INIT;
        char told[LBC_PAIR_MAX];

        if (lbc_setting_protocol_word(service, port, NULL, told, &ignored) == 0 &&
            told[0] != '\0' &&
            ccm_text_equal_case(told, "udp") != ccm_text_equal(port->protocol, "UDP")) {
            return true;
        }
    }
    return false;
}

/* "" for what is refused for its size: tens of thousands are not looked at one by one. */
static const char *rule_get_tags(const struct ccm_service *service)
{
    const char *value = lbc_anno_get(&service->meta, "additional-resource-tags");

    return strnlen(value, LBC_TAGS_BYTES + 1) > LBC_TAGS_BYTES ? "" : value;
}

/* Whether "key=value" of `len` bytes is about a tag that is not a person's to set. */
static bool is_reserved(const char *entry, size_t len, bool reused)
{
    char text[LBC_PAIR_MAX];
    char key[LBC_PAIR_MAX];
    const char *cursor = text;
    const char *start = NULL;
    size_t key_len = 0;

    ccm_text_printf(text, sizeof(text), "%.*s", (int)(len < sizeof(text) ? len : sizeof(text) - 1),
                    entry);
    (void)ccm_parse_piece(&cursor, '=', &start, &key_len); /* there is always one piece */
    ccm_text_printf(key, sizeof(key), "%.*s", (int)key_len, start);
    return key[0] != '\0' && lbc_setting_is_reserved_tag(key, reused);
}

static bool has_reserved_tag(const struct ccm_service *service)
{
    const char *cursor = rule_get_tags(service);
    const char *entry = NULL;
    size_t len = 0;

    while (cursor != NULL && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        if (is_reserved(entry, len, !is_own(service))) {
            return true;
        }
    }
    return false;
}

static bool has_bare_tag(const struct ccm_service *service)
{
    const char *cursor = rule_get_tags(service);
    const char *entry = NULL;
    size_t len = 0;

    while (cursor != NULL && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        if (len > 0 && memchr(entry, '=', len) == NULL &&
            !is_reserved(entry, len, !is_own(service))) {
            return true;
        }
    }
    return false;
}

static bool has_long_label(const struct ccm_service *service)
{
    const char *cursor = lbc_anno_get(&service->meta, "backend-label");
    const char *entry = NULL;
    size_t len = 0;

    while (cursor != NULL && ccm_parse_piece(&cursor, ',', &entry, &len)) {
        const char *equals = memchr(entry, '=', len);

        if (equals != NULL && memchr(equals + 1, '=', len - (size_t)(equals - entry) - 1) != NULL) {
            return true;
        }
    }
    return false;
}

bool lbc_rule_has_ip(const struct ccm_service *service)
{
    return service->load_balancer_ip[0] != '\0';
}

bool lbc_rule_has_affinity(const struct ccm_service *service)
{
    return ccm_text_equal(service->session_affinity, "ClientIP");
}

#define NODES (1U << LBC_MODE_CLUSTER | 1U << LBC_MODE_LOCAL)

const struct lbc_rule lbc_rules[] = {
    { .key = "vgroup-port",
      .applies = is_own,
      .text = "has no effect without annotation id",
      .is_void = true },
    { .key = "force-override-listeners",
      .applies = overrides_own,
      .text = "has no effect without annotation id",
      .is_void = true },
    { .key = "weight",
      .applies = has_no_group,
      .text = "has no effect without annotations id and vgroup-port",
      .is_void = true },
    { .key = "protocol-port",
      .applies = changes_transport,
      .text = "makes a TCP listener of a UDP port or the other way round, and nodes do not answer "
              "it (an entry counts for every port of that number)" },
    { .key = "additional-resource-tags",
      .applies = has_reserved_tag,
      .text = "leaves out tags that are not to be set here: {tag_owner}, {tag_cluster}, those of "
              "the cloud (acs:...) and {tag_tenants}..., and {tag_reuse} where the load balancer "
              "is reused" },
    { .key = "additional-resource-tags",
      .applies = has_bare_tag,
      .text =
          "has a tag without a value, which is set as an empty one: a tag is written key=value" },
    { .key = "backend-label",
      .applies = has_long_label,
      .text = "counts up to the second equals sign of an entry: no label has one in its value" },
    { .key = "{backend_type}",
      .applies = is_misspelt,
      .text = "chooses nodes: only {pods} in lower case stands for pods, and {nodes} says nodes" },
    { .key = "backend-label",
      .text = "has no effect with {backend_type} {pods}: it chooses among nodes",
      .modes = 1U << LBC_MODE_PODS },
    { .key = "remove-unscheduled-backend",
      .text = "has no effect with {backend_type} {pods}: it is about nodes",
      .modes = 1U << LBC_MODE_PODS },
    { .key = "default-weight",
      .text = "has no effect with externalTrafficPolicy Local: the weight of a node is the number "
              "of its pods",
      .modes = 1U << LBC_MODE_LOCAL },
    { .key = "health-check-connect-port",
      .applies = checks_other_port,
      .text = "names a port of the pods, but the backends are nodes, which answer at their node "
              "ports: the health check fails. Remove it, or set {backend_type} to {pods}",
      .modes = NODES },
    { 0 },
};

/* The name that "{name}" at the beginning of the text stands for, and its length; NULL = none. */
static const char *rule_find_name(const char *text, size_t *ret_len)
{
    static const struct {
        const char *word;
        const char *const *name;
    } rows[] = {
        { "{backend_type}", &lbc_names.backend_type },
        { "{nodes}", &lbc_names.nodes },
        { "{pods}", &lbc_names.pods },
        { "{tag_owner}", &lbc_names.tag_owner },
        { "{tag_cluster}", &lbc_names.tag_cluster },
        { "{tag_reuse}", &lbc_names.tag_reuse },
        { "{tag_tenants}", &lbc_names.tag_tenants },
    };

    for (size_t i = 0; *text == '{' && i < CCM_ARRAY_LEN(rows); i++) {
        if (ccm_text_starts(text, rows[i].word)) {
            *ret_len = strlen(rows[i].word);
            return *rows[i].name;
        }
    }
    return NULL;
}

const char *lbc_rule_key(const struct lbc_rule *rule)
{
    size_t len = 0;
    const char *name = rule_find_name(rule->key, &len);

    return name == NULL ? rule->key : name;
}

void lbc_rule_write(const struct lbc_rule *rule, struct ccm_buf *text)
{
    size_t len = 1;

    for (const char *at = rule->text; *at != '\0'; at += len) {
        const char *name = rule_find_name(at, &len);

        if (name != NULL) {
            ccm_buf_adds(text, name);
        } else {
            len = 1;
            ccm_buf_add(text, at, len);
        }
    }
}
