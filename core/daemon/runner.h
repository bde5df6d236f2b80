/*
 * The plugins of one daemon at work: for each its host table, its workers, and the thread that
 * starts it, which waits for the caches and for its turn, calls start() until it succeeds, and then
 * opens the gate of the workers.
 *
 * Life: new -> create -> start -> stop -> join -> free. One thread, except stop().
 */
#ifndef CCM_RUNNER_H
#define CCM_RUNNER_H

#include "config/load.h"
#include "daemon/caches.h"
#include "daemon/host.h"
#include "daemon/objects.h"
#include "plugin/registry.h"
#include "sched/controller.h"
#include "util/attr.h"

struct daemon_runners;

/* Borrowed as long as the runners live. */
struct daemon_runners_setup {
    const struct config_tree *config;
    struct plugin_registry *registry;
    struct daemon_host_services *services;

    /* Block until this instance may act. 0, or negative: never, it stops. NULL = at once. */
    int (*await_turn)(void *arg);
    /* What is left is not worth running, or must not run; logged. Any thread, once at most. */
    void (*give_up)(void *arg);
    void *arg;
};

/* A place for every plugin of the registry; nothing of them runs yet. 0 or negative, logged. *ret
 * is set in any case unless there was no memory for it, and to be freed. */
CCM_NODISCARD int daemon_runners_new(const struct daemon_runners_setup *setup,
                                     struct daemon_runners **ret);

/*
 * Host tables and workers (not started), and create() of every plugin that was loaded. A plugin
 * whose create() fails is left out. 0; -ENOMEM, logged; -ENOEXEC, logged: a critical plugin or all
 * of them failed.
 */
CCM_NODISCARD int daemon_runners_create(struct daemon_runners *runners);

/* Around a check() of the plugin, so that one that hangs is named. Any one thread. */
void daemon_runners_begin_check(struct daemon_runners *runners, const char *plugin);
void daemon_runners_end_check(struct daemon_runners *runners, const char *plugin);

/* Call fn for every create(), start() and check() that runs: stage = "start()"; it may only copy.
 * Any thread, also while daemon_runners_create() runs. */
void daemon_runners_list_stages(struct daemon_runners *runners,
                                void (*fn)(void *arg, const char *stage, const char *plugin,
                                           int64_t age_ms),
                                void *arg);

/* The starting threads. watches: of the same plugins, borrowed; they run, or will. 0, or negative,
 * logged. */
CCM_NODISCARD int daemon_runners_start(struct daemon_runners *runners,
                                       struct daemon_watches *watches);

/* Timeout and progress callback of a dry run. progress is called several times a second with what
 * is waited for; NULL = not called. */
struct daemon_plan_wait {
    int64_t deadline_ms; /* monotonic */
    void (*progress)(void *arg, const char *text);
    void *arg;
};

/*
 * In a dry run, after start(): wait until every plugin has worked on all that the first lists
 * brought, at most until the deadline. A plugin whose objects cannot be read, try after try, is not
 * waited for as long. What is missing is noted in the book.
 */
void daemon_runners_await_plan(struct daemon_runners *runners, const struct daemon_plan_wait *wait);

/* The times of `controller` are others now in services->config: calls that begin from now on have
 * them. Any thread. */
void daemon_runners_reconfigure(struct daemon_runners *runners);

/* What made reconciles of this plugin (NULL: of every one) fail or wait may be another by now,
 * because of `why`: they are done again now, not when their pause is over. Any thread. */
void daemon_runners_retry_now(struct daemon_runners *runners, const char *plugin, const char *why);

/* An operator lets go what the plugin holds back because nodes are missing. Appends what came of it
 * for people, one line without its end. 0; -ENOENT: no such plugin; -ENOTSUP: it holds nothing
 * back; -EAGAIN: it does not work here, because another instance leads. Any thread, returns at
 * once. */
CCM_NODISCARD int daemon_runners_allow_removals(struct daemon_runners *runners, const char *plugin,
                                                struct ccm_buf *text);

/* An operator asks for a second look at a key, NULL = at all of them. Appends what came of it for
 * people, one line without its end. 0; -ENOENT: no plugin takes care of the key; -EAGAIN: none
 * works here, because another instance leads. Any thread, returns at once. */
CCM_NODISCARD int daemon_runners_resync(struct daemon_runners *runners, const char *key,
                                        struct ccm_buf *text);

/* One plugin, for people and monitors; texts are borrowed for the life of the runners. */
struct daemon_runner_view {
    const char *name;
    const char *state; /* see plugin_registry_state_name() */
    bool failed;       /* it is left out */
    bool started;      /* its workers run */
    char error[256];   /* the latest of loading and starting, "" = none */
    struct sched_controller_stats stats;
    struct daemon_objects *objects;            /* what is known and said of its objects */
    struct sched_controller *controller;       /* NULL: it has none, being left out */
    const struct plugin_loaded_plugin *loaded; /* NULL: the file was refused */
    void *self;                                /* of create(); only while `started` */
};

/* Plugin number `index`; false: there are fewer. Any thread. */
bool daemon_runners_get_view(struct daemon_runners *runners, size_t index,
                             struct daemon_runner_view *ret);

/* Running calls are cancelled, no further one begins. Returns at once; any thread; repeating it is
 * fine. */
void daemon_runners_stop(struct daemon_runners *runners);

/* Wait for the threads. 0, or -ETIMEDOUT at the monotonic time deadline_ms: calls that hang were
 * named in the log, and nothing that they may use may be freed. */
CCM_NODISCARD int daemon_runners_join(struct daemon_runners *runners, int64_t deadline_ms);

/* Destroys the plugins (see registry.h), then frees. No thread may be left. NULL is fine. */
void daemon_runners_free(struct daemon_runners *runners);

#endif
