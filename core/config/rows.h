/*
 * The parts of a configuration and how rows of option tables are applied to it; shared by the
 * sources of this module only. One thread.
 */
#ifndef CCM_CONFIG_ROWS_H
#define CCM_CONFIG_ROWS_H

#include "config/files.h"
#include "config/load.h"
#include "config/problems.h"
#include "util/strmap.h"

#include <libconfig.h>

#define CONFIG_NAME_SIZE 128 /* longest name of a group or an option, with the NUL */

struct config_entry {
    struct config_plugin plugin;
    char *name; /* plugin.name and plugin.file point here */
    char *file;
    config_setting_t *setting;
    const struct ccm_option *const *options; /* borrowed; NULL = none */
    bool bound;
};

struct config_tree {
    char *file;
    struct config_files files;
    struct config_stamp stamp; /* taken before it was read */
    config_t tree;
    bool parsed; /* false: there is nothing to look at */
    struct config_problems problems;
    struct ccm_buf retired;    /* see config_retired() */
    struct ccm_strmap *values; /* "SCOPE:NAME" -> struct config_value */
    struct config_entry *entries;
    size_t entry_count;
    size_t entry_cap;
};

/*
 * What the hook of a setting says once somebody has looked at it. A setting without a mark is one
 * that nobody knows.
 */
extern const char config_mark_known;  /* an option, or reported already: do not look inside */
extern const char config_mark_parent; /* a group on the way to an option: look inside */

void config_mark(config_setting_t *setting, const char *mark);

/* The setting below `parent` that the row stands for, marked; NULL = missing, or in the way stands
 * something that is no group (reported). `scope` is what people write in front: "clb", "". */
config_setting_t *config_find(struct config_tree *config, config_setting_t *parent,
                              const char *scope, const struct ccm_option *row);

/* "clb.workers", "log.level", "plugin_dir". */
#define CONFIG_LABEL_SIZE 320
void config_label(char *label, const char *scope, const char *name);

/* Key of `values`: options of a plugin's entry (group NULL), or of a group. */
#define CONFIG_KEY_SIZE 320
void config_key(char *key, const char *plugin, const char *group, const char *name);

/*
 * Read all rows. Those without a group are looked for in the entry, which is NULL for the daemon's
 * own. Faults of the file, and of the table when it is a plugin's, become problems. 0 or -ENOMEM.
 */
CCM_NODISCARD int config_apply(struct config_tree *config, const struct config_entry *entry,
                               const struct ccm_option *const *rows);

/* Report every setting that nobody knows. */
void config_check_keys(struct config_tree *config);

/* The daemon's row, or NULL; its group, or not. */
const struct ccm_option *config_core_row(const char *group, const char *name);
bool config_core_group(const char *group);

#endif
