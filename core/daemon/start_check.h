/* What can be known offline of the options with which the daemon itself would not start. */
#ifndef CCM_DAEMON_START_CHECK_H
#define CCM_DAEMON_START_CHECK_H

#include "config/load.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Look at the files that a configuration, finished without problems, names: kubeconfig and what
 * leads to credentials in it, certificate, key and token of the admin server. fn as in
 * daemon_option_check(); returns how many findings are errors. Any thread; reads files, starts
 * nothing.
 */
size_t daemon_start_check(const struct config_tree *config,
                          void (*fn)(void *arg, bool is_error, const char *line), void *arg);

#endif
