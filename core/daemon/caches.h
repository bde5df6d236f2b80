/*
 * One store and one reflector per watched kind, and the way from a change to the map() of every
 * plugin that watches that kind.
 */
#ifndef CCM_DAEMON_CACHES_H
#define CCM_DAEMON_CACHES_H

#include "daemon/host.h"
#include "kube/cache/reflector.h"
#include "plugin/registry.h"
#include "util/attr.h"

struct daemon_watches;

/*
 * Stores for all kinds that created plugins watch, entered into `services`; nothing runs yet.
 * Pointers are borrowed. NULL on ENOMEM.
 */
struct daemon_watches *daemon_watches_new(struct daemon_host_services *services,
                                          struct plugin_registry *registry);

/* Call fn for every map() that runs, with plugin, object and age; it may only copy. Any thread. */
void daemon_watches_list_running(struct daemon_watches *watches,
                                 void (*fn)(void *arg, const char *plugin, const char *what,
                                            int64_t age_ms),
                                 void *arg);

/* Start the reflectors. 0 or negative with err. */
CCM_NODISCARD int daemon_watches_start(struct daemon_watches *watches, struct ccm_error *err);

/* Wait until all kinds that the plugin watches are in their stores. Blocks. 0, or -ECANCELED after
 * stop(). */
CCM_NODISCARD int daemon_watches_wait_synced(struct daemon_watches *watches,
                                             const struct ccm_plugin *desc);

/* One cache, for people and monitors; the name is borrowed for the life of the watches. */
struct daemon_watch_view {
    const char *name;
    struct kube_reflector_status status;
};

/* Cache number `index`; false: there are fewer. After start(); any thread. */
bool daemon_watches_get_view(struct daemon_watches *watches, size_t index,
                             struct daemon_watch_view *ret);

/* The first cache of those that the plugin watches which has no list yet; false: each has one.
 * After start(); any thread. */
bool daemon_watches_find_unlisted(struct daemon_watches *watches, const struct ccm_plugin *desc,
                                  struct daemon_watch_view *ret);

/* The server has changed: have those kinds listed again that were not listed since. Any thread,
 * returns at once. */
void daemon_watches_relist_after_break(struct daemon_watches *watches);

/* End the reflectors and everybody in wait_synced(). Returns at once; any thread. */
void daemon_watches_stop(struct daemon_watches *watches);

/* Wait for the reflectors to end: no map() runs after this. 0, or -ETIMEDOUT at the monotonic time
 * deadline_ms: a map() hangs (logged), and nothing it may use may be freed. */
CCM_NODISCARD int daemon_watches_join(struct daemon_watches *watches, int64_t deadline_ms);

/* After the last reader of the stores. NULL is fine. */
void daemon_watches_free(struct daemon_watches *watches);

#endif
