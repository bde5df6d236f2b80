#include "daemon.h"

#include "host.h"
#include "kube/client.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"
#include "watches.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS_DRAIN_MS    2000
#define START_RETRY_MS     1000
#define START_RETRY_MAX_MS 60000

static const struct ccm_log daemon_log = { .part = "ccmd" };

/* One plugin at work: its host table, its workers, and the thread that starts it. */
struct runner {
    struct ccm_daemon *daemon;
    struct ccm_plugin_entry *entry;
    struct ccm_plugin_host *host;
    struct ccm_controller *controller; /* NULL: the plugin was refused, or its create() failed */
    struct ccm_thread starter;
};

struct ccm_daemon {
    const struct ccm_config *config;
    struct ccm_registry *registry;
    struct ccm_host_services services;
    struct ccm_watches *watches;
    struct runner *runners;
    size_t runner_count;
    atomic_bool failed; /* what is left is not worth running, or must not run; logged */
};

/* --- plugins --- */

static int reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    const struct runner *runner = arg;

    return runner->entry->loaded->desc->reconcile(runner->entry->self, req, ret, err);
}

static void cancel_call(void *arg, struct ccm_cancel *flag)
{
    const struct runner *runner = arg;

    ccm_http_cancel(runner->daemon->services.http, flag);
    ccm_plugin_host_wake(runner->host);
}

static uint32_t seconds_option(const struct ccm_daemon *daemon, const char *name)
{
    return (uint32_t)ccm_config_int(daemon->config, NULL, "controller", name) * 1000;
}

static uint32_t workers_of(const struct ccm_daemon *daemon, const struct ccm_plugin_entry *entry)
{
    if ((entry->loaded->desc->flags & CCM_PLUGIN_SERIAL) != 0) {
        return 1;
    }
    for (size_t i = 0; i < ccm_config_plugin_count(daemon->config); i++) {
        const struct ccm_config_plugin *plugin = ccm_config_plugin_at(daemon->config, i);

        if (ccm_text_equal(plugin->name, entry->name)) {
            return plugin->workers;
        }
    }
    return 1;
}

/* Host table, workers (not started), and create() of the plugin. Failures of the plugin itself are
 * no failure here. */
static int prepare_runner(struct runner *runner)
{
    struct ccm_daemon *daemon = runner->daemon;
    const struct ccm_plugin *desc = runner->entry->loaded->desc;
    const struct ccm_controller_options options = {
        .name = runner->entry->name,
        .workers = workers_of(daemon, runner->entry),
        .batch_max = (uint32_t)desc->batch_max,
        .timeout_ms = seconds_option(daemon, "timeout_s"),
        .slow_ms = seconds_option(daemon, "slow_s"),
        .reconcile = reconcile,
        .arg = runner,
        .cancel = cancel_call,
        .cancel_arg = runner,
    };

    runner->host = ccm_plugin_host_new(&daemon->services, runner->entry->name);
    if (runner->host == NULL) {
        return -ENOMEM;
    }

    const int r = ccm_controller_new(&options, &runner->controller, NULL);

    if (r < 0) {
        return r; /* the options are in range, so it is memory */
    }
    ccm_plugin_host_set_controller(runner->host, runner->controller);
    if (ccm_registry_create(daemon->registry, runner->entry, ccm_plugin_host_table(runner->host)) <
        0) {
        ccm_plugin_host_set_controller(runner->host, NULL);
        ccm_controller_free(CCM_STEAL(runner->controller)); /* the registry has logged why */
    }
    return 0;
}

/* Whether a plugin that failed takes the daemon with it. Logged, and true only once. */
static bool must_end(struct ccm_daemon *daemon)
{
    const struct ccm_plugin_entry *critical = ccm_registry_critical_failure(daemon->registry);

    if ((critical == NULL && ccm_registry_has_use(daemon->registry)) ||
        atomic_exchange(&daemon->failed, true)) {
        return false;
    }
    if (critical != NULL) {
        ccm_log_error(&daemon_log, "plugin %s is critical and failed: ending", critical->name);
    } else {
        ccm_log_error(&daemon_log, "no plugin is left: ending");
    }
    return true;
}

static int prepare_runners(struct ccm_daemon *daemon)
{
    const size_t count = ccm_registry_len(daemon->registry);

    daemon->runners = calloc(count, sizeof(*daemon->runners));
    if (daemon->runners == NULL) {
        ccm_log_error(&daemon_log, "out of memory");
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct runner *runner = &daemon->runners[daemon->runner_count++];

        runner->daemon = daemon;
        runner->entry = ccm_registry_at(daemon->registry, i);

        const int r = runner->entry->loaded == NULL ? 0 : prepare_runner(runner);

        if (r < 0) {
            ccm_log_error(&daemon_log, "plugin %s: out of memory", runner->entry->name);
            return r;
        }
    }
    return must_end(daemon) ? -ENOEXEC : 0;
}

/* start() until it succeeds, fails for good, or the daemon stops. */
static int start_plugin(struct runner *runner)
{
    struct ccm_registry *registry = runner->daemon->registry;
    const struct ccm_host *host = ccm_plugin_host_table(runner->host);
    uint64_t pause_ms = START_RETRY_MS;

    while (ccm_registry_start(registry, runner->entry) < 0) {
        if (ccm_registry_status(registry, runner->entry, NULL) == CCM_PLUGIN_STATE_FAILED) {
            return -ENOEXEC;
        }
        if (host->wait(host, NULL, pause_ms) < 0) {
            return -ECANCELED;
        }
        pause_ms = pause_ms * 2 > START_RETRY_MAX_MS ? START_RETRY_MAX_MS : pause_ms * 2;
    }
    return 0;
}

static void starter(void *arg)
{
    struct runner *runner = arg;
    struct ccm_daemon *daemon = runner->daemon;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = ccm_watches_wait_synced(daemon->watches, runner->entry->loaded->desc);

    if (r == 0) {
        r = start_plugin(runner);
    }
    if (r == -ENOEXEC) { /* logged by the registry */
        if (must_end(daemon)) {
            (void)kill(getpid(), SIGTERM); /* to ourselves: the main thread waits for it */
        }
        return;
    }
    if (r < 0) {
        return; /* the daemon stops */
    }
    r = ccm_controller_start(runner->controller, &err);
    if (r == 0) {
        ccm_log_info(&daemon_log, "plugin %s: started", runner->entry->name);
        return;
    }
    /* No thread for a worker: a new process may have more luck than waiting for it here. */
    ccm_log_error(&daemon_log, "plugin %s: %s: ending", runner->entry->name, err.message);
    if (!atomic_exchange(&daemon->failed, true)) {
        (void)kill(getpid(), SIGTERM); /* as above */
    }
}

static int start_runners(struct ccm_daemon *daemon)
{
    for (size_t i = 0; i < daemon->runner_count; i++) {
        struct runner *runner = &daemon->runners[i];

        if (runner->controller == NULL) {
            continue;
        }

        const int r = ccm_thread_start(&runner->starter, starter, runner);

        if (r < 0) {
            ccm_log_error(&daemon_log, "plugin %s: cannot start a thread", runner->entry->name);
            return r;
        }
    }
    return 0;
}

/* --- life --- */

static int open_services(struct ccm_daemon *daemon, struct ccm_error *err)
{
    struct ccm_host_services *services = &daemon->services;
    const char *kubeconfig = ccm_config_string(daemon->config, NULL, "kubernetes", "kubeconfig");

    services->config = daemon->config;
    services->http = ccm_http_new(err);
    if (services->http == NULL) {
        return -ENOMEM;
    }

    const int r = ccm_kube_client_new(services->http, kubeconfig, &services->kube, err);

    if (r < 0) {
        return r;
    }
    services->events = ccm_event_recorder_new(services->kube, err);
    return services->events == NULL ? -ENOMEM : 0;
}

/* Wait for the threads of one plugin. */
static int join_runner(struct runner *runner, int64_t deadline_ms)
{
    if (runner->controller == NULL) {
        return 0;
    }
    if (ccm_thread_join(&runner->starter, deadline_ms) < 0) {
        ccm_log_error(&daemon_log, "plugin %s: start() hangs", runner->entry->name);
        return -ETIMEDOUT; /* it may still start the workers */
    }
    return ccm_controller_join(runner->controller, deadline_ms);
}

/* End everything that runs; no call into a plugin is left afterwards, unless it hangs (-ETIMEDOUT).
 */
static int stop_all(struct ccm_daemon *daemon)
{
    const int64_t deadline = ccm_clock_now_ms() + seconds_option(daemon, "stop_s");
    int result = 0;

    ccm_registry_stop(daemon->registry);
    if (daemon->watches != NULL) {
        ccm_watches_stop(daemon->watches);
    }
    for (size_t i = 0; i < daemon->runner_count; i++) {
        if (daemon->runners[i].controller != NULL) {
            ccm_plugin_host_stop(daemon->runners[i].host);
            ccm_controller_stop(daemon->runners[i].controller);
        }
    }
    for (size_t i = 0; i < daemon->runner_count; i++) {
        if (join_runner(&daemon->runners[i], deadline) < 0) {
            result = -ETIMEDOUT;
        }
    }
    if (daemon->watches != NULL && ccm_watches_join(daemon->watches, deadline) < 0) {
        result = -ETIMEDOUT;
    }
    return result;
}

static void release_all(struct ccm_daemon *daemon)
{
    struct ccm_host_services *services = &daemon->services;

    ccm_registry_destroy(daemon->registry);
    for (size_t i = 0; i < daemon->runner_count; i++) {
        ccm_controller_free(daemon->runners[i].controller);
        ccm_plugin_host_free(daemon->runners[i].host);
    }
    free(daemon->runners);
    ccm_watches_free(daemon->watches);
    ccm_event_recorder_free(services->events, EVENTS_DRAIN_MS);
    ccm_kube_client_free(services->kube);
    ccm_http_free(services->http);
    free(daemon);
}

/* SIGTERM and SIGINT wait for wait_for_signal() instead of ending the process. Threads inherit it.
 */
static void hold_signals(bool hold)
{
    sigset_t signals;

    (void)sigemptyset(&signals); /* cannot fail, nor can the next two */
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL); /* a valid set */
}

static void wait_for_signal(const struct ccm_daemon *daemon)
{
    sigset_t signals;
    siginfo_t info = { 0 };

    (void)sigemptyset(&signals); /* cannot fail, nor can the next two */
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    while (sigwaitinfo(&signals, &info) < 0) {
        /* interrupted by a signal that is none of these */
    }
    if (!atomic_load(&daemon->failed)) {
        ccm_log_info(&daemon_log, "stopping on %s", info.si_signo == SIGINT ? "SIGINT" : "SIGTERM");
    }
}

static int start(struct ccm_daemon *daemon)
{
    struct ccm_error err = CCM_ERROR_INIT;

    daemon->watches = ccm_watches_new(&daemon->services, daemon->registry);
    if (daemon->watches == NULL) {
        ccm_log_error(&daemon_log, "out of memory");
        return -ENOMEM;
    }

    const int r = ccm_watches_start(daemon->watches, &err);

    if (r < 0) {
        ccm_log_error(&daemon_log, "%s", err.message);
        return r;
    }
    return start_runners(daemon);
}

static int run(struct ccm_daemon *daemon)
{
    struct ccm_error err = CCM_ERROR_INIT;
    int r = open_services(daemon, &err);

    if (r < 0) {
        ccm_log_error(&daemon_log, "%s", err.message);
        return r;
    }
    ccm_log_info(&daemon_log, "API server %s", ccm_kube_client_server(daemon->services.kube));

    /* create() of a plugin may hang, and nothing has been begun that would have to be ended: a
     * signal does what main() has set up for the start. */
    hold_signals(false);
    r = prepare_runners(daemon);
    hold_signals(true);
    if (r == 0) {
        r = start(daemon);
    }
    if (r < 0) {
        return r;
    }
    wait_for_signal(daemon);
    return atomic_load(&daemon->failed) ? -ENOEXEC : 0;
}

int ccm_daemon_run(const struct ccm_config *config, struct ccm_registry *registry)
{
    /* Not on the stack: when a plugin hangs its threads go on using it. */
    struct ccm_daemon *daemon = calloc(1, sizeof(*daemon));

    if (daemon == NULL) {
        ccm_log_error(&daemon_log, "out of memory");
        return -ENOMEM;
    }
    daemon->config = config;
    daemon->registry = registry;
    hold_signals(true);
    (void)signal(SIGPIPE, SIG_IGN); /* a broken pipe is an error of the write */

    const int r = run(daemon);

    /* A second signal ends the process at once, whatever hangs. */
    (void)signal(SIGTERM, SIG_DFL); /* a valid signal, and so is the next */
    (void)signal(SIGINT, SIG_DFL);
    hold_signals(false);
    if (stop_all(daemon) < 0) {
        return -ETIMEDOUT;
    }
    release_all(daemon);
    return r;
}
