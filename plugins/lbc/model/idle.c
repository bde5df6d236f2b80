#include "lbc/model/idle.h"

#include "lbc/model/candidate.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

/* --- listeners of other protocols --- */

bool lbc_idle_has_protocol(const struct lbc_lint_rules *rules, const struct ccm_service *service,
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

static void idle_find_protocols(const struct lbc_idle *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 200 };

        if (row->on != 0 && lbc_anno_value(&it->service->meta, row)[0] != '\0' &&
            !lbc_idle_has_protocol(it->rules, it->service, row)) {
            ccm_buf_adds(&why, "has no effect: it is for ");
            lbc_anno_write_protocols(row, "|", &why);
            ccm_buf_adds(&why, " listeners, and there are none");
            it->found(it->arg, CCM_LEVEL_WARN, row->name, ccm_buf_str(&why));
        }
    }
}

/* --- entries of lists --- */

/* As protocol-port means it: by the text of the number. */
static bool service_has_port(const struct ccm_service *service, const char *port)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        char number[24];

        ccm_text_printf(number, sizeof(number), "%lld", (long long)service->ports[i]->port);
        if (strcmp(number, port) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the listener of that port speaks one of the row's protocols, or cannot be known. */
static bool service_speaks_at(const struct lbc_idle *it, const char *port,
                              const struct lbc_anno *row)
{
    for (uint64_t i = 0; i < it->service->port_count; i++) {
        struct ccm_error ignored = CCM_ERROR_INIT;
        enum lbc_protocol protocol = LBC_OTHER;
        char number[24];

        ccm_text_printf(number, sizeof(number), "%lld", (long long)it->service->ports[i]->port);
        if (strcmp(number, port) == 0 &&
            (lbc_setting_protocol(it->service, it->service->ports[i], it->rules->protocols,
                                  &protocol, &ignored) < 0 ||
             (row->on >> protocol & 1U) != 0)) {
            return true;
        }
    }
    return row->on == 0;
}

static const char *entry_get_port(const struct lbc_lint_list *list,
                                  const struct lbc_setting_pair *pair)
{
    return list->left ? pair->left : pair->right;
}

/* Whether an earlier entry of the list is for the same port: that one counts. */
static bool entry_is_second(const struct lbc_lint_list *list, const char *value, size_t index,
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
static void idle_find_entries(const struct lbc_idle *it, const struct lbc_lint_list *list)
{
    const struct lbc_anno *row = lbc_anno_find(it->rules->annotations, list->suffix);
    const bool speaks = row != NULL && row->on != 0 &&
                        lbc_idle_has_protocol(it->rules, it->service, row); /* else it is named */
    const char *value = lbc_anno_get(&it->service->meta, list->suffix);
    const char *cursor = value;
    struct lbc_setting_pair pair;

    for (size_t i = 0; lbc_setting_next_pair(&cursor, &pair); i++) {
        const char *port = entry_get_port(list, &pair);
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 2 * LBC_PAIR_MAX + 300 };

        if (pair.good && !service_has_port(it->service, port)) {
            ccm_buf_addf(&why, "has an entry [%s] without effect: there is no port %s, only ",
                         pair.entry, port);
            service_write_ports(it->service, &why);
            ccm_buf_adds(&why, ": correct the entry, or add that port");
        } else if (pair.good && entry_is_second(list, value, i, port)) {
            ccm_buf_addf(&why, "has an entry [%s] without effect: an earlier one is for port %s",
                         pair.entry, port);
        } else if (pair.good && speaks && !service_speaks_at(it, port, row)) {
            ccm_buf_addf(&why, "has an entry [%s] without effect: the listener of port %s is not ",
                         pair.entry, port);
            lbc_anno_write_protocols(row, "|", &why);
        }
        if (why.len > 0) {
            it->found(it->arg, CCM_LEVEL_WARN, list->suffix, ccm_buf_str(&why));
        }
    }
}

/* --- hints --- */

static void idle_find_hints(const struct lbc_idle *it, const struct lbc_hint *hint)
{
    const enum lbc_backend_mode mode = lbc_backend_mode(it->service, it->pods_by_default);

    for (; hint != NULL && hint->key != NULL; hint++) {
        if ((hint->modes == 0 || (hint->modes >> mode & 1U) != 0) &&
            lbc_hint_applies(hint, it->service) &&
            (hint->unless == NULL || !it->is_on(it->arg, hint->unless))) {
            CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 600 };

            lbc_hint_write(hint, &why);
            it->found(it->arg, hint->guards ? CCM_LEVEL_ERROR : CCM_LEVEL_WARN, lbc_hint_key(hint),
                      ccm_buf_str(&why));
        }
    }
}

/* --- values that look like "on" --- */

static void idle_find_words(const struct lbc_idle *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = 0; i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        const char *value = lbc_anno_value(&it->service->meta, row);
        const bool is_on = (row->flags & LBC_ANNO_NO_CASE) != 0 ? ccm_text_equal_case(value, "on")
                                                                : strcmp(value, "on") == 0;

        if (row->type == LBC_ANNO_ON && value[0] != '\0' && !is_on &&
            !ccm_text_equal_case(value, "off") && !ccm_text_equal_case(value, "false")) {
            it->found(it->arg, CCM_LEVEL_WARN, row->name,
                      "has no effect with this value: only \"on\" switches it on");
        }
    }
}

/* --- what an annotation needs --- */

/* Whether listeners of the Service have the row's attribute, and each of them needs the switch. */
static bool idle_rests_on(const struct lbc_idle *it, const struct lbc_anno *row,
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
static void idle_find_lacking(const struct lbc_idle *it, const struct lbc_anno *row,
                              const struct lbc_anno *needed)
{
    const char *present = lbc_anno_value(&it->service->meta, needed);
    const bool guards = (row->flags & LBC_ANNO_GUARD) != 0;
    char why[160];

    if (lbc_anno_value(&it->service->meta, row)[0] == '\0' ||
        (present[0] != '\0' && (!guards || lbc_anno_is_on(present))) ||
        !idle_rests_on(it, row, needed)) {
        return;
    }
    ccm_text_printf(why, sizeof(why), "has no effect without %s%s%s", row->needs,
                    row->need == LBC_NEED_SET ? "" : " on",
                    guards ? ", so it does not limit who may connect" : "");
    it->found(it->arg, guards && present[0] == '\0' ? CCM_LEVEL_ERROR : CCM_LEVEL_WARN, row->name,
              why);
}

/* By the annotation that is needed, the last one of the table first. */
static void idle_find_needs(const struct lbc_idle *it)
{
    const struct lbc_anno_table *table = it->rules->annotations;

    for (size_t i = table->count; i-- > 0;) {
        for (size_t k = 0; k < table->count; k++) {
            const struct lbc_anno *row = &table->rows[k];

            if (row->needs != NULL && strcmp(row->needs, table->rows[i].name) == 0) {
                idle_find_lacking(it, row, &table->rows[i]);
            }
        }
    }
}

void lbc_idle_find(const struct lbc_idle *it)
{
    const struct lbc_lint_list *list = it->rules->lists;

    idle_find_protocols(it);
    for (; list != NULL && list->suffix != NULL; list++) {
        idle_find_entries(it, list);
    }
    idle_find_words(it);
    idle_find_hints(it, lbc_hints);
    idle_find_needs(it);
    idle_find_hints(it, it->rules->hints);
}
