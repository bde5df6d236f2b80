/* `ccmd run`: the daemon, from its configuration to its end. */
#include "ccm/version.h"
#include "cli/command.h"
#include "daemon/daemon.h"
#include "daemon/setup.h"
#include "util/cleanup.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

static const struct ccm_log config_log = { .part = "config" };
static const struct ccm_log command_log = { .part = "ccmd" };

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
    if (config_retired(setup.config)[0] != '\0') {
        ccm_log_warn(&config_log, "%s", config_retired(setup.config));
    }
    r = daemon_run(setup.config, setup.registry);
    if (r == -ETIMEDOUT) {
        /* A plugin hangs in a call: its code and memory must stay until the process is gone. */
        setup = (struct daemon_setup){ 0 };
    }
    return r;
}
