/*
 * Options for functions of a plugin that run without an instance, lint() and takes(): those of a
 * configuration, or their defaults. Pure. Every thread.
 */
#ifndef CCM_DAEMON_PLUGIN_OPTIONS_H
#define CCM_DAEMON_PLUGIN_OPTIONS_H

#include "ccm/plugin.h"
#include "config/load.h"

/* Everything borrowed. */
struct daemon_plugin_options {
    const struct ccm_plugin *desc;
    const char *name;                 /* in the configuration, or its own */
    const struct config_tree *config; /* NULL = defaults */
};

/* As option_string() and option_int() of struct ccm_lint_sink; never NULL. */
const char *daemon_plugin_option_string(const struct daemon_plugin_options *options,
                                        const char *group, const char *name);
int64_t daemon_plugin_option_int(const struct daemon_plugin_options *options, const char *group,
                                 const char *name);

/* Whether the plugin has such an option. */
bool daemon_plugin_option_is_listed(const struct ccm_plugin *desc, const char *group,
                                    const char *name);

#endif
