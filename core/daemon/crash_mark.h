/*
 * The mark of a pass: a number that stands for all that decides about it, so that a pass that
 * crashed the process is not tried again before something has changed. Of the object it takes what
 * a person writes, not the status that goes up and down by itself.
 */
#ifndef CCM_DAEMON_CRASH_MARK_H
#define CCM_DAEMON_CRASH_MARK_H

#include "daemon/host.h"
#include "plugin/loader.h"

#include <stdint.h>

/* Of ccmd and the plugin: version and file. */
uint64_t daemon_crash_mark_of_plugin(const struct plugin_loaded_plugin *plugin);

/* Of a key: the above, and the objects of that key that the plugin watches. */
uint64_t daemon_crash_mark_of_key(const struct daemon_host_services *services,
                                  const struct ccm_plugin *desc, uint64_t of_plugin,
                                  const char *key);

/* The object of that key that the plugin watches, the first of several: kube_object_unref() it.
 * NULL: there is none. */
const struct ccm_object *daemon_crash_mark_find_object(const struct daemon_host_services *services,
                                                       const struct ccm_plugin *desc,
                                                       const char *key);

#endif
