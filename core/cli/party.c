#include "cli/party.h"

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

void cli_party_fini(struct cli_party *party)
{
    free(party->plugins);
    for (size_t i = 0; i < party->loaded_len; i++) {
        plugin_free(party->loaded[i]);
    }
    free(party->loaded);
    daemon_setup_fini(&party->setup);
}

static int party_add_plugin(struct cli_party *party, const struct ccm_plugin *desc,
                            const char *name, const struct config_tree *config)
{
    if (!party->has(desc)) {
        return 0;
    }

    const int r =
        ccm_array_grow(&party->plugins, &party->cap, party->len + 1, sizeof(*party->plugins));

    if (r == 0) {
        party->plugins[party->len++] = (struct daemon_plugin_options){ desc, name, config };
    }
    return r;
}

static int party_load_plugin(struct cli_party *party, const char *spec, const char *folder)
{
    struct ccm_error err = CCM_ERROR_INIT;
    int r = ccm_array_grow(&party->loaded, &party->loaded_cap, party->loaded_len + 1,
                           sizeof(*party->loaded));

    if (r < 0) {
        return r;
    }
    r = plugin_load(spec, folder, party->flags, &party->loaded[party->loaded_len], &err);
    if (r < 0) {
        fprintf(stderr, "%s\n", err.message);
        return r;
    }

    const struct ccm_plugin *desc = party->loaded[party->loaded_len++]->desc;

    return party_add_plugin(party, desc, desc->name, NULL);
}

/* --plugin: a path, or a name in the folder. */
static int party_load_named(struct cli_party *party, const char *name, const char *folder)
{
    const size_t before = party->len;
    CCM_CLEANUP(ccm_freep) char *path = strchr(name, '/') == NULL ? NULL : realpath(name, NULL);

    if (path == NULL && strchr(name, '/') != NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return -ENOENT;
    }

    const int r = party_load_plugin(party, path == NULL ? name : path, folder);

    if (r == 0 && party->len == before) {
        fprintf(stderr, "%s: this plugin %s\n", name, party->cannot);
        return -ENOTSUP;
    }
    return r;
}

/* --plugin-dir alone: all that is there. */
static int party_load_folder(struct cli_party *party, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int r = count < 0 ? -errno : 0;

    if (r < 0) {
        fprintf(stderr, "%s: %s\n", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        if (r == 0 && ccm_text_ends(entries[i]->d_name, ".so")) {
            r = party_load_plugin(party, entries[i]->d_name, folder);
        }
        free(entries[i]);
    }
    free(entries);
    return r;
}

int cli_party_load_files(struct cli_party *party, const struct cli_command_args *args)
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
        return party_load_folder(party, folder);
    }
    for (size_t i = 0; i < args->plugin_count; i++) {
        const int r = party_load_named(party, args->plugins[i], folder == NULL ? told : folder);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int party_add_loaded(struct cli_party *party)
{
    for (size_t i = 0; i < plugin_registry_len(party->setup.registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(party->setup.registry, i);
        const int r = entry->loaded == NULL ? 0
                                            : party_add_plugin(party, entry->loaded->desc,
                                                               entry->name, party->setup.config);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int cli_party_load_configured(struct cli_party *party, const struct cli_command_args *args,
                              bool check)
{
    int r;

    party->setup.tell = cli_print_finding;
    party->setup.tell_arg = stderr;
    r = daemon_setup_load(args->config, &party->setup);

    if (r == 0 && check &&
        daemon_option_check(party->setup.config, party->setup.registry, NULL, cli_print_finding,
                            stderr) > 0) {
        r = -EINVAL;
    }
    if (r == 0 && party->setup.refused > 0) {
        r = -ENOEXEC;
    }
    if (r == 0) {
        r = party_add_loaded(party);
    }
    if (r < 0 && !args->config_is_set) {
        fprintf(stderr, "ccmd: without a configuration, name the plugins: --plugin FILE\n");
    }
    return r;
}
