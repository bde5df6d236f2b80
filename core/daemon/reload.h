/*
 * Reading the configuration file again while plugins run.
 *
 * The new file is read and judged as a whole, as at start, against the options of the plugins that
 * are loaded. With a problem nothing of it counts: each is logged with file and line, and the
 * configuration from before stays. Else a new snapshot takes the place of services->config in one
 * step: options marked CCM_OPTION_LIVE have their new values, everything else keeps what it had at
 * start and is named in the log as in need of a restart.
 *
 * What fails waits for its next try, up to an hour, and what comes periodically for its time. When
 * a live option that a plugin reads has changed, or a file that one of its options names (such as
 * one with credentials, which plugins read by themselves), neither waits any longer.
 *
 * Snapshots are never changed and, since plugins may hold texts of them, all kept until the end;
 * after DAEMON_RELOAD_SNAPSHOTS_MAX of them a restart is asked for. One that changes nothing is not
 * kept.
 *
 * One thread, except where noted.
 */
#ifndef CCM_RELOAD_H
#define CCM_RELOAD_H

#include "daemon/host.h"
#include "daemon/runner.h"
#include "plugin/registry.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAEMON_RELOAD_SNAPSHOTS_MAX 1000

struct daemon_reload;

struct daemon_reload_status {
    uint64_t succeeded;
    uint64_t failed;
    bool failing;          /* the latest one */
    size_t restart_needed; /* options whose value in the file differs from the one that counts */
};

/* All borrowed; services->config is the snapshot of the start, the caller's. NULL on ENOMEM. */
struct daemon_reload *daemon_reload_new(struct plugin_registry *registry,
                                        struct daemon_host_services *services,
                                        struct daemon_runners *runners);

/* Frees the snapshots: nobody may use services->config any more. NULL is fine. */
void daemon_reload_free(struct daemon_reload *reload);

/* Read the file, and see whether those that plugins read have changed. What comes of it is logged.
 */
void daemon_reload_now(struct daemon_reload *reload);

/* The same if the file is another one than the one that was read, or was written to. To be called
 * now and then: it wants to see the same change twice, so that a file is not read half written. */
void daemon_reload_check(struct daemon_reload *reload);

/* Any thread. */
void daemon_reload_status(const struct daemon_reload *reload, struct daemon_reload_status *ret);

#endif
