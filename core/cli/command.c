#include "cli/command.h"

#include "ccm/plugin.h"
#include "ccm/version.h"
#include "cli/color.h"
#include "cli/findings.h"
#include "daemon/daemon.h"
#include "daemon/option_check.h"
#include "daemon/setup.h"
#include "daemon/start_check.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

static const struct ccm_log command_log = { .part = "ccmd" };

int cli_command_check_config(const struct cli_command_args *args)
{
    CCM_CLEANUP(cli_findings_fini)
    struct cli_findings findings = { .json = args->output == CLI_OUTPUT_JSON };
    CCM_CLEANUP(daemon_setup_fini)
    struct daemon_setup setup = { .tell = cli_findings_add, .tell_arg = &findings };
    int r = daemon_setup_load(args->config, &setup);

    if (r == 0 && daemon_start_check(setup.config, cli_findings_add, &findings) +
                          daemon_option_check_files(setup.config, setup.registry, cli_findings_add,
                                                    &findings) >
                      0) {
        r = -EINVAL;
    }
    if (r == 0 && setup.refused > 0) {
        r = -ENOEXEC;
    }
    if (findings.json) {
        cli_findings_print_json(&findings, args->config, r == 0);
    } else if (r == 0) {
        const bool color = cli_color_is_wanted(stdout);

        printf("%s: %sok%s, plugins: %zu\n", args->config, cli_color_text(color, CLI_COLOR_GREEN),
               cli_color_text(color, CLI_COLOR_PLAIN), plugin_registry_len(setup.registry));
    }
    return r;
}

/* instance: its name in the configuration; NULL = it is in none. */
typedef void (*command_print_fn)(FILE *out, const struct plugin_loaded_plugin *plugin,
                                 const char *instance);

static void print_rbac(FILE *out, const struct plugin_loaded_plugin *plugin, const char *instance)
{
    (void)instance; /* the rights of all instances are the same */
    plugin_print_rbac(out, plugin);
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

    plugin_print_json(&w, plugin, instance);
    (void)fprintf(out, "%s\n", ccm_buf_str(&json)); /* sticks in the stream */
}

/* Files given by hand: relative names are fine here, a plugin is only looked at. */
static int inspect_file(const char *name, unsigned flags, command_print_fn print)
{
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    CCM_CLEANUP(ccm_freep) char *path = realpath(name, NULL);
    struct ccm_error err = CCM_ERROR_INIT;

    if (path == NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return -ENOENT;
    }

    const int r = plugin_load(path, NULL, flags, &plugin, &err);

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

int cli_command_plugins(const struct cli_command_args *args)
{
    const command_print_fn print = args->rbac                        ? print_rbac
                                   : args->output == CLI_OUTPUT_JSON ? print_json
                                   : args->output == CLI_OUTPUT_NAME ? print_name
                                                                     : plugin_print;
    const unsigned flags = args->constructors ? PLUGIN_LOAD_CONSTRUCTORS : 0U;
    int result = 0;

    if (args->operand_count == 0) {
        return print_configured(args, print);
    }
    for (size_t i = 0; i < args->operand_count; i++) {
        const int r = inspect_file(args->operands[i], flags, print);

        if (r < 0) {
            result = r;
        }
    }
    return result;
}

/* A core dump would hold every secret that the process holds, and land where others may read it. */
static void forbid_dumps(const struct config_tree *config)
{
    if (config_int(config, NULL, "process", "core_dumps") == 0 &&
        prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L) < 0) {
        ccm_log_warn(&command_log, "core dumps cannot be switched off: %s", strerror(errno));
    }
}

int cli_command_run(const struct cli_command_args *args)
{
    CCM_CLEANUP(daemon_setup_fini) struct daemon_setup setup = { 0 };
    int r = daemon_setup_load(args->config, &setup);

    if (r < 0) {
        return r;
    }

    const struct plugin_entry *critical = plugin_registry_critical_failure(setup.registry);

    if (critical != NULL) {
        ccm_log_error(&command_log, "plugin %s is critical and was refused: not starting",
                      critical->name);
        return -ENOEXEC;
    }
    if (!plugin_registry_has_use(setup.registry)) {
        ccm_log_error(&command_log, "%s: no plugin %s: nothing to do", args->config,
                      setup.refused == 0 ? "is enabled" : "could be loaded");
        return -ENOEXEC;
    }
    forbid_dumps(setup.config);
    ccm_log_info(&command_log, "ccmd %s, plugin ABI %u", CCM_VERSION, CCM_ABI_MAJOR);
    r = daemon_run(setup.config, setup.registry);
    if (r == -ETIMEDOUT) {
        /* A plugin hangs in a call: its code and memory must stay until the process is gone. */
        setup = (struct daemon_setup){ 0 };
    }
    return r;
}
