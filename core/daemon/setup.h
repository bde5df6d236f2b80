/*
 * From the path of a configuration file to a checked configuration and loaded plugins: what every
 * subcommand begins with. No function of a plugin runs.
 */
#ifndef CCM_SETUP_H
#define CCM_SETUP_H

#include "config/load.h"
#include "plugin/registry.h"
#include "util/attr.h"

#include <stdbool.h>

struct daemon_setup {
    struct config_tree *config;
    struct plugin_registry *registry;
    size_t refused; /* plugins that could not be loaded; each was told */
    /* Set before, by who starts nothing: gets refusals, which are logged without it, and problems,
     * which are printed without it, as lines without their end, with file and line in front. */
    void (*tell)(void *arg, bool is_error, const char *line);
    void *tell_arg;
};

/*
 * 0: the configuration is good; plugins may still have been refused (see `refused`, and
 * plugin_registry_critical_failure()). -EINVAL: it has problems, all of which were printed to
 * standard error as "FILE:LINE: text". -ENOMEM. daemon_setup_fini() is due in every case.
 */
CCM_NODISCARD int daemon_setup_load(const char *config_path, struct daemon_setup *setup);

/* Log level and format as the configuration says. Any thread. */
void daemon_setup_log(const struct config_tree *config);

/* Safe on a zeroed setup. */
void daemon_setup_fini(struct daemon_setup *setup);

#endif
