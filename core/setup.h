/*
 * From the path of a configuration file to a checked configuration and loaded plugins: what every
 * subcommand begins with. No function of a plugin runs.
 */
#ifndef CCM_SETUP_H
#define CCM_SETUP_H

#include "config.h"
#include "plugin/registry.h"
#include "util/attr.h"

struct ccm_setup {
    struct ccm_config *config;
    struct ccm_registry *registry;
    size_t refused; /* plugins that could not be loaded; each was logged */
};

/*
 * 0: the configuration is good; plugins may still have been refused (see `refused`, and
 * ccm_registry_critical_failure()). -EINVAL: it has problems, all of which were printed to standard
 * error as "FILE:LINE: text". -ENOMEM. ccm_setup_fini() is due in every case.
 */
CCM_NODISCARD int ccm_setup_load(const char *config_path, struct ccm_setup *setup);

/* Log level and format as the configuration says. Any thread. */
void ccm_setup_log(const struct ccm_config *config);

/* Safe on a zeroed setup. */
void ccm_setup_fini(struct ccm_setup *setup);

#endif
