#include "cli/command.h"

#include "ccm/plugin.h"
#include "ccm/version.h"
#include "daemon/daemon.h"
#include "daemon/option_check.h"
#include "daemon/setup.h"
#include "daemon/start_check.h"
#include "util/cleanup.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

static const struct ccm_log command_log = { .part = "ccmd" };

int cli_command_version(const struct cli_command_args *args)
{
    (void)args; /* takes none */
    printf("ccmd %s (plugin ABI %u)\n", CCM_VERSION, CCM_ABI_MAJOR);
    return 0;
}

void cli_print_finding(void *arg, bool is_error, const char *line)
{
    (void)is_error; /* the line says so */
    fprintf(arg, "%s\n", line);
}

int cli_command_check_config(const struct cli_command_args *args)
{
    CCM_CLEANUP(daemon_setup_fini) struct daemon_setup setup = { .checks = true };
    int r = daemon_setup_load(args->config, &setup);

    if (r == 0 &&
        daemon_start_check(setup.config, cli_print_finding, stderr) +
                daemon_option_check(setup.config, setup.registry, cli_print_finding, stderr) >
            0) {
        r = -EINVAL;
    }
    if (r == 0 && setup.refused > 0) {
        r = -ENOEXEC;
    }
    if (r == 0) {
        printf("%s: ok, plugins: %zu\n", args->config, plugin_registry_len(setup.registry));
    }
    return r;
}

/* instance: NULL = it is in no configuration. */
static void command_print_plugin(const struct plugin_loaded_plugin *plugin, const char *instance,
                                 bool rbac)
{
    if (rbac) {
        plugin_print_rbac(stdout, plugin);
    } else {
        plugin_print(stdout, plugin, instance);
    }
}

/* Files given by hand: relative names are fine here, a plugin is only looked at. */
static int inspect_file(const char *name, const struct cli_command_args *args)
{
    CCM_CLEANUP(plugin_freep) struct plugin_loaded_plugin *plugin = NULL;
    CCM_CLEANUP(ccm_freep) char *path = realpath(name, NULL);
    struct ccm_error err = CCM_ERROR_INIT;

    if (path == NULL) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return -ENOENT;
    }

    const unsigned flags = args->constructors ? PLUGIN_LOAD_CONSTRUCTORS : 0U;
    const int r = plugin_load(path, NULL, flags, &plugin, &err);

    if (r < 0) {
        fprintf(stderr, "%s\n", err.message);
        return r;
    }
    command_print_plugin(plugin, NULL, args->rbac);
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

int cli_command_plugins(const struct cli_command_args *args)
{
    CCM_CLEANUP(daemon_setup_fini) struct daemon_setup setup = { .checks = true };
    int result = 0;

    for (size_t i = 0; i < args->operand_count; i++) {
        const int r = inspect_file(args->operands[i], args);

        if (r < 0) {
            result = r;
        }
    }
    if (args->operand_count > 0) {
        return result;
    }
    result = daemon_setup_load(args->config, &setup);
    if (result != 0) {
        return result;
    }
    for (size_t i = 0; i < plugin_registry_len(setup.registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(setup.registry, i);

        if (entry->loaded != NULL && !(args->rbac && registry_has_before(setup.registry, i))) {
            command_print_plugin(entry->loaded, entry->name, args->rbac);
        }
    }
    return setup.refused > 0 ? -ENOEXEC : 0;
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
