/* Asks plugins what is wrong with their options as a whole: check() of their descriptor. */
#ifndef CCM_DAEMON_OPTION_CHECK_H
#define CCM_DAEMON_OPTION_CHECK_H

#include "config/load.h"
#include "daemon/runner.h"
#include "plugin/registry.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Ask all loaded plugins that the configuration, finished without problems, has enabled. fn (may
 * print) gets each finding as a line without its end, with file and line in front. Returns how many
 * of them are errors. runners: who watches that it ends; NULL = nobody. Any one thread; no I/O.
 */
size_t daemon_option_check(const struct config_tree *config, struct plugin_registry *registry,
                           struct daemon_runners *runners,
                           void (*fn)(void *arg, bool is_error, const char *line), void *arg);

/* The same, and whether the files are there that options of type CCM_OPTION_PATH name: an error
 * where the option is required, else a warning. Their defaults are not looked at. */
size_t daemon_option_check_files(const struct config_tree *config, struct plugin_registry *registry,
                                 void (*fn)(void *arg, bool is_error, const char *line), void *arg);

#endif
