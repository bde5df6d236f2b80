#include "config/rows.h"

#include "config/options.h"
#include "config/value.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char config_mark_known = 'k';
const char config_mark_parent = 'p';

void config_mark(config_setting_t *setting, const char *mark)
{
    config_setting_set_hook(setting, (void *)(uintptr_t)mark);
}

void config_label(char *label, const char *scope, const char *name)
{
    ccm_text_printf(label, CONFIG_LABEL_SIZE, "%s%s%s", scope, *scope == '\0' ? "" : ".", name);
}

void config_key(char *key, const char *plugin, const char *group, const char *name)
{
    /* A group has no '@' in it, a name no ':'. Names that are too long for a table are cut, and
     * found nowhere. */
    if (group == NULL) {
        ccm_text_printf(key, CONFIG_KEY_SIZE, "@%s:%s", plugin == NULL ? "" : plugin, name);
    } else {
        ccm_text_printf(key, CONFIG_KEY_SIZE, "%s:%s", group, name);
    }
}

const struct ccm_option *config_core_row(const char *group, const char *name)
{
    for (size_t i = 0; config_core_options[i] != NULL; i++) {
        const struct ccm_option *row = config_core_options[i];

        if (ccm_text_equal(row->group, group) && strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

bool config_core_group(const char *group)
{
    for (size_t i = 0; config_core_options[i] != NULL; i++) {
        if (ccm_text_equal(config_core_options[i]->group, group)) {
            return true;
        }
    }
    return ccm_text_equal(group, "plugins");
}

/* --- finding -------------------------------------------------------------------------------- */

/* Whether the setting is a group; if not that is reported, once. */
static bool open_group(struct config_tree *config, config_setting_t *setting, const char *label)
{
    if (config_setting_is_group(setting)) {
        config_mark(setting, &config_mark_parent);
        return true;
    }
    if (config_setting_get_hook(setting) == NULL) {
        config_problems_add(&config->problems, setting->line,
                            "'%s': expected a group { }, found %s", label,
                            config_found_type(setting));
        config_mark(setting, &config_mark_known);
    }
    return false;
}

config_setting_t *config_find(struct config_tree *config, config_setting_t *parent,
                              const char *scope, const struct ccm_option *row)
{
    const char *rest = row->name;
    char label[CONFIG_LABEL_SIZE];
    char part[CONFIG_NAME_SIZE];
    const char *dot;

    while (parent != NULL && (dot = strchr(rest, '.')) != NULL) {
        const size_t len = (size_t)(dot - rest);

        memcpy(part, rest, len); /* fits: the length of the whole name was checked */
        part[len] = '\0';
        parent = config_setting_get_member(parent, part);
        ccm_text_printf(part, sizeof(part), "%.*s", (int)(dot - row->name), row->name);
        config_label(label, scope, part);
        if (parent != NULL && !open_group(config, parent, label)) {
            return NULL;
        }
        rest = dot + 1;
    }
    if (parent == NULL) {
        return NULL;
    }

    config_setting_t *setting = config_setting_get_member(parent, rest);

    if (setting != NULL) {
        config_mark(setting, &config_mark_known);
    }
    return setting;
}

/* The group or the entry in which a row is looked for; NULL when it is missing or no group. */
static config_setting_t *parent_of(struct config_tree *config, const struct config_entry *entry,
                                   const struct ccm_option *row)
{
    config_setting_t *root = config_root_setting(&config->tree);

    if (row->group == NULL) {
        return entry->setting;
    }
    if (*row->group == '\0') {
        return root;
    }

    config_setting_t *group = config_setting_get_member(root, row->group);

    return group != NULL && open_group(config, group, row->group) ? group : NULL;
}

/* --- faults of a table ---------------------------------------------------------------------- */

static bool is_row_word(const char *text, size_t len)
{
    return len > 0 && *text >= 'a' && *text <= 'z' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") >= len;
}

static bool is_row_name(const char *name)
{
    const char *rest = name;
    const char *dot;

    if (ccm_text_empty(name) || strlen(name) >= CONFIG_NAME_SIZE) {
        return false;
    }
    while ((dot = strchr(rest, '.')) != NULL) {
        if (!is_row_word(rest, (size_t)(dot - rest))) {
            return false;
        }
        rest = dot + 1;
    }
    return is_row_word(rest, strlen(rest));
}

/* What is wrong with a row of a plugin as such; NULL = nothing. */
static const char *fault_of(const struct ccm_option *row)
{
    if (row->struct_size < sizeof(*row)) {
        return "its struct_size is too small";
    }
    if ((row->flags & ~(CCM_OPTION_REQUIRED | CCM_OPTION_LIVE | CCM_OPTION_RETIRED)) != 0) {
        return "it has flags that this version does not know";
    }
    if (!is_row_name(row->name)) {
        return "its name is not words joined by dots";
    }
    if (row->group == NULL) {
        for (size_t i = 0; config_entry_options[i] != NULL; i++) {
            if (strcmp(config_entry_options[i]->name, row->name) == 0) {
                return "its name belongs to the daemon";
            }
        }
        return NULL;
    }
    if (strchr(row->group, '.') != NULL || (*row->group != '\0' && !is_row_name(row->group))) {
        return "its group is not a word";
    }
    if (config_core_group(row->group) && config_core_row(row->group, row->name) == NULL) {
        return "its group belongs to the daemon";
    }
    return NULL;
}

/* Same meaning, whoever lists it. */
static bool rows_agree(const struct ccm_option *a, const struct ccm_option *b)
{
    const char *a_fallback = a->fallback == NULL ? "" : a->fallback;
    const char *b_fallback = b->fallback == NULL ? "" : b->fallback;
    const bool limits = a->type != CCM_OPTION_INT || (a->min == b->min && a->max == b->max);

    return a->type == b->type && limits && strcmp(a_fallback, b_fallback) == 0 &&
           (a->type != CCM_OPTION_STRING ||
            (ccm_text_equal(a->values, b->values) && ccm_text_equal(a->pattern, b->pattern) &&
             ccm_text_equal(a->unless, b->unless)));
}

static void add_fault(struct config_tree *config, const struct config_entry *entry,
                      const char *label, const char *why)
{
    if (entry == NULL) {
        config_problems_add(&config->problems, 0, "option '%s' of the daemon: %s", label, why);
    } else {
        config_problems_add(&config->problems, entry->plugin.line,
                            "plugin '%s' has a fault: option '%s': %s", entry->plugin.name, label,
                            why);
    }
}

/* --- applying ------------------------------------------------------------------------------- */

/* Where to point when something is missing: the group, else who wants it. */
static unsigned line_of(const config_setting_t *parent, const struct config_entry *entry)
{
    if (parent != NULL && parent->line > 0) {
        return parent->line;
    }
    return entry == NULL ? 0 : entry->plugin.line;
}

static void check_required(struct config_tree *config, const struct config_entry *entry,
                           const struct ccm_option *row, const struct config_value *value,
                           unsigned line, const char *label)
{
    if ((row->flags & CCM_OPTION_REQUIRED) == 0 || value->faulty) {
        return;
    }
    if (!value->present) {
        config_problems_add(&config->problems, line, "option '%s' is required%s%s%s", label,
                            entry == NULL ? "" : " by plugin '",
                            entry == NULL ? "" : entry->plugin.name, entry == NULL ? "" : "'");
    } else if (!config_value_filled(value)) {
        config_problems_add(&config->problems, line, "option '%s' may not be empty", label);
    }
}

/* Whether the option that a row names as `unless` is on. */
static bool row_is_waived(const struct config_tree *config, const struct config_entry *entry,
                          const struct ccm_option *row)
{
    char key[CONFIG_KEY_SIZE];

    if (row->unless == NULL) {
        return false;
    }
    config_key(key, entry == NULL ? NULL : entry->plugin.name, row->group, row->unless);

    const struct config_value *word = ccm_strmap_get(config->values, key);

    return word != NULL && word->row->type == CCM_OPTION_BOOL && word->number != 0;
}

/* A row that nobody has listed before: read it and keep its value. */
static int apply_new(struct config_tree *config, const struct config_entry *entry,
                     const struct ccm_option *row, const char *key, const char *label)
{
    CCM_CLEANUP(config_value_freep) struct config_value *value = NULL;
    const char *scope = row->group == NULL ? entry->plugin.name : row->group;
    const size_t problems = config->problems.count;
    const char *why = "";
    int r = config_value_default(row, &value, &why);

    if (r == -EINVAL) {
        add_fault(config, entry, label, why);
        return 0;
    }
    if (r < 0) {
        return r;
    }

    config_setting_t *parent = parent_of(config, entry, row);
    const config_setting_t *setting = config_find(config, parent, scope, row);

    value->waived = row_is_waived(config, entry, row);
    if (setting != NULL) {
        r = config_value_read(value, label, setting, &config->problems);
        if (r < 0) {
            return r;
        }
    }
    value->faulty = config->problems.count != problems;
    check_required(config, entry, row, value,
                   setting != NULL ? setting->line : line_of(parent, entry), label);
    value->faulty = config->problems.count != problems; /* told once, also when others want it */
    r = ccm_strmap_set(config->values, key, value);
    if (r == 0) {
        (void)CCM_STEAL(value); /* the map owns it now */
    }
    return r;
}

char *config_place(const struct config_tree *config, unsigned line)
{
    unsigned own = line;
    const char *file = config_files_find(&config->files, line, &own);

    return own == 0 ? strdup(file == NULL ? config->file : file)
                    : ccm_text_format("%s:%u", file, own);
}

/* What was an option once: its value is not looked at. */
static int apply_retired(struct config_tree *config, const struct config_entry *entry,
                         const struct ccm_option *row, const char *label)
{
    const config_setting_t *setting =
        config_find(config, parent_of(config, entry, row),
                    row->group == NULL ? entry->plugin.name : row->group, row);

    if (setting == NULL) {
        return 0;
    }
    CCM_CLEANUP(ccm_freep) char *place = config_place(config, setting->line);
    CCM_CLEANUP(ccm_freep)
    char *item = place == NULL ? NULL : ccm_text_format("%s (%s): %s", label, place, row->help);

    if (item == NULL) {
        return -ENOMEM;
    }
    if (config->retired.len == 0) {
        ccm_buf_addf(&config->retired,
                     "%s: retired options are ignored, and the next version refuses them: %s",
                     config->file, item);
    } else if (strstr(ccm_buf_str(&config->retired), item) == NULL) { /* plugins share some */
        ccm_buf_addf(&config->retired, "; %s", item);
    }
    return ccm_buf_error(&config->retired);
}

static int apply_row(struct config_tree *config, const struct config_entry *entry,
                     const struct ccm_option *row, bool own)
{
    const char *why = own ? NULL : fault_of(row);
    char key[CONFIG_KEY_SIZE];
    char label[CONFIG_LABEL_SIZE];

    if (why != NULL) {
        add_fault(config, entry, ccm_text_empty(row->name) ? "?" : row->name, why);
        return 0;
    }
    config_key(key, entry == NULL ? NULL : entry->plugin.name, row->group, row->name);
    config_label(label, row->group == NULL ? entry->plugin.name : row->group, row->name);

    if ((row->flags & CCM_OPTION_RETIRED) != 0) {
        return apply_retired(config, entry, row, label);
    }

    const struct config_value *value = ccm_strmap_get(config->values, key);

    if (value == NULL) {
        return apply_new(config, entry, row, key, label);
    }
    if (!rows_agree(value->row, row)) {
        add_fault(config, entry, label,
                  "another plugin or the daemon lists it with a different type, default or range");
    } else {
        check_required(config, entry, row, value, line_of(parent_of(config, entry, row), entry),
                       label);
    }
    return 0;
}

int config_apply(struct config_tree *config, const struct config_entry *entry,
                 const struct ccm_option *const *rows)
{
    const bool own = rows == config_core_options || rows == config_entry_options;

    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        const int r = apply_row(config, entry, rows[i], own);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}
