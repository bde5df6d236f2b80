/*
 * Services whose class belongs to a plugin that does not work: it is installed but not configured,
 * or it was refused, has failed or cannot start yet; of the last two also those without a class
 * that it takes. Nobody else will say so; nor of a class that looks like one of ours and is
 * misspelt (util/class_near.h). Any other class that no installed plugin takes is somebody else's.
 * An event on the Service tells it, and lasts. Every thread, once made; nothing blocks.
 */
#ifndef CCM_DAEMON_UNSERVED_H
#define CCM_DAEMON_UNSERVED_H

#include "daemon/host.h"
#include "plugin/registry.h"

struct daemon_unserved;

/*
 * Looks into the folder of plugins for those that the configuration does not name: they are loaded,
 * as `ccmd plugins` does, and nothing of them runs. Pointers are borrowed. May block on the file
 * system. NULL: out of memory.
 */
struct daemon_unserved *daemon_unserved_new(struct daemon_host_services *services,
                                            struct plugin_registry *registry, const char *folder);
/* Before the registry goes. NULL is fine. */
void daemon_unserved_free(struct daemon_unserved *unserved);

/* A Service has changed; or has come or gone (NULL). Does nothing while another instance leads, and
 * without `unserved`. */
void daemon_unserved_look(struct daemon_unserved *unserved, const struct ccm_object *before,
                          const struct ccm_object *after);
/* The same for all that are there: this instance leads now, or a plugin has started or failed, or
 * goes on trying to start. */
void daemon_unserved_look_all(struct daemon_unserved *unserved);
/* Call fn for each unclaimed Service that has an event, the oldest first: its key, since when, and
 * the reason. NULL: for none. */
void daemon_unserved_list(struct daemon_unserved *unserved,
                          void (*fn)(void *arg, const char *key, int64_t since_ms,
                                     const char *reason),
                          void *arg);

#endif
