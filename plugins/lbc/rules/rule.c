#include "lbc/rules/rule.h"

#include "lbc/model/candidate.h"
#include "lbc/rules/inside.h"
#include "lbc/rules/lint.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

static void rule_add_found(const struct lbc_rule_ask *it, enum lbc_found_kind kind, uint64_t level,
                           const char *key, const char *text)
{
    const struct lbc_found found = { kind, level, key, text };

    if ((it->kinds >> kind & 1U) != 0 && text[0] != '\0') {
        it->found(it->arg, &found);
    }
}

static void rule_add_idle(const struct lbc_rule_ask *it, uint64_t level, const char *name,
                          const char *why)
{
    rule_add_found(it, LBC_FOUND_NO_EFFECT, level, name, why);
}

/* --- listeners of other protocols --- */

static bool rule_has_protocol(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                              const struct lbc_anno *row)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;

        if (lbc_setting_protocol(service, service->ports[i], rules->protocols, &protocol, &err) <
                0 ||
            (row->on >> protocol & 1U) != 0) {
            return true;
        }
    }
    return false;
}

static void rule_find_protocols(const struct lbc_rule_ask *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 200 };

        if (row->on != 0 && lbc_anno_value(&it->service->meta, row)[0] != '\0' &&
            !rule_has_protocol(it->rules, it->service, row)) {
            ccm_buf_adds(&why, "has no effect: it is for ");
            lbc_anno_write_protocols(row, "|", &why);
            ccm_buf_adds(&why, " listeners, and there are none");
            rule_add_idle(it, CCM_LEVEL_WARN, row->name, ccm_buf_str(&why));
        }
    }
}

/* --- entries of lists --- */

/* Whether a port of the Service has that number, as protocol-port means it: by its text. row: and
 * its listener speaks one of the row's protocols, or cannot be known; NULL = whatever it speaks. */
static bool rule_has_port(const struct lbc_rule_ask *it, const char *port,
                          const struct lbc_anno *row)
{
    for (uint64_t i = 0; i < it->service->port_count; i++) {
        struct ccm_error ignored = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;
        char number[24];

        ccm_text_printf(number, sizeof(number), "%lld", (long long)it->service->ports[i]->port);
        if (strcmp(number, port) == 0 &&
            (row == NULL ||
             lbc_setting_protocol(it->service, it->service->ports[i], it->rules->protocols,
                                  &protocol, &ignored) < 0 ||
             (row->on >> protocol & 1U) != 0)) {
            return true;
        }
    }
    return false;
}

static const char *entry_get_port(const struct lbc_rule *list, const struct lbc_setting_pair *pair)
{
    return list->port == LBC_RULE_LEFT ? pair->left : pair->right;
}

/* Whether an earlier entry of the list is for the same port: that one counts. */
static bool entry_is_second(const struct lbc_rule *list, const char *value, size_t index,
                            const char *port)
{
    const char *cursor = value;
    struct lbc_setting_pair pair;

    for (size_t i = 0; i < index && lbc_setting_next_pair(&cursor, &pair); i++) {
        if (pair.good && strcmp(entry_get_port(list, &pair), port) == 0) {
            return true;
        }
    }
    return false;
}

#define PORTS_SHOWN 5

/* "80, 443 and 3 more" */
static void service_write_ports(const struct ccm_service *service, struct ccm_buf *text)
{
    for (uint64_t i = 0; i < service->port_count && i < PORTS_SHOWN; i++) {
        ccm_buf_addf(text, "%s%lld", i == 0 ? "" : ", ", (long long)service->ports[i]->port);
    }
    if (service->port_count > PORTS_SHOWN) {
        ccm_buf_addf(text, " and %llu more", (unsigned long long)service->port_count - PORTS_SHOWN);
    }
}

/* Entries for ports that the Service does not have, that are no numbers, or whose listener speaks
 * another protocol, and second ones for a port: mostly a slip. */
static void rule_find_entries(const struct lbc_rule_ask *it, const struct lbc_rule *list)
{
    const struct lbc_anno *row = lbc_anno_find(it->rules->annotations, list->key);
    const bool speaks = row != NULL && row->on != 0 &&
                        rule_has_protocol(it->rules, it->service, row); /* else it is named */
    const char *value = lbc_anno_get(&it->service->meta, list->key);
    const char *cursor = list->port == LBC_RULE_NO_LIST ? NULL : value;
    struct lbc_setting_pair pair;

    for (size_t i = 0; lbc_setting_next_pair(&cursor, &pair); i++) {
        const char *port = entry_get_port(list, &pair);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 2 * LBC_PAIR_MAX + 300 };

        if (pair.good && !rule_has_port(it, port, NULL)) {
            ccm_buf_addf(&why, "has an entry [%s] without effect: there is no port %s, only ",
                         pair.entry, port);
            service_write_ports(it->service, &why);
            ccm_buf_adds(&why, ": correct the entry, or add that port");
        } else if (pair.good && entry_is_second(list, value, i, port)) {
            ccm_buf_addf(&why, "has an entry [%s] without effect: an earlier one is for port %s",
                         pair.entry, port);
        } else if (pair.good && speaks && !rule_has_port(it, port, row)) {
            ccm_buf_addf(&why, "has an entry [%s] without effect: the listener of port %s is not ",
                         pair.entry, port);
            lbc_anno_write_protocols(row, "|", &why);
        }
        rule_add_idle(it, CCM_LEVEL_WARN, list->key, ccm_buf_str(&why));
    }
}

/* --- rows --- */

static bool rule_applies(const struct lbc_rule_ask *it, const struct lbc_rule *rule)
{
    const char *key = lbc_rule_key(rule);

    if (rule->families != 0) {
        return it->rules->families_of(it->service) == rule->families &&
               lbc_setting_lacks_family(it->service, rule->families);
    }
    return (rule->topic != NULL ||
            !ccm_text_empty(strchr(key, '/') == NULL
                                ? lbc_anno_get(&it->service->meta, key)
                                : ccm_object_annotation(&it->service->meta, key))) &&
           (rule->applies == NULL || rule->applies(it->service));
}

bool lbc_rule_holds(const struct lbc_rule_ask *it, const struct lbc_rule *rule)
{
    const enum lbc_backend_mode mode = lbc_backend_mode(it->service, it->pods_by_default);

    return rule->port == LBC_RULE_NO_LIST &&
           (rule->modes == 0 || (rule->modes >> mode & 1U) != 0) && rule_applies(it, rule) &&
           (rule->unless == NULL || !it->is_on(it->arg, rule->unless));
}

static void rule_find_rows(const struct lbc_rule_ask *it, const struct lbc_rule *rule)
{
    const bool reused = !ccm_text_empty(lbc_setting_reused_id(it->rules->annotations, it->service));

    for (; rule != NULL && rule->key != NULL; rule++) {
        const bool refused = rule->refusal != NULL && !reused;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 1000 };

        if (lbc_rule_holds(it, rule)) {
            lbc_rule_write(rule, &why);
            rule_add_found(it, rule->topic == NULL ? LBC_FOUND_NO_EFFECT : LBC_FOUND_FIELD,
                           refused || rule->guards ? CCM_LEVEL_ERROR : CCM_LEVEL_WARN,
                           lbc_rule_key(rule), refused ? rule->refusal : ccm_buf_str(&why));
        }
    }
}

/* --- values that look like "on" --- */

static void rule_find_words(const struct lbc_rule_ask *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        const char *value = lbc_anno_value(&it->service->meta, row);
        const bool is_on = (row->flags & LBC_ANNO_NO_CASE) != 0 ? ccm_text_equal_case(value, "on")
                                                                : strcmp(value, "on") == 0;

        if (row->type == LBC_ANNO_ON && value[0] != '\0' && !is_on &&
            !ccm_text_equal_case(value, "off") && !ccm_text_equal_case(value, "false")) {
            rule_add_idle(it, CCM_LEVEL_WARN, row->name,
                          "has no effect with this value: only \"on\" switches it on");
        }
    }
}

/* --- what an annotation needs --- */

/* Whether listeners of the Service have the row's attribute, and each of them needs the switch. */
static bool rule_rests_on(const struct lbc_rule_ask *it, const struct lbc_anno *row,
                          const struct lbc_anno *needed)
{
    bool found = false;

    for (uint64_t i = 0; i < it->service->port_count; i++) {
        struct ccm_error ignored = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;

        if (lbc_setting_protocol(it->service, it->service->ports[i], it->rules->protocols,
                                 &protocol, &ignored) < 0) {
            return false;
        }
        if (row->on == 0 || (row->on >> protocol & 1U) != 0) {
            if (needed->on != 0 && (needed->on >> protocol & 1U) == 0) {
                return false;
            }
            found = true;
        }
    }
    return found && (row->group != LBC_ANNO_LISTENER ||
                     lbc_setting_has_listeners(it->rules->annotations, it->service));
}

/* An explicit "off" is a decision: only what limits who may connect is named beside it. */
static void rule_find_lacking(const struct lbc_rule_ask *it, const struct lbc_anno *row,
                              const struct lbc_anno *needed)
{
    const char *present = lbc_anno_value(&it->service->meta, needed);
    const bool guards = (row->flags & LBC_ANNO_GUARD) != 0;
    char why[160];

    if (lbc_anno_value(&it->service->meta, row)[0] == '\0' ||
        (present[0] != '\0' && (!guards || lbc_anno_is_on(present))) ||
        !rule_rests_on(it, row, needed)) {
        return;
    }
    ccm_text_printf(why, sizeof(why), "has no effect without %s%s%s", row->needs,
                    row->need == LBC_NEED_SET ? "" : " on",
                    guards ? ", so it does not limit who may connect" : "");
    rule_add_idle(it, guards && present[0] == '\0' ? CCM_LEVEL_ERROR : CCM_LEVEL_WARN, row->name,
                  why);
}

/* Whether an annotation is set that needs another one: few Services have one. */
static bool rule_has_needs(const struct lbc_rule_ask *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].needs != NULL &&
            lbc_anno_value(&it->service->meta, &table->rows[i])[0] != '\0') {
            return true;
        }
    }
    return false;
}

/* By the annotation that is needed, the last one of the table first. */
static void rule_find_needs(const struct lbc_rule_ask *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = rule_has_needs(it) ? table->count : 0; i-- > 0;) {
        for (size_t k = 0; k < table->count; k++) {
            const struct lbc_anno *row = &table->rows[k];

            if (row->needs != NULL && strcmp(row->needs, table->rows[i].name) == 0) {
                rule_find_lacking(it, row, &table->rows[i]);
            }
        }
    }
}

static void rule_find_idle(const struct lbc_rule_ask *it)
{
    const struct lbc_rule *rule = it->rules->rows;

    rule_find_protocols(it);
    for (; rule != NULL && rule->key != NULL; rule++) {
        rule_find_entries(it, rule);
    }
    rule_find_words(it);
    rule_find_rows(it, lbc_rules);
    rule_find_needs(it);
    rule_find_rows(it, it->rules->rows);
}

/* --- what may not be meant --- */

static void rule_find_unclear(const struct lbc_rule_ask *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = 0; it->rules->unclear != NULL && i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        const char *words = it->rules->unclear(row, lbc_anno_value(&it->service->meta, row));
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 900 };

        if (words != NULL) {
            ccm_buf_addf(&text,
                         "annotation %s: %s was without effect under the controller that ccmd "
                         "replaces, so it is left alone",
                         row->name, words);
        }
        rule_add_found(it, LBC_FOUND_UNCLEAR, CCM_LEVEL_WARN, row->name, ccm_buf_str(&text));
    }
}

static void rule_find_inside(const struct lbc_rule_ask *it)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf inside = { .max = 900 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf tls = { .max = 900 };

    lbc_inside_describe(it->rules, it->view, lbc_inside_ip_mode(it->rules, it->view, it->ip_mode),
                        &inside);
    rule_add_found(it, LBC_FOUND_INSIDE, CCM_LEVEL_INFO, "spec.type", ccm_buf_str(&inside));
    lbc_inside_find_tls(it->rules, it->view, &tls);
    rule_add_found(it, LBC_FOUND_TLS, CCM_LEVEL_WARN, "protocol-port", ccm_buf_str(&tls));
}

void lbc_rules_find(const struct lbc_rule_ask *it)
{
    if ((it->kinds & 1U << LBC_FOUND_UNCLEAR) != 0) {
        rule_find_unclear(it);
    }
    if ((it->kinds & (1U << LBC_FOUND_NO_EFFECT | 1U << LBC_FOUND_FIELD)) != 0) {
        rule_find_idle(it);
    }
    if ((it->kinds & (1U << LBC_FOUND_INSIDE | 1U << LBC_FOUND_TLS)) != 0) {
        rule_find_inside(it);
    }
}

/* --- annotations that count --- */

static bool is_void_by(const struct lbc_rule *rule, const struct ccm_service *service,
                       const struct lbc_anno *row)
{
    for (; rule != NULL && rule->key != NULL; rule++) {
        if (rule->is_void && strcmp(rule->key, row->name) == 0 &&
            (rule->applies == NULL || rule->applies(service))) {
            return true;
        }
    }
    return false;
}

bool lbc_rules_count(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                     const struct lbc_anno *row)
{
    if (row->group == LBC_ANNO_LISTENER && row->decides != LBC_DECIDES_PORTS &&
        !lbc_setting_has_listeners(rules->annotations, service)) {
        return false;
    }
    return (row->on == 0 || rule_has_protocol(rules, service, row)) &&
           !is_void_by(lbc_rules, service, row) && !is_void_by(rules->rows, service, row) &&
           (row->need < LBC_NEED_SET || lbc_anno_is_on(lbc_anno_get(&service->meta, row->needs))) &&
           (rules->counts == NULL || rules->counts(service, row));
}
