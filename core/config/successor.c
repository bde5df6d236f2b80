/* A configuration that takes the place of another one. */
#include "config/rows.h"
#include "config/value.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct config_stamp *config_stamp(const struct config_tree *config)
{
    return &config->stamp;
}

const char *config_file(const struct config_tree *config)
{
    return config->file;
}

/* --- options -------------------------------------------------------------------------------- */

/* Whether every plugin that lists the option of a shared group says that it is live. */
static bool all_list_live(const struct config_tree *config, const struct ccm_option *wanted)
{
    for (size_t i = 0; i < config->entry_count; i++) {
        const struct ccm_option *const *rows = config->entries[i].options;

        for (size_t j = 0; rows != NULL && rows[j] != NULL; j++) {
            if (ccm_text_equal(rows[j]->group, wanted->group) &&
                strcmp(rows[j]->name, wanted->name) == 0 &&
                (rows[j]->flags & CCM_OPTION_LIVE) == 0) {
                return false;
            }
        }
    }
    return true;
}

static bool is_live(const struct config_tree *config, const struct ccm_option *row)
{
    const struct ccm_option *core =
        row->group == NULL ? row : config_core_row(row->group, row->name);

    if (core != NULL) {
        return (core->flags & CCM_OPTION_LIVE) != 0;
    }
    return all_list_live(config, row);
}

/* "@clb:workers" and "log:level" as people write them. */
static void label_of(char *label, const char *key)
{
    const char *colon = strchr(key, ':');
    const size_t skip = *key == '@' ? 1 : 0;
    char scope[CONFIG_KEY_SIZE];

    ccm_text_printf(scope, sizeof(scope), "%.*s", (int)((size_t)(colon - key) - skip), key + skip);
    config_label(label, scope, colon + 1);
}

/* One option of the old configuration. */
static int follow_value(struct config_tree *config, const struct config_tree *old, const char *key,
                        const struct config_value *before, config_changed_fn changed, void *arg)
{
    const struct config_value *after = ccm_strmap_get(config->values, key);
    const bool live = is_live(old, before->row);
    char label[CONFIG_LABEL_SIZE];

    if (after != NULL && config_value_equal(before, after)) {
        return 0;
    }
    if (after != NULL) { /* else it went with its plugin, which is told */
        label_of(label, key);
        changed(arg, label, live);
        if (live) {
            return 0;
        }
    }

    struct config_value *copy = config_value_copy(before);

    if (copy == NULL || ccm_strmap_set(config->values, key, copy) < 0) {
        config_value_free(copy);
        return -ENOMEM;
    }
    return 0;
}

/* --- plugins -------------------------------------------------------------------------------- */

static void follow_missing(const struct config_tree *from, const struct config_tree *in,
                           const char *what, config_changed_fn changed, void *arg)
{
    for (size_t i = 0; i < from->entry_count; i++) {
        const char *name = from->entries[i].plugin.name;
        char label[CONFIG_LABEL_SIZE];
        bool found = false;

        for (size_t j = 0; j < in->entry_count; j++) {
            found = found || strcmp(in->entries[j].plugin.name, name) == 0;
        }
        if (!found) {
            ccm_text_printf(label, sizeof(label), "plugins (%s %s)", name, what);
            changed(arg, label, false);
        }
    }
}

static void free_entries(struct config_tree *config)
{
    for (size_t i = 0; i < config->entry_count; i++) {
        free(config->entries[i].name);
        free(config->entries[i].file);
    }
    free(config->entries);
    config->entries = NULL;
    config->entry_count = 0;
    config->entry_cap = 0;
}

static int copy_entries(struct config_tree *config, const struct config_tree *old)
{
    free_entries(config);
    config->entries = calloc(old->entry_count, sizeof(*config->entries));
    if (config->entries == NULL) {
        return old->entry_count == 0 ? 0 : -ENOMEM;
    }
    config->entry_cap = old->entry_count;
    for (size_t i = 0; i < old->entry_count; i++) {
        struct config_entry *entry = &config->entries[config->entry_count++];

        *entry = old->entries[i];
        entry->setting = NULL;
        entry->name = strdup(old->entries[i].name);
        entry->file = strdup(old->entries[i].file);
        entry->plugin.name = entry->name;
        entry->plugin.file = entry->file;
        if (entry->name == NULL || entry->file == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

int config_follow(struct config_tree *config, const struct config_tree *old,
                  config_changed_fn changed, void *arg)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    follow_missing(old, config, "removed", changed, arg);
    follow_missing(config, old, "added", changed, arg);
    while (ccm_strmap_next(old->values, &cursor, &key, &value) != 0) {
        if (follow_value(config, old, key, value, changed, arg) < 0) {
            return -ENOMEM;
        }
    }

    const int r = copy_entries(config, old);

    /* What is left are values: a snapshot is kept as long as strings of it may be in use. */
    config_destroy(&config->tree);
    config_init(&config->tree);
    config->parsed = false;
    return r;
}
