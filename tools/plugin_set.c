#include "tools/plugin_set.h"

#include "cli/findings.h"
#include "daemon/option_check.h"
#include "daemon/plugin_dir.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tool_plugin_set_fini(struct tool_plugin_set *set)
{
    free(set->plugins);
    free(set->watches);
    for (size_t i = 0; i < set->loaded_len; i++) {
        plugin_free(set->loaded[i]);
    }
    free(set->loaded);
    daemon_setup_fini(&set->setup);
}

static int set_add_watches(struct tool_plugin_set *set, const struct ccm_plugin *desc)
{
    for (const struct ccm_watch *const *w = desc->watches; *w != NULL; w++) {
        const int r = ccm_array_grow(&set->watches, &set->watch_cap, set->watch_len + 2,
                                     sizeof(const struct ccm_watch *));

        if (r < 0) {
            return r;
        }
        set->watches[set->watch_len++] = *w;
        set->watches[set->watch_len] = NULL;
    }
    return 0;
}

static int set_add_plugin(struct tool_plugin_set *set, const struct ccm_plugin *desc,
                          const char *name, const struct config_tree *config)
{
    int r = set_add_watches(set, desc);

    if (r < 0 || !set->has(desc)) {
        return r;
    }
    r = ccm_array_grow(&set->plugins, &set->cap, set->len + 1, sizeof(*set->plugins));
    if (r == 0) {
        set->plugins[set->len++] = (struct daemon_plugin_options){ desc, name, config };
    }
    return r;
}

static int set_load_plugin(struct tool_plugin_set *set, const char *spec, const char *folder)
{
    struct ccm_error err = CCM_ERROR_INIT;
    int r =
        ccm_array_grow(&set->loaded, &set->loaded_cap, set->loaded_len + 1, sizeof(*set->loaded));

    if (r < 0) {
        return r;
    }
    r = plugin_load(spec, folder, &set->loaded[set->loaded_len], &err);
    if (r < 0) {
        fprintf(stderr, "%s\n", err.message);
        return r;
    }

    const struct ccm_plugin *desc = set->loaded[set->loaded_len++]->desc;

    return set_add_plugin(set, desc, desc->name, NULL);
}

/* --plugin: a path, or a name in the folder. */
static int set_load_named(struct tool_plugin_set *set, const char *name, const char *folder)
{
    const size_t before = set->len;
    CCM_CLEANUP(ccm_freep) char *path = strchr(name, '/') == NULL ? NULL : realpath(name, NULL);

    if (path == NULL && strchr(name, '/') != NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return -ENOENT;
    }

    const int r = set_load_plugin(set, path == NULL ? name : path, folder);

    if (r == 0 && set->len == before) {
        fprintf(stderr, "%s: this plugin %s\n", name, set->cannot);
        return -ENOTSUP;
    }
    return r;
}

/* --plugin-dir alone: all that is there. */
static int set_load_folder(struct tool_plugin_set *set, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int r = count < 0 ? -errno : 0;

    if (r < 0) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        if (r == 0 && ccm_text_ends(entries[i]->d_name, ".so")) {
            r = set_load_plugin(set, entries[i]->d_name, folder);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

int tool_plugin_set_load_files(struct tool_plugin_set *set, const struct cli_command_args *args)
{
    CCM_CLEANUP(ccm_freep) char *told = daemon_plugin_dir(args->plugin_dir);
    CCM_CLEANUP(ccm_freep) char *folder = told == NULL ? NULL : realpath(told, NULL);

    if (told == NULL) {
        return -ENOMEM;
    }
    if (folder == NULL && (args->plugin_dir != NULL || args->plugin_count == 0)) {
        fprintf(stderr, "%s: %s\n", told, strerror(errno));
        return -ENOENT;
    }
    if (args->plugin_count == 0) {
        return set_load_folder(set, folder);
    }
    for (size_t i = 0; i < args->plugin_count; i++) {
        const int r = set_load_named(set, args->plugins[i], folder == NULL ? told : folder);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int set_add_loaded(struct tool_plugin_set *set)
{
    for (size_t i = 0; i < plugin_registry_len(set->setup.registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(set->setup.registry, i);
        const int r = entry->loaded == NULL ? 0
                                            : set_add_plugin(set, entry->loaded->desc, entry->name,
                                                             set->setup.config);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int tool_plugin_set_load_configured(struct tool_plugin_set *set,
                                    const struct cli_command_args *args, bool check)
{
    int r;

    set->setup.tell = cli_print_finding;
    set->setup.tell_arg = stderr;
    r = daemon_setup_load(args->config, &set->setup);

    if (r == 0 && check &&
        daemon_option_check(set->setup.config, set->setup.registry, NULL, cli_print_finding,
                            stderr) > 0) {
        r = -EINVAL;
    }
    if (r == 0 && set->setup.refused > 0) {
        r = -ENOEXEC;
    }
    if (r == 0) {
        r = set_add_loaded(set);
    }
    if (r < 0 && !args->config_is_set) {
        fprintf(stderr, "ccmd: without a configuration, name the plugins: --plugin FILE\n");
    }
    return r;
}
