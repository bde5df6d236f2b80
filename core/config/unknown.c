/* Keys that no option is for, with the name that was probably meant. */
#include "config/rows.h"

#include "config/options.h"
#include "util/suggest.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* Where an unknown key was found: a plugin's entry, or (entry NULL) a group, "" being the top. */
struct place {
    const struct config_entry *entry;
    const char *group;
    const char *prefix; /* names of the groups inside: "" or "endpoints." */
};

/* Candidates for "did you mean": parts of names live in no string of their own, so the best one is
 * copied. */
struct hint {
    struct ccm_suggest suggest;
    char best[CONFIG_NAME_SIZE];
};

static void offer_part(struct hint *hint, const char *name, size_t len)
{
    char part[CONFIG_NAME_SIZE];

    ccm_text_printf(part, sizeof(part), "%.*s", (int)len, name);
    ccm_suggest_offer(&hint->suggest, part);
    if (ccm_suggest_best(&hint->suggest) == part) {
        ccm_text_copy(hint->best, sizeof(hint->best), part);
        hint->suggest.best = hint->best;
    }
}

/* Offer the next word of a row's name, if the row stands at the place. */
static void offer_row(struct hint *hint, const struct place *place, const struct ccm_option *row)
{
    const size_t skip = strlen(place->prefix);
    const char *group = row->group;

    if ((row->flags & CCM_OPTION_RETIRED) != 0) {
        return;
    }
    if (place->entry == NULL && *place->group == '\0' && group != NULL && *group != '\0') {
        offer_part(hint, group, strlen(group));
        return;
    }

    const bool here =
        place->entry != NULL ? group == NULL : group != NULL && strcmp(group, place->group) == 0;

    if (here && row->name != NULL && strncmp(row->name, place->prefix, skip) == 0) {
        offer_part(hint, row->name + skip, strcspn(row->name + skip, "."));
    }
}

static void offer_rows(struct hint *hint, const struct place *place,
                       const struct ccm_option *const *rows)
{
    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        offer_row(hint, place, rows[i]);
    }
}

static void offer_all(const struct config_tree *config, struct hint *hint,
                      const struct place *place)
{
    if (place->entry != NULL) {
        offer_rows(hint, place, config_entry_options);
        offer_rows(hint, place, place->entry->options);
        return;
    }
    offer_rows(hint, place, config_core_options);
    if (*place->group == '\0') {
        offer_part(hint, "plugins", strlen("plugins"));
    }
    for (size_t i = 0; i < config->entry_count; i++) {
        offer_rows(hint, place, config->entries[i].options);
    }
}

static void report_unknown_key(struct config_tree *config, const struct place *place,
                               const config_setting_t *setting)
{
    const char *scope = place->entry != NULL ? place->entry->plugin.name : place->group;
    const char *name = config_setting_name(setting);
    struct hint hint = { .suggest = { .wanted = name } };
    char inner[CONFIG_LABEL_SIZE];
    char label[CONFIG_LABEL_SIZE];

    ccm_text_printf(inner, sizeof(inner), "%s%s", place->prefix, name);
    config_label(label, scope, inner);
    offer_all(config, &hint, place);
    if (hint.best[0] != '\0') {
        config_problems_add(
            &config->problems, setting->line, "unknown %s '%s' (did you mean '%s'?)",
            config_setting_is_group(setting) ? "group" : "option", label, hint.best);
    } else {
        config_problems_add(&config->problems, setting->line, "unknown %s '%s'",
                            config_setting_is_group(setting) ? "group" : "option", label);
    }
}

/* The depth of marked groups is bounded by the names in the tables. */
static void check_group_keys(struct config_tree *config, const struct place *place,
                             const config_setting_t *group)
{
    const int count = config_setting_length(group);

    for (int i = 0; i < count; i++) {
        const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
        const void *mark = config_setting_get_hook(setting);

        if (mark == NULL) {
            report_unknown_key(config, place, setting);
        } else if (mark == &config_mark_parent) {
            char prefix[CONFIG_LABEL_SIZE];
            const struct place inside = { place->entry, place->group, prefix };

            ccm_text_printf(prefix, sizeof(prefix), "%s%s.", place->prefix,
                            config_setting_name(setting));
            check_group_keys(config, &inside, setting);
        }
    }
}

/* Without any plugin nobody has said which groups there are. */
static bool all_bound(const struct config_tree *config)
{
    if (config->entry_count == 0) {
        return false;
    }
    for (size_t i = 0; i < config->entry_count; i++) {
        if (!config->entries[i].bound) {
            return false;
        }
    }
    return true;
}

static void check_top_key(struct config_tree *config, const config_setting_t *setting, bool all)
{
    const char *name = config_setting_name(setting);
    const struct place top = { NULL, "", "" };
    const struct place inside = { NULL, name, "" };
    const void *mark = config_setting_get_hook(setting);

    if (mark == NULL) {
        if (all || !config_setting_is_group(setting)) {
            report_unknown_key(config, &top, setting);
        }
    } else if (mark == &config_mark_parent && (all || config_core_group(name))) {
        check_group_keys(config, &inside, setting);
    }
}

void config_check_keys(struct config_tree *config)
{
    const config_setting_t *root = config_root_setting(&config->tree);
    const int count = config_setting_length(root);
    const bool all = all_bound(config);

    for (int i = 0; i < count; i++) {
        check_top_key(config, config_setting_get_elem(root, (unsigned)i), all);
    }
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct place place = { &config->entries[i], NULL, "" };

        if (config->entries[i].bound) {
            check_group_keys(config, &place, config->entries[i].setting);
        }
    }
}
