/*
 * Plugins that a command asks without running them: those of a configuration, or files that the
 * command line names. One thread.
 */
#ifndef CCM_TOOLS_PLUGIN_SET_H
#define CCM_TOOLS_PLUGIN_SET_H

#include "cli/command.h"
#include "daemon/plugin_options.h"
#include "daemon/setup.h"
#include "plugin/loader.h"

/* Zeroed but for `has` and `cannot` before it is filled. */
struct tool_plugin_set {
    bool (*has)(const struct ccm_plugin *desc); /* what the command asks for; others stay away */
    const char *cannot;                         /* of one that was named: "does not ..." */
    struct daemon_plugin_options *plugins;
    size_t len;
    /* Of all plugins, also those that stay away: what the daemon decodes objects with.
     * NULL-terminated; NULL = none. */
    const struct ccm_watch **watches;
    /* Private: what keeps them alive. */
    size_t cap;
    size_t watch_len;
    size_t watch_cap;
    struct daemon_setup setup;
    struct plugin_loaded_plugin **loaded; /* given by file */
    size_t loaded_len;
    size_t loaded_cap;
};

void tool_plugin_set_fini(struct tool_plugin_set *set);

/* Those of --plugin and --plugin-dir; with neither, all of the folder where plugins are installed.
 * What fails is printed. 0, or negative: no use to go on. */
CCM_NODISCARD int tool_plugin_set_load_files(struct tool_plugin_set *set,
                                             const struct cli_command_args *args);

/* Those of the configuration, whose findings are printed to standard error. With `check` its
 * options have to be good, too. As above. */
CCM_NODISCARD int tool_plugin_set_load_configured(struct tool_plugin_set *set,
                                                  const struct cli_command_args *args, bool check);

#endif
