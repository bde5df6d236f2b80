/* Which rows of a product need another annotation, and what is found when that one is absent. */
#ifndef CCM_LBC_TESTS_NEEDS_H
#define CCM_LBC_TESTS_NEEDS_H

#include "check.h"
#include "lbc/rules/annotation_text.h"
#include "lbc/rules/lint.h"
#include "objects.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

struct needs_found {
    const struct lbc_anno *row;
    unsigned errors;
    unsigned warnings;
};

static void needs_count(void *arg, const struct lbc_found *one)
{
    struct needs_found *found = arg;

    if (strcmp(one->key, found->row->name) == 0 &&
        ccm_text_starts(one->text, "has no effect without ") &&
        ccm_text_starts(one->text + strlen("has no effect without "), found->row->needs)) {
        found->errors += one->level == CCM_LEVEL_ERROR;
        found->warnings += one->level == CCM_LEVEL_WARN;
    }
}

static bool needs_option_off(void *arg, const struct ccm_option *option)
{
    (void)arg;
    (void)option;
    return false;
}

static void needs_annotate(struct ccm_service *service, const char *suffix, const char *value)
{
    char key[LBC_ANNO_KEY_MAX];

    obj_annotate(&service->meta, lbc_anno_suffix_key(&service->meta, suffix, key), value);
}

static struct needs_found needs_find(const struct lbc_lint_rules *rules, const struct lbc_anno *row,
                                     const char *protocol, const char *needed)
{
    struct ccm_service *service = obj_service();
    struct needs_found found = { .row = row };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf example = { .max = 200 };
    const struct lbc_rule_ask ask = {
        .kinds = 1U << LBC_FOUND_NO_EFFECT,
        .rules = rules,
        .service = service,
        .is_on = needs_option_off,
        .found = needs_count,
        .arg = &found,
    };
    char pair[32];

    ccm_text_printf(pair, sizeof(pair), "%s:80", protocol);
    obj_port(service, "web", "TCP", 80, "8080", 30080);
    needs_annotate(service, "protocol-port", pair);
    lbc_anno_write_example(row, &example);
    needs_annotate(service, row->name, ccm_buf_str(&example));
    if (needed != NULL) {
        needs_annotate(service, row->needs, needed);
    }
    lbc_rules_find(&ask);
    return found;
}

static void needs_check_row(const struct lbc_lint_rules *rules, const struct lbc_anno *row,
                            enum lbc_protocol protocol, const char *word)
{
    const struct lbc_anno *needed = lbc_anno_find(rules->annotations, row->needs);
    const bool guards = (row->flags & LBC_ANNO_GUARD) != 0;
    const bool lacks = (row->on == 0 || (row->on >> protocol & 1U) != 0) &&
                       (needed->on == 0 || (needed->on >> protocol & 1U) != 0);
    const struct needs_found absent = needs_find(rules, row, word, NULL);
    const struct needs_found off = needs_find(rules, row, word, "off");
    const struct needs_found on = needs_find(rules, row, word, "on");

    if (absent.errors != (lacks && guards) || absent.warnings != (lacks && !guards) ||
        off.errors != 0 || off.warnings != (lacks && guards) || on.errors + on.warnings != 0) {
        fail_msg("%s on %s", row->name, word);
    }
}

static bool needs_has_rule(const struct lbc_rule *rule, const struct lbc_anno *row)
{
    for (; rule != NULL && rule->key != NULL; rule++) {
        if (rule->port == LBC_RULE_NO_LIST && strcmp(lbc_rule_key(rule), row->name) == 0) {
            return true;
        }
    }
    return false;
}

/* expected: all rows: "row:switch " of each that needs a switch, "row!switch " where its absence is
 * an error, "row~ " where hints alone say when it has no effect, and "row " of each that always has
 * one. A new row fails the test until it is listed. protocols: "a|b". */
static void needs_check(const struct lbc_lint_rules *rules, const char *protocols,
                        const char *expected)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf rows = { .max = 8000 };

    for (size_t i = 0; i < rules->annotations->count; i++) {
        const struct lbc_anno *row = &rules->annotations->rows[i];
        const char *cursor = protocols;
        const char *piece = NULL;
        size_t len = 0;

        if (row->needs == NULL) {
            ccm_buf_addf(&rows, "%s%s ", row->name,
                         needs_has_rule(lbc_rules, row) || needs_has_rule(rules->rows, row) ? "~"
                                                                                            : "");
            continue;
        }
        ccm_buf_addf(&rows, "%s%c%s ", row->name, (row->flags & LBC_ANNO_GUARD) != 0 ? '!' : ':',
                     row->needs);
        while (ccm_parse_piece(&cursor, '|', &piece, &len)) {
            char word[16];

            ccm_text_printf(word, sizeof(word), "%.*s", (int)len, piece);
            needs_check_row(rules, row, lbc_protocol_parse(word, rules->protocols->known), word);
        }
    }
    assert_string_equal(ccm_buf_str(&rows), expected);
}

#endif
