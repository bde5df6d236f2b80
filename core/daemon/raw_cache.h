/* Reading the caches of resources without a type of their own, as one plugin watches them. Every
 * thread; no I/O. */
#ifndef CCM_DAEMON_RAW_CACHE_H
#define CCM_DAEMON_RAW_CACHE_H

#include "daemon/host.h"

/* The watches of a plugin of one resource. A plugin that has none reads what any other watches
 * without a selection. */
struct daemon_raw_scope {
    const struct daemon_host_services *services;
    const char *plugin;
    const char *api_version;
    const char *resource;
};

/* Whether there is a cache to read. */
bool daemon_raw_is_watched(const struct daemon_raw_scope *scope);

/* A reference for the caller, or NULL. */
const struct ccm_object *daemon_raw_get(const struct daemon_raw_scope *scope, const char *key);

/* Each object once. As kube_store_list(), and -ENOTSUP: not watched; -ENOENT: the server has none
 * of what is watched. */
CCM_NODISCARD int daemon_raw_list(const struct daemon_raw_scope *scope, const char *index,
                                  const char *value, const struct ccm_object *const **ret,
                                  size_t *ret_count);

#endif
