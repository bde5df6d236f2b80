/* The daemon's own options, as tables (the rows are explained in ccm/option.h). */
#ifndef CCM_CONFIG_OPTIONS_H
#define CCM_CONFIG_OPTIONS_H

#include "ccm/option.h"

/* Top level (group "") and the daemon's groups; NULL-terminated. */
extern const struct ccm_option *const config_core_options[];

/* What the daemon reads in every entry of `plugins` (group NULL); NULL-terminated. */
extern const struct ccm_option *const config_entry_options[];

#endif
