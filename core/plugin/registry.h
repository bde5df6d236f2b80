/*
 * The plugins of one daemon, in the order of the configuration, and how far each has come. A plugin
 * that is refused or fails is logged here, once, with file and reason; it stays in the list and the
 * others go on. Whether that ends the daemon (`critical`) is the caller's decision, see
 * plugin_registry_critical_failure().
 *
 * One thread loads, creates, stops, destroys. Once every plugin is created, start may be called by
 * a thread per plugin, and plugin_registry_status by any thread. No lock is held over a call into a
 * plugin.
 */
#ifndef CCM_PLUGIN_REGISTRY_H
#define CCM_PLUGIN_REGISTRY_H

#include "ccm/plugin.h"
#include "plugin/loader.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>

enum plugin_state {
    PLUGIN_STATE_FAILED, /* refused, or failed for good: see the error */
    PLUGIN_STATE_LOADED,
    PLUGIN_STATE_CREATED, /* map() may be called; an error tells why start has to be repeated */
    PLUGIN_STATE_STARTED, /* reconcile() may be called */
    PLUGIN_STATE_STOPPED,
};

/* Fixed once loaded; `self` once created. Lives as long as the registry. */
struct plugin_entry {
    const char *name; /* of the configuration */
    bool critical;
    const struct plugin_loaded_plugin *loaded; /* NULL when it was refused */
    void *self; /* of create(); may be NULL for a plugin without state */
};

struct plugin_registry;

/* NULL on ENOMEM. */
struct plugin_registry *plugin_registry_new(void);

/* Destroys what is still created, then frees. NULL is allowed. */
void plugin_registry_free(struct plugin_registry *registry);
/* For CCM_CLEANUP. */
void plugin_registry_freep(struct plugin_registry **registry);

/*
 * Load the plugin `name` from `file` (any spec of trust.h), or from NAME.so in plugin_dir when file
 * is NULL, and append it. critical: the daemon does not run without it. Besides what the loader
 * refuses: a name that is loaded already, and, of a plugin that does not allow several instances, a
 * second one, or another `name` than its own. 0, or the negative errno of the refusal: the entry is
 * in the list, in state failed. *ret (may be NULL) is the entry, or NULL if there was no memory for
 * one.
 */
int plugin_registry_load(struct plugin_registry *registry, const char *name, const char *file,
                         const char *plugin_dir, bool critical, struct plugin_entry **ret);

/* Refusals are not logged from here on: the caller tells them, from plugin_registry_status(). */
void plugin_registry_leave_refusals(struct plugin_registry *registry);

size_t plugin_registry_len(const struct plugin_registry *registry);
struct plugin_entry *plugin_registry_at(struct plugin_registry *registry, size_t index);

/* loaded -> created. The host has to outlive the registry's destroy. 0, or negative: failed. */
int plugin_registry_create(struct plugin_registry *registry, struct plugin_entry *entry,
                           const struct ccm_host *host);

/* created -> started; may block for 30 s. 0, or negative: failed for good when the error's kind is
 * terminal, else still created and to be called again with backoff. */
int plugin_registry_start(struct plugin_registry *registry, struct plugin_entry *entry);

/* Tell all created and started plugins to stop, last one first. Does not wait. */
void plugin_registry_stop(struct plugin_registry *registry);

/* Destroy every instance, last one first. No call into any plugin may be running. */
void plugin_registry_destroy(struct plugin_registry *registry);

/* State and, with kind CCM_ERROR_NONE if there was none, the latest error. err may be NULL. */
enum plugin_state plugin_registry_status(struct plugin_registry *registry,
                                         const struct plugin_entry *entry, struct ccm_error *err);

/* "failed", "loaded", "created", "started", "stopped". */
const char *plugin_registry_state_name(enum plugin_state state);

/* Whether there is a plugin that has not failed. Any thread. */
bool plugin_registry_has_use(struct plugin_registry *registry);

/* The first critical plugin in state failed, or NULL. */
const struct plugin_entry *plugin_registry_critical_failure(struct plugin_registry *registry);

#endif
