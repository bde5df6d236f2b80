/*
 * A plugin's descriptor, read as data: no function of the plugin runs here. What comes out has the
 * layout of this build, whatever the plugin was built with: older ones lack members (NULL, 0), what
 * newer ones have on top is left out. Option and watch tables are copied in the same way; texts are
 * borrowed from the plugin, which stays loaded. Every thread; one at a time per struct.
 */
#ifndef CCM_PLUGIN_DESCRIPTOR_H
#define CCM_PLUGIN_DESCRIPTOR_H

#include "ccm/plugin.h"
#include "util/attr.h"

/* Sizes of ABI 1.0, frozen: less is no plugin of major 1. */
#define PLUGIN_SIZE_1_0        (offsetof(struct ccm_plugin, batch_wait_ms) + sizeof(uint64_t))
#define PLUGIN_OPTION_SIZE_1_0 (offsetof(struct ccm_option, help) + sizeof(const char *))
#define PLUGIN_WATCH_SIZE_1_0  (offsetof(struct ccm_watch, flags) + sizeof(uint64_t))

struct plugin_descriptor {
    struct ccm_plugin plugin; /* struct_size is the plugin's own; version and summary never NULL */
    /* Private: what plugin.options and plugin.watches point to. */
    struct ccm_option *options;
    const struct ccm_option **option_list;
    struct ccm_watch *watches;
    const struct ccm_watch **watch_list;
};

/*
 * Check and copy. `theirs` has at least its first two members. Refused: another major, a struct
 * shorter than that of 1.0, a bad name, an unknown flag, a missing mandatory function, and every
 * fault in the option table (see option.h) and in the watches. 0, -ENOMEM, or -EINVAL with err set,
 * without the file's name; on failure nothing is left to free.
 */
CCM_NODISCARD int plugin_descriptor_init(struct plugin_descriptor *descriptor,
                                         const struct ccm_plugin *theirs, struct ccm_error *err);

/* Free the copies. Safe on a zeroed struct. */
void plugin_descriptor_fini(struct plugin_descriptor *descriptor);

/* Whether both are about the same objects: kind, resource and selection. */
bool plugin_watch_is_same(const struct ccm_watch *a, const struct ccm_watch *b);

/* "Service", "Node", ...; "?" for an unknown kind. */
const char *plugin_descriptor_kind_name(uint64_t kind);

#endif
