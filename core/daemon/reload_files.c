#include "daemon/reload_files.h"

#include "util/array.h"
#include "util/buf.h"
#include "util/text.h"

#include <stdlib.h>

struct named {
    const char *plugin;
    const char *path;
    struct config_stamp read; /* of the file as the plugin knows it */
    struct config_stamp seen; /* of one that differs from it */
};

struct daemon_reload_files {
    struct named *items;
    size_t len;
    size_t cap;
};

static int files_add_path(struct daemon_reload_files *files, const char *plugin, const char *path)
{
    const int r = ccm_array_grow(&files->items, &files->cap, files->len + 1, sizeof(*files->items));

    if (r == 0) {
        const struct config_stamp stamp = config_stamp_of(path);

        files->items[files->len++] = (struct named){
            .plugin = plugin,
            .path = path,
            .read = stamp,
            .seen = stamp,
        };
    }
    return r;
}

static int files_add_options(struct daemon_reload_files *files, const struct plugin_entry *entry,
                             const struct config_tree *config)
{
    const struct ccm_option *const *rows =
        entry->loaded == NULL ? NULL : entry->loaded->desc->options;

    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        const char *path = rows[i]->type == CCM_OPTION_PATH
                               ? config_string(config, entry->name, rows[i]->group, rows[i]->name)
                               : NULL;

        const int r = ccm_text_empty(path) ? 0 : files_add_path(files, entry->name, path);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

struct daemon_reload_files *daemon_reload_files_new(struct plugin_registry *registry,
                                                    const struct config_tree *config)
{
    struct daemon_reload_files *files = calloc(1, sizeof(*files));

    for (size_t i = 0; files != NULL && i < plugin_registry_len(registry); i++) {
        if (files_add_options(files, plugin_registry_at(registry, i), config) < 0) {
            daemon_reload_files_free(files);
            return NULL;
        }
    }
    return files;
}

void daemon_reload_files_free(struct daemon_reload_files *files)
{
    if (files != NULL) {
        free(files->items);
        free(files);
    }
}

/* Whether the plugin may find something else there now. */
static bool has_changed(struct named *file, bool at_once)
{
    const struct config_stamp now = config_stamp_of(file->path);

    if (config_stamp_equal(&now, &file->read)) {
        return false;
    }
    if (!at_once && !config_stamp_equal(&now, &file->seen)) {
        file->seen = now;
        return false;
    }
    file->read = now;
    file->seen = now;
    return true;
}

void daemon_reload_files_check(struct daemon_reload_files *files, struct daemon_runners *runners,
                               bool at_once)
{
    for (size_t i = 0; i < files->len; i++) {
        struct named *file = &files->items[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf why = { .max = 4096 };

        if (has_changed(file, at_once)) {
            ccm_buf_addf(&why, "%s has changed", file->path);
            daemon_runners_retry_now(runners, file->plugin, ccm_buf_str(&why));
        }
    }
}
