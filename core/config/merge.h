/*
 * One configuration out of the files of a folder: each adds to those before it. Groups are joined,
 * member by member; so are entries of `plugins` that have the same name. Any other value takes the
 * place of the one before, lists and arrays as a whole. One thread.
 */
#ifndef CCM_CONFIG_MERGE_H
#define CCM_CONFIG_MERGE_H

#include "util/attr.h"

#include <libconfig.h>

/* Add what `from` says to `into`; its lines count from `first` there. Two entries of one file with
 * the same name stay two. 0 or -ENOMEM: `into` may only be freed. */
CCM_NODISCARD int config_merge(config_t *into, const config_t *from, unsigned first);

#endif
