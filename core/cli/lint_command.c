/* `ccmd lint`: gathers plugins that can check manifests, and asks them about each file. */
#include "cli/color.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "cli/lint.h"
#include "daemon/option_check.h"
#include "daemon/plugin_dir.h"
#include "daemon/setup.h"
#include "plugin/loader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#define EXIT_CLEAN     0
#define EXIT_FINDINGS  1
#define EXIT_UNCHECKED 2 /* wrong usage, or something could not be checked */

/* Who takes part, and what keeps them alive. */
struct party {
    struct daemon_setup setup;
    unsigned flags;                       /* PLUGIN_LOAD_* of those given by file */
    struct plugin_loaded_plugin **loaded; /* given by file */
    size_t loaded_len;
    size_t loaded_cap;
    struct cli_lint_plugin *plugins;
    size_t len;
    size_t cap;
};

static void party_fini(struct party *party)
{
    free(party->plugins);
    for (size_t i = 0; i < party->loaded_len; i++) {
        plugin_free(party->loaded[i]);
    }
    free(party->loaded);
    daemon_setup_fini(&party->setup);
}

static int party_add_plugin(struct party *party, const struct ccm_plugin *desc, const char *name,
                            const struct config_tree *config)
{
    if (desc->lint == NULL) {
        return 0;
    }

    const int r =
        ccm_array_grow(&party->plugins, &party->cap, party->len + 1, sizeof(*party->plugins));

    if (r == 0) {
        party->plugins[party->len++] = (struct cli_lint_plugin){ desc, name, config };
    }
    return r;
}

static int party_load_plugin(struct party *party, const char *spec, const char *folder)
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
static int load_named(struct party *party, const char *name, const char *folder)
{
    const size_t before = party->len;
    CCM_CLEANUP(ccm_freep) char *path = strchr(name, '/') == NULL ? NULL : realpath(name, NULL);

    if (path == NULL && strchr(name, '/') != NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return -ENOENT;
    }

    const int r = party_load_plugin(party, path == NULL ? name : path, folder);

    if (r == 0 && party->len == before) {
        fprintf(stderr, "%s: this plugin does not check manifests\n", name);
        return -ENOTSUP;
    }
    return r;
}

/* --plugin-dir alone: all that is there. */
static int load_folder(struct party *party, const char *folder)
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

static int gather_files(struct party *party, const struct cli_command_args *args)
{
    CCM_CLEANUP(ccm_freep) char *told = daemon_plugin_dir(args->plugin_dir);
    CCM_CLEANUP(ccm_freep) char *folder = told == NULL ? NULL : realpath(told, NULL);

    if (told == NULL) {
        return -ENOMEM;
    }
    if (folder == NULL && args->plugin_dir != NULL) {
        fprintf(stderr, "%s: %s\n", told, strerror(errno));
        return -ENOENT;
    }
    if (args->plugin_count == 0) {
        return load_folder(party, folder);
    }
    for (size_t i = 0; i < args->plugin_count; i++) {
        const int r = load_named(party, args->plugins[i], folder == NULL ? told : folder);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static int party_add_loaded(struct party *party)
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

static int gather_configured(struct party *party, const struct cli_command_args *args)
{
    int r;

    party->setup.tell = cli_print_finding;
    party->setup.tell_arg = stderr;
    r = daemon_setup_load(args->config, &party->setup);

    if (r == 0 && daemon_option_check(party->setup.config, party->setup.registry, cli_print_finding,
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
        fprintf(stderr,
                "ccmd: to check without a configuration, name the plugins: --plugin FILE\n");
    }
    return r;
}

static int check_all(const struct party *party, const struct cli_command_args *args)
{
    CCM_CLEANUP(cli_lint_format_fini)
    struct cli_lint_format format = {
        .output = args->output,
        .out = stdout,
        .color = cli_color_is_wanted(stdout),
    };
    struct cli_lint lint = {
        .plugins = party->plugins,
        .plugin_count = party->len,
        .format = &format,
        .complaint = stderr,
    };

    for (size_t i = 0; i < args->operand_count; i++) {
        if (cli_lint_path(&lint, args->operands[i]) < 0) {
            fprintf(stderr, "%s: out of memory\n", args->operands[i]);
            return EXIT_UNCHECKED;
        }
    }
    if (cli_lint_format_end(&format, lint.services) < 0) {
        fprintf(stderr, "ccmd: out of memory\n");
        return EXIT_UNCHECKED;
    }
    if (lint.services == 0 && lint.findings == 0 && lint.failures == 0) {
        fprintf(stderr, "ccmd: no Service found\n");
    }
    if (lint.failures > 0) {
        return EXIT_UNCHECKED;
    }
    return lint.findings > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

int cli_command_lint(const struct cli_command_args *args)
{
    CCM_CLEANUP(party_fini)
    struct party party = {
        .flags = args->constructors ? PLUGIN_LOAD_CONSTRUCTORS : 0U,
    };
    const bool by_file = args->plugin_dir != NULL || args->plugin_count > 0;

    if (args->operand_count == 0) {
        fprintf(stderr, "ccmd: lint wants files, folders or -\n");
        return EXIT_UNCHECKED;
    }
    if (by_file && args->config_is_set) {
        fprintf(stderr, "ccmd: lint takes its plugins from --config, or from --plugin-dir and "
                        "--plugin, not both\n");
        return EXIT_UNCHECKED;
    }
    if ((by_file ? gather_files(&party, args) : gather_configured(&party, args)) < 0) {
        return EXIT_UNCHECKED;
    }
    if (party.len == 0) {
        fprintf(stderr, "ccmd: none of the plugins checks manifests\n");
        return EXIT_UNCHECKED;
    }
    return check_all(&party, args);
}
