/* The running daemon: wires the parts, owns life cycle and signals. */
#ifndef CCM_DAEMON_H
#define CCM_DAEMON_H

#include "config/load.h"
#include "daemon/plan_book.h"
#include "kube/client/client.h"
#include "kube/client/place.h"
#include "plugin/registry.h"
#include "util/attr.h"

/*
 * Watch and reconcile until SIGTERM or SIGINT; to be called in the main thread while it is the only
 * one. The registry's plugins are loaded, none is created; when it returns, all are destroyed.
 *
 * 0: ended by a signal. Negative: the reason was logged; among them -ENOEXEC: a critical plugin or
 * all plugins failed. -ETIMEDOUT: ended, but a plugin hangs in a call; nothing that it may use was
 * freed, and the process should end without further ado. A signal while plugins are created does
 * what it did before the call; a second one, while it stops, ends the process at once.
 */
CCM_NODISCARD int daemon_run(const struct config_tree *config, struct plugin_registry *registry);

/*
 * The same as a dry run: every plugin works once on all that the first lists bring, what it would
 * do comes into the book, report() is called (with what its caller may still want to ask or tell
 * the API server), and all ends. Nothing else is written. Signals end the process at once.
 * deadline_ms: monotonic; what is missing then is noted as failed. 0 or what report() returned;
 * negative: as above.
 */
struct daemon_plan_setup {
    struct daemon_plan_book *book;
    const struct kube_place *place; /* NULL = as the configuration says */
    int64_t deadline_ms;
    int (*report)(void *arg, struct kube_client *kube);
    void (*progress)(void *arg, const char *text); /* what it is at; NULL = nobody wants to know */
    void *arg;
};
CCM_NODISCARD int daemon_plan(const struct config_tree *config, struct plugin_registry *registry,
                              const struct daemon_plan_setup *plan);

#endif
