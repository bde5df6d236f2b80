/* Files that plugins read by themselves, such as one with credentials: named by their options of
 * type CCM_OPTION_PATH. When one changes, what fails in its plugin is worth another try. One
 * thread.
 */
#ifndef CCM_RELOAD_FILES_H
#define CCM_RELOAD_FILES_H

#include "config/load.h"
#include "daemon/runner.h"
#include "plugin/registry.h"
#include "util/attr.h"

struct daemon_reload_files;

/* As the options are now; those that name files are not live. Texts are borrowed from the
 * configuration and the registry. NULL on ENOMEM. */
struct daemon_reload_files *daemon_reload_files_new(struct plugin_registry *registry,
                                                    const struct config_tree *config);

/* NULL is fine. */
void daemon_reload_files_free(struct daemon_reload_files *files);

/* Hurry the plugins whose files have changed: at once, or when the same change is seen a second
 * time, so that none is read half written. */
void daemon_reload_files_check(struct daemon_reload_files *files, struct daemon_runners *runners,
                               bool at_once);

#endif
