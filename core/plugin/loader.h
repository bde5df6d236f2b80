/*
 * From a name in the configuration to a plugin whose descriptor is known to be good. No function of
 * the plugin has run then. Loading is for start-up: it blocks on the file system and on the dynamic
 * linker. Any thread, one at a time.
 */
#ifndef CCM_PLUGIN_LOADER_H
#define CCM_PLUGIN_LOADER_H

#include "ccm/plugin.h"
#include "plugin/descriptor.h"
#include "util/attr.h"

struct plugin_loaded_plugin {
    const struct ccm_plugin *desc; /* our copy, in the layout of this build: see descriptor.h */
    const char *path;              /* resolved */
    void *handle;                  /* of dlopen; never closed */
    struct plugin_descriptor private_descriptor;
    char *private_path;
};

/*
 * Load the plugin `spec` (an absolute path, or a name in plugin_dir; see trust.h). Constructors of
 * the file run, as the runtimes of some languages have such.
 *
 * Refused, with a message that names file, reason and remedy: a file that others can change; one
 * that is no shared object for this machine, or is cut off; one that the dynamic linker rejects
 * (unresolved symbols, a library that is missing); one without the symbol `ccm_plugin`; one whose
 * descriptor is faulty (descriptor.h). The file stays mapped for
 * good once the dynamic linker has taken it, also when it is refused afterwards. 0 and *ret (free
 * it with plugin_free), or a negative errno.
 */
CCM_NODISCARD int plugin_load(const char *spec, const char *plugin_dir,
                              struct plugin_loaded_plugin **ret, struct ccm_error *err);

/* Free our side; the code stays mapped. NULL is allowed. */
void plugin_free(struct plugin_loaded_plugin *plugin);
/* For CCM_CLEANUP. */
void plugin_freep(struct plugin_loaded_plugin **plugin);

#endif
