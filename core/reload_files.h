/* Files that plugins read by themselves, such as one with credentials: named by their options of
 * type CCM_OPTION_PATH. When one changes, what fails in its plugin is worth another try. One
 * thread.
 */
#ifndef CCM_RELOAD_FILES_H
#define CCM_RELOAD_FILES_H

#include "config.h"
#include "plugin/registry.h"
#include "runner.h"
#include "util/attr.h"

struct ccm_reload_files;

/* As the options are now; those that name files are not live. Texts are borrowed from the
 * configuration and the registry. NULL on ENOMEM. */
struct ccm_reload_files *ccm_reload_files_new(struct ccm_registry *registry,
                                              const struct ccm_config *config);

/* NULL is fine. */
void ccm_reload_files_free(struct ccm_reload_files *files);

/* Hurry the plugins whose files have changed: at once, or when the same change is seen a second
 * time, so that none is read half written. */
void ccm_reload_files_look(struct ccm_reload_files *files, struct ccm_runners *runners,
                           bool at_once);

#endif
