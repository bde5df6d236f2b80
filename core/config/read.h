/* The text of a configuration: its files, read, scanned and parsed. One thread. */
#ifndef CCM_CONFIG_READ_H
#define CCM_CONFIG_READ_H

#include "config/rows.h"

/* Fill stamp, files and tree of a configuration that has its path. 0, -ENOMEM, or -EINVAL: problems
 * were added and there is no tree. */
CCM_NODISCARD int config_read_tree(struct config_tree *config);

#endif
