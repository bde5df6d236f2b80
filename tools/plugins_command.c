/* `ccmd plugins`: the plugins of a configuration, or plugin files. */
#include "cli/findings.h"
#include "daemon/setup.h"
#include "tools/command.h"
#include "tools/inspect.h"
#include "util/cleanup.h"
#include "util/jsonw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* instance: its name in the configuration; NULL = it is in none. */
typedef void (*command_print_fn)(FILE *out, const struct plugin_loaded_plugin *plugin,
                                 const char *instance);

static void print_rbac(FILE *out, const struct plugin_loaded_plugin *plugin, const char *instance)
{
    (void)instance; /* the rights of all instances are the same */
    tool_inspect_print_rbac(out, plugin);
}

static void print_name(FILE *out, const struct plugin_loaded_plugin *plugin, const char *instance)
{
    (void)fprintf(out, "%s\n", instance == NULL ? plugin->desc->name : instance); /* sticks */
}

/* One line of JSON for each plugin. */
static void print_json(FILE *out, const struct plugin_loaded_plugin *plugin, const char *instance)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    struct ccm_jsonw w = { .buf = &json };

    tool_inspect_print_json(&w, plugin, instance);
    (void)fprintf(out, "%s\n", ccm_buf_str(&json)); /* sticks in the stream */
}

/* Files given by hand: relative names are fine here, a plugin is only looked at. */
static int inspect_file(const char *name, command_print_fn print)
{
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    CCM_CLEANUP(ccm_freep) char *path = realpath(name, NULL);
    struct ccm_error err = CCM_ERROR_INIT;

    if (path == NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return -ENOENT;
    }

    const int r = plugin_load(path, NULL, &plugin, &err);

    if (r < 0) {
        fprintf(stderr, "%s\n", err.message);
        return r;
    }
    print(stdout, plugin, NULL);
    return 0;
}

/* Whether another instance of it stands before it. */
static bool registry_has_before(struct plugin_registry *registry, size_t index)
{
    const struct plugin_loaded_plugin *loaded = plugin_registry_at(registry, index)->loaded;

    for (size_t i = 0; i < index; i++) {
        const struct plugin_entry *other = plugin_registry_at(registry, i);

        if (other->loaded != NULL && strcmp(other->loaded->path, loaded->path) == 0) {
            return true;
        }
    }
    return false;
}

static int print_configured(const struct cli_command_args *args, command_print_fn print)
{
    CCM_CLEANUP(daemon_setup_fini)
    struct daemon_setup setup = { .tell = cli_print_finding, .tell_arg = stderr };
    const int r = daemon_setup_load(args->config, &setup);

    if (r != 0) {
        return r;
    }
    for (size_t i = 0; i < plugin_registry_len(setup.registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(setup.registry, i);

        if (entry->loaded != NULL && !(args->rbac && registry_has_before(setup.registry, i))) {
            print(stdout, entry->loaded, entry->name);
        }
    }
    return setup.refused > 0 ? -ENOEXEC : 0;
}

int tool_command_plugins(const struct cli_command_args *args)
{
    const command_print_fn print = args->rbac                        ? print_rbac
                                   : args->output == CLI_OUTPUT_JSON ? print_json
                                   : args->output == CLI_OUTPUT_NAME ? print_name
                                                                     : tool_inspect_print;
    int result = 0;

    if (args->operand_count == 0) {
        return print_configured(args, print);
    }
    for (size_t i = 0; i < args->operand_count; i++) {
        const int r = inspect_file(args->operands[i], print);

        if (r < 0) {
            result = r;
        }
    }
    return result;
}
