#include "daemon/daemon.h"

#include "admin/control_token.h"
#include "admin/server.h"
#include "daemon/caches.h"
#include "daemon/collect.h"
#include "daemon/hang_guard.h"
#include "daemon/journal.h"
#include "daemon/pauses.h"
#include "daemon/plan_book.h"
#include "daemon/plugin_dir.h"
#include "daemon/reload.h"
#include "daemon/runner.h"
#include "daemon/unserved.h"
#include "kube/client/client.h"
#include "kube/lease.h"
#include "kube/object/object.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/clock_watch.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_DRAIN_MS 2000
#define CHECK_EVERY_S   1 /* at the configuration file and at the clocks */

static const struct ccm_log daemon_log = { .part = "ccmd" };

struct daemon_instance {
    const struct config_tree *config;
    struct plugin_registry *registry;
    struct daemon_host_services services;
    const struct kube_place *place;     /* of a dry run; NULL = as the configuration says */
    struct kube_continuity *continuity; /* that of the services */
    struct daemon_watches *watches;
    struct daemon_runners *runners;
    struct kube_lease *lease; /* NULL: nobody else runs, as the configuration says, or a dry run */
    struct admin_server *admin;
    struct admin_server *metrics;
    struct daemon_hang_guard *guard;
    struct daemon_reload *reload;    /* NULL: a dry run */
    struct daemon_observed observed; /* what the admin server shows */
    char identity[KUBE_LEASE_IDENTITY];
    int64_t started_ms;        /* wall clock */
    int64_t begun_ms;          /* the same by the boot clock, which nobody sets */
    struct ccm_thread creator; /* of plugins, in a dry run */
    int created;               /* what it ends with */
    atomic_bool failed;        /* what is left is not worth running, or must not run; logged */
};

/* --- life --- */

/* To ourselves: the main thread waits for it. */
static void daemon_end_as_failed(void *arg)
{
    struct daemon_instance *daemon = arg;

    atomic_store(&daemon->failed, true);
    if (daemon->services.plan == NULL) {
        (void)kill(getpid(), SIGTERM); /* always allowed */
    }
}

/* An event about the Lease, which is where people look for what is about no object. */
static void emit_lease_event(const struct daemon_instance *daemon, bool warning, const char *reason,
                             const char *message)
{
    const char *namespace_ = config_string(daemon->config, NULL, "leader_election", "namespace");
    const char *name = config_string(daemon->config, NULL, "leader_election", "name");
    const struct ccm_raw lease = {
        .meta = {
            .struct_size = sizeof(lease),
            .kind = CCM_KIND_RAW,
            .key = name,
            .namespace_ = namespace_,
            .name = name,
        },
        .api_version = "coordination.k8s.io/v1",
        .kind_name = "Lease",
        .json = "",
    };
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = &lease.meta,
        .component = daemon->identity[0] == '\0' ? "ccmd" : daemon->identity,
        .reason = reason,
        .message = message,
        .warning = warning ? 1 : 0,
    };

    kube_event_emit(daemon->services.events, &event);
}

/* Whether what an event is about is still there; what nobody watches is. */
static bool daemon_has_object(void *arg, const struct kube_occurrence *occurrence)
{
    const struct daemon_host_services *services = arg;
    const uint64_t kind = occurrence->object_kind;
    struct kube_store *store = kind < DAEMON_HOST_KINDS ? services->stores[kind] : NULL;
    const bool spaced = occurrence->namespace_[0] != '\0';
    char key[512];

    if (store == NULL) {
        return true;
    }
    ccm_text_printf(key, sizeof(key), "%s%s%s", occurrence->namespace_, spaced ? "/" : "",
                    occurrence->name);

    const struct ccm_object *object = kube_store_get(store, key);
    const bool exists = object != NULL && ccm_text_equal(object->uid, occurrence->uid);

    kube_object_unref(object);
    return exists;
}

/* The event that client-go's leaders write, so that one sees who leads and since when. */
static void on_lease_won(void *arg)
{
    const struct daemon_instance *daemon = arg;
    char message[KUBE_LEASE_IDENTITY + 32];

    ccm_text_printf(message, sizeof(message), "%s became leader", daemon->identity);
    emit_lease_event(daemon, false, "LeaderElection", message);
}

/* A process that has led and does no longer is not worth saving: a new one begins with nothing in
 * its hands. */
static void on_lease_lost(void *arg)
{
    daemon_end_as_failed(arg);
}

static int open_election(struct daemon_instance *daemon, struct ccm_error *err)
{
    static const char group[] = "leader_election";
    const struct config_tree *config = daemon->config;

    if (config_int(config, NULL, group, "enabled") == 0) {
        ccm_gate_set(&daemon->services.gate, CCM_GATE_ALWAYS);
        return 0;
    }

    const int r = kube_lease_make_identity(daemon->identity, sizeof(daemon->identity));

    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "leader election: no identity: %s",
                             strerror(-r));
    }

    const uint32_t duration_ms =
        (uint32_t)config_int(config, NULL, group, "lease_duration_s") * 1000;
    const struct kube_lease_config lease = {
        .client = daemon->services.kube,
        .namespace_ = config_string(config, NULL, group, "namespace"),
        .name = config_string(config, NULL, group, "name"),
        .identity = daemon->identity,
        .gate = &daemon->services.gate,
        .continuity = &daemon->services.continuity,
        .duration_ms = duration_ms,
        .renew_ms = duration_ms / 3 * 2, /* as of client-go's defaults: 15 s, 10 s, 2 s */
        .retry_ms = duration_ms / 15 * 2,
        .won = on_lease_won,
        .lost = on_lease_lost,
        .arg = daemon,
    };

    daemon->lease = kube_lease_new(&lease);
    return daemon->lease == NULL ? ccm_error_nomem(err) : 0;
}

static int open_services(struct daemon_instance *daemon, struct ccm_error *err)
{
    struct daemon_host_services *services = &daemon->services;
    const struct kube_place configured = {
        .kubeconfig = config_string(daemon->config, NULL, "kubernetes", "kubeconfig"),
    };

    services->config = daemon->config;
    services->metrics = ccm_metrics_new();
    if (services->metrics == NULL) {
        return ccm_error_nomem(err);
    }
    if (sched_watchdog_new(&services->watchdog) < 0) {
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT,
                             "no thread or memory for the watchdog");
    }
    services->http = net_http_new(err);
    if (services->http == NULL) {
        return -ENOMEM;
    }
    services->pauses = daemon_pauses_new();
    services->journal = services->plan == NULL ? daemon_journal_new() : NULL;
    if (services->pauses == NULL || (services->journal == NULL && services->plan == NULL)) {
        return ccm_error_nomem(err);
    }

    int r = kube_client_new_at(services->http, daemon->place == NULL ? &configured : daemon->place,
                               &services->kube, err);

    if (r == 0 && config_int(daemon->config, NULL, "kubernetes", "plain_http") == 0) {
        r = kube_client_check_plain(services->kube, err);
    }
    if (r < 0) {
        return r;
    }
    kube_client_set_gate(services->kube, &services->gate);
    kube_client_set_metrics(services->kube, services->metrics);
    if (services->plan != NULL) {
        ccm_gate_set(&services->gate, CCM_GATE_ALWAYS); /* reading is allowed */
        return 0;                                       /* no event is written */
    }
    kube_continuity_set_gate(&services->continuity, &services->gate);

    const struct kube_event_lasting lasting = { .exists = daemon_has_object, .arg = services };

    services->events = kube_event_recorder_new(services->kube, &lasting, err);
    return services->events == NULL ? ccm_error_nomem(err) : open_election(daemon, err);
}

/* End everything that runs; no call into a plugin is left afterwards, unless it hangs (-ETIMEDOUT).
 */
static int stop_all(struct daemon_instance *daemon)
{
    const int64_t stop_ms =
        config_int(daemon->services.config, NULL, "controller", "stop_s") * 1000;
    const int64_t deadline = ccm_clock_now_ms() + stop_ms;
    int result = 0;

    atomic_store(&daemon->observed.stopping, true);
    daemon_hang_guard_note_end(daemon->guard, stop_ms);
    if (daemon->lease != NULL) {
        kube_lease_withdraw(daemon->lease);
    }
    plugin_registry_stop(daemon->registry);
    if (daemon->watches != NULL) {
        daemon_watches_stop(daemon->watches);
    }
    if (daemon->runners != NULL) {
        daemon_runners_stop(daemon->runners);
        result = daemon_runners_join(daemon->runners, deadline);
    }
    if (daemon->watches != NULL && daemon_watches_join(daemon->watches, deadline) < 0) {
        result = -ETIMEDOUT;
    }
    return result;
}

static void release_all(struct daemon_instance *daemon)
{
    struct daemon_host_services *services = &daemon->services;

    admin_free(daemon->metrics); /* it looks at all the others, the admin server too */
    admin_free(daemon->admin);   /* as does this one */
    daemon_runners_free(daemon->runners);
    kube_event_recorder_free(services->events, EVENTS_DRAIN_MS); /* it looks at the stores */
    daemon_watches_free(daemon->watches);
    sched_watchdog_free(services->watchdog);
    daemon_unserved_free(services->unserved);
    daemon_pauses_free(services->pauses);
    daemon_journal_free(services->journal);
    kube_lease_free(daemon->lease); /* hands it on: nothing writes any more */
    kube_client_free(services->kube);
    net_http_free(services->http);
    ccm_metrics_free(services->metrics);
    daemon_reload_free(daemon->reload); /* the others borrow from its snapshots */
    kube_continuity_fini(&services->continuity);
    daemon_hang_guard_free(daemon->guard); /* all of the end was under its eyes */
    free(daemon);
}

/* SIGTERM and SIGINT wait for wait_for_signal() instead of ending the process. Threads inherit it.
 */
static void daemon_block_signals(bool hold)
{
    sigset_t signals;

    (void)sigemptyset(&signals); /* cannot fail, nor can the next two */
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL); /* a valid set */
}

/* A cloud refuses requests of another time: what failed may succeed by now. */
static void daemon_check_clocks(const struct daemon_instance *daemon, struct ccm_clock_watch *watch)
{
    const int64_t step = ccm_clock_watch_check(watch, ccm_clock_wall_ms(), ccm_clock_boot_ms());

    if (step != 0) {
        ccm_log_warn(&daemon_log, "the clock of this machine was set: by %+" PRId64 " s",
                     (step + (step < 0 ? -500 : 500)) / 1000);
        daemon_runners_retry_now(daemon->runners, NULL, "the clock was set");
    }
}

/* When the last renewal was sent: one that stands by has nothing to renew, and writes nothing. */
static int64_t renewal_ms(const struct daemon_instance *daemon)
{
    struct kube_lease_status lease;

    if (daemon->lease == NULL) {
        return KUBE_CONTINUITY_NO_LEASE;
    }
    kube_lease_status(daemon->lease, &lease);
    return lease.leading ? lease.sent_ms : KUBE_CONTINUITY_NO_LEASE;
}

/* Changes waited, and go on: what failed in between is done again. */
static void daemon_report_held_changes(const struct daemon_instance *daemon,
                                       const struct kube_continuity_view *view)
{
    char message[512];

    ccm_text_printf(message, sizeof(message), /* cut where too long */
                    "Nothing was changed for %" PRId64 " s, until the API server had answered "
                    "consistently: %s",
                    (view->held_for_ms + 500) / 1000, view->reason);
    ccm_log_warn(&daemon_log, "%s", message);
    if (ccm_gate_leads(&daemon->services.gate)) {
        emit_lease_event(daemon, true, "ChangesHeld", message);
    }
    daemon_runners_retry_now(daemon->runners, NULL, "the API server answers consistently again");
}

/* Whether it is still the same API server; *breaks: how often it was not, as told last. */
static void daemon_check_server(const struct daemon_instance *daemon, uint64_t *breaks)
{
    const int64_t settle_s = config_int(daemon->services.config, NULL, "kubernetes", "settle_s");
    struct kube_continuity_view view;

    kube_continuity_check(daemon->continuity, ccm_clock_now_ms(), settle_s * 1000,
                          renewal_ms(daemon), &view);
    if (view.breaks != *breaks) {
        *breaks = view.breaks;
        ccm_log_warn(&daemon_log,
                     "nothing is changed until the API server has answered consistently for "
                     "%" PRId64 " s: %s",
                     settle_s, view.reason);
    }
    if (view.relist) {
        daemon_watches_relist_after_break(daemon->watches);
    }
    if (view.ended) {
        daemon_report_held_changes(daemon, &view);
    }
}

/* Until it is SIGTERM or SIGINT. In between: SIGHUP, and a look at the configuration file, the
 * API server and the clocks. */
static void wait_for_signal(const struct daemon_instance *daemon)
{
    static const struct timespec period = { .tv_sec = CHECK_EVERY_S };
    struct ccm_clock_watch watch;
    uint64_t breaks = 0;
    sigset_t signals;
    int number = 0;

    ccm_clock_watch_init(&watch, ccm_clock_wall_ms(), ccm_clock_boot_ms());
    (void)sigemptyset(&signals); /* cannot fail, nor can the next three */
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGHUP); /* held since main() */
    while (number != SIGTERM && number != SIGINT) {
        number = sigtimedwait(&signals, NULL, &period);
        if (number == SIGHUP) {
            daemon_reload_now(daemon->reload);
        } else if (number < 0) { /* time is up, or a signal that is none of these */
            daemon_reload_check(daemon->reload);
        }
        daemon_check_server(daemon, &breaks);
        daemon_check_clocks(daemon, &watch);
    }
    if (!atomic_load(&daemon->failed)) {
        ccm_log_info(&daemon_log, "stopping on %s", number == SIGINT ? "SIGINT" : "SIGTERM");
    }
}

static int await_turn(void *arg)
{
    const struct daemon_instance *daemon = arg;

    return daemon->lease == NULL ? 0 : kube_lease_await(daemon->lease);
}

static int open_runners(struct daemon_instance *daemon)
{
    const struct daemon_runners_setup setup = {
        .config = daemon->config,
        .registry = daemon->registry,
        .services = &daemon->services,
        .await_turn = await_turn,
        .give_up = daemon_end_as_failed,
        .arg = daemon,
    };

    return daemon_runners_new(&setup, &daemon->runners);
}

/* What the admin server and the guard look at, as far as it is there. */
static void open_observed(struct daemon_instance *daemon)
{
    struct daemon_observed *seen = &daemon->observed;

    seen->config = daemon->config;
    seen->registry = daemon->registry;
    seen->runners = daemon->runners;
    seen->lease = daemon->lease;
    seen->services = &daemon->services;
    seen->metrics = daemon->services.metrics;
    seen->identity = daemon->identity;
    seen->started_ms = daemon->started_ms;
    seen->begun_ms = daemon->begun_ms;
    atomic_store(&seen->creating, true);
}

/* And all the rest. */
static void complete_observed(struct daemon_instance *daemon)
{
    daemon->observed.watches = daemon->watches;
    daemon->observed.reload = daemon->reload;
    atomic_store(&daemon->observed.creating, false);
}

/* Before plugins are created: probes ask from the first moment on. */
static int open_admin(struct daemon_instance *daemon)
{
    static const char group[] = "admin";
    const struct config_tree *config = daemon->config;
    const struct admin_options options = {
        .name = group,
        .listen = config_string(config, NULL, group, "listen"),
        .cert_file = config_string(config, NULL, group, "tls_cert_file"),
        .key_file = config_string(config, NULL, group, "tls_key_file"),
        .token_file = config_string(config, NULL, group, "token_file"),
        .control_file = config_string(config, NULL, group, "control_token_file"),
        .live = daemon_observe_live,
        .ready = daemon_observe_ready,
        .metrics = daemon_observe_metrics,
        .status = daemon_observe_status,
        .idle = daemon_observe_idle,
        .allow_removals = daemon_observe_allow,
        .resync = daemon_observe_resync,
        .arg = &daemon->observed,
    };
    struct ccm_error err = CCM_ERROR_INIT;

    if (options.listen[0] == '\0') {
        return 0;
    }
    if (options.control_file[0] != '\0' &&
        admin_control_token_make(options.control_file, &err) < 0) {
        ccm_log_warn(&daemon_log, "nobody can ask ccmd to act: %s", err.message);
    }
    const int r = admin_new(&options, &daemon->admin, &err);

    atomic_store(&daemon->observed.admin, daemon->admin);

    if (r < 0) {
        ccm_log_error(&daemon_log, "%s", err.message);
    }
    return r;
}

static int open_metrics(struct daemon_instance *daemon)
{
    const struct admin_options options = {
        .name = "metrics",
        .listen = config_string(daemon->config, NULL, "metrics", "listen"),
        .metrics_only = true,
        .cert_file = "",
        .key_file = "",
        .token_file = "",
        .control_file = "",
        .metrics = daemon_observe_metrics,
        .arg = &daemon->observed,
    };
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = options.listen[0] == '\0' ? 0 : admin_new(&options, &daemon->metrics, &err);

    if (r < 0) {
        ccm_log_error(&daemon_log, "%s", err.message);
    }
    return r;
}

static int open_reload(struct daemon_instance *daemon)
{
    daemon->reload = daemon_reload_new(daemon->registry, &daemon->services, daemon->runners);
    if (daemon->reload == NULL) {
        ccm_log_error(&daemon_log, "out of memory");
        return -ENOMEM;
    }
    return 0;
}

static int open_unserved(struct daemon_instance *daemon)
{
    struct daemon_host_services *services = &daemon->services;
    CCM_CLEANUP(ccm_freep)
    char *folder = daemon_plugin_dir(config_string(daemon->config, NULL, "", "plugin_dir"));

    if (folder != NULL) {
        services->unserved = daemon_unserved_new(services, daemon->registry, folder);
    }
    return services->unserved == NULL ? -ENOMEM : 0;
}

static int daemon_start_threads(struct daemon_instance *daemon)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (daemon->services.plan == NULL && open_unserved(daemon) < 0) {
        ccm_log_error(&daemon_log, "out of memory");
        return -ENOMEM;
    }
    daemon->watches = daemon_watches_new(&daemon->services, daemon->registry);
    if (daemon->watches == NULL) {
        ccm_log_error(&daemon_log, "out of memory");
        return -ENOMEM;
    }

    int r = daemon->services.plan == NULL ? open_reload(daemon) : 0;

    if (r < 0) {
        return r;
    }
    complete_observed(daemon);
    r = daemon_watches_start(daemon->watches, &err);

    if (r == 0 && daemon->lease != NULL) {
        r = kube_lease_start(daemon->lease);
        if (r < 0) {
            (void)ccm_error_set(&err, r, CCM_ERROR_TRANSIENT, /* returned below */
                                "leader election: cannot start a thread");
        }
    }
    if (r < 0) {
        ccm_log_error(&daemon_log, "%s", err.message);
        return r;
    }
    return daemon_runners_start(daemon->runners, daemon->watches);
}

static int open_and_log_server(struct daemon_instance *daemon)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = open_services(daemon, &err);

    if (r < 0) {
        ccm_log_error(&daemon_log, "%s", err.message);
    } else {
        ccm_log_info(&daemon_log, "API server %s", kube_client_server(daemon->services.kube));
    }
    return r;
}

static int open_guard(struct daemon_instance *daemon)
{
    open_observed(daemon);
    daemon->guard = daemon_hang_guard_start(&daemon->observed, daemon_end_as_failed, daemon);
    if (daemon->guard == NULL) {
        ccm_log_error(&daemon_log, "no thread or memory for the guard against hanging plugins");
        return -ENOMEM;
    }
    return 0;
}

static int daemon_run_until_signal(struct daemon_instance *daemon)
{
    int r = open_and_log_server(daemon);

    if (r == 0) {
        r = open_runners(daemon);
    }
    if (r == 0) {
        r = open_guard(daemon);
    }
    if (r == 0) {
        r = open_admin(daemon);
    }
    if (r == 0) {
        r = open_metrics(daemon);
    }
    if (r < 0) {
        return r;
    }

    /* create() of a plugin may hang, and nothing has been begun that would have to be ended: a
     * signal does what main() has set up for the start. */
    daemon_block_signals(false);
    r = daemon_runners_create(daemon->runners);
    daemon_block_signals(true);
    if (r == 0) {
        r = daemon_start_threads(daemon);
    }
    if (r < 0) {
        return r;
    }
    wait_for_signal(daemon);
    return atomic_load(&daemon->failed) ? -ENOEXEC : 0;
}

static struct daemon_instance *daemon_new(const struct config_tree *config,
                                          struct plugin_registry *registry)
{
    /* Not on the stack: when a plugin hangs its threads go on using it. */
    struct daemon_instance *daemon = calloc(1, sizeof(*daemon));

    if (daemon == NULL) {
        ccm_log_error(&daemon_log, "out of memory");
        return NULL;
    }
    if (kube_continuity_init(&daemon->services.continuity) < 0) {
        ccm_log_error(&daemon_log, "out of memory");
        free(daemon);
        return NULL;
    }
    daemon->continuity = &daemon->services.continuity;
    daemon->config = config;
    daemon->registry = registry;
    daemon->started_ms = ccm_clock_wall_ms();
    daemon->begun_ms = ccm_clock_boot_ms();
    (void)signal(SIGPIPE, SIG_IGN); /* a broken pipe is an error of the write */
    return daemon;
}

/* Stops, frees; the result is what the daemon ends with. */
static int daemon_stop_and_release(struct daemon_instance *daemon, int result)
{
    if (stop_all(daemon) < 0) {
        return -ETIMEDOUT;
    }
    release_all(daemon);
    return result;
}

int daemon_run(const struct config_tree *config, struct plugin_registry *registry)
{
    struct daemon_instance *daemon = daemon_new(config, registry);

    if (daemon == NULL) {
        return -ENOMEM;
    }
    daemon_block_signals(true);

    const int r = daemon_run_until_signal(daemon);

    /* A second signal ends the process at once, whatever hangs. */
    (void)signal(SIGTERM, SIG_DFL); /* a valid signal, and so is the next */
    (void)signal(SIGINT, SIG_DFL);
    daemon_block_signals(false);
    return daemon_stop_and_release(daemon, r);
}

static void plan_run_creator(void *arg)
{
    struct daemon_instance *daemon = arg;

    daemon->created = daemon_runners_create(daemon->runners);
}

static void plan_record_hanging(void *arg, const char *stage, const char *plugin, int64_t age_ms)
{
    char text[64];

    (void)age_ms; /* as long as the plan was given, or less */
    ccm_text_printf(text, sizeof(text), "%s hangs", stage);
    daemon_plan_book_result(arg, plugin, "", text);
}

/* create() in a thread of its own, so that one that hangs is named and the plan ends. 0 or negative
 * as daemon_runners_create(), or -ETIMEDOUT: nothing that the thread may use can be freed. */
static int plan_create_plugins(struct daemon_instance *daemon, int64_t deadline_ms)
{
    int r = ccm_thread_start(&daemon->creator, plan_run_creator, daemon);

    if (r < 0) {
        ccm_log_error(&daemon_log, "cannot start a thread");
        return r;
    }
    r = ccm_thread_join(&daemon->creator, deadline_ms);
    if (r < 0) {
        daemon_runners_list_stages(daemon->runners, plan_record_hanging, daemon->services.plan);
        return -ETIMEDOUT;
    }
    return daemon->created;
}

int daemon_plan(const struct config_tree *config, struct plugin_registry *registry,
                const struct daemon_plan_setup *plan)
{
    struct daemon_instance *daemon = daemon_new(config, registry);

    if (daemon == NULL) {
        return -ENOMEM;
    }
    daemon->services.plan = plan->book;
    daemon->place = plan->place;

    int r = open_and_log_server(daemon);

    if (r == 0) {
        r = open_runners(daemon);
    }
    if (r == 0) {
        r = open_guard(daemon);
    }
    if (r == 0) {
        r = plan_create_plugins(daemon, plan->deadline_ms);
    }
    if (r == -ETIMEDOUT) {
        (void)plan->report(plan->arg, daemon->services.kube); /* it has failed already */
        return r;
    }
    if (r == 0) {
        r = daemon_start_threads(daemon);
    }
    if (r == 0 || r == -ENOEXEC) {
        const struct daemon_plan_wait wait = { plan->deadline_ms, plan->progress, plan->arg };

        daemon_runners_await_plan(daemon->runners, &wait);
        r = plan->report(plan->arg, daemon->services.kube);
    }
    return daemon_stop_and_release(daemon, r);
}
