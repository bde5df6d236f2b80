#include "daemon/runner.h"

#include "daemon/unserved.h"
#include "kube/object/object.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/crash.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#define START_RETRY_MS     1000
#define START_RETRY_MAX_MS 60000
#define START_TELL_MS      4000 /* from this pause on, Services are told */
#define PLAN_START_MS      8000 /* from this pause on, a dry run does without the plugin */
/* A dry run waits for retries that come this soon; what fails longer than that is told as failed.
 */
#define PLAN_HORIZON_MS  3000
#define PLAN_LEFT_MAX    100 /* so many keys that there was no time for are named */
#define PLAN_TRIES_MAX   7   /* failures in a row to list a kind: some 10 s */
#define PLAN_PROGRESS_MS 200 /* interval of progress() of a dry run */

static const struct ccm_log runner_log = { .part = "ccmd" };

struct runner {
    struct daemon_runners *owner;
    struct plugin_entry *entry;
    struct daemon_plugin_host *host;
    struct sched_controller *controller; /* NULL: the plugin was refused, or its create() failed */
    struct daemon_objects *objects;
    struct ccm_thread starter;
    atomic_bool started;              /* the workers run */
    struct sched_watchdog_slot stage; /* create() or start(), while it runs */
    struct sched_watchdog_slot check; /* check(), while it runs */
};

struct daemon_runners {
    struct daemon_runners_setup setup;
    struct sched_watchdog_place place; /* of create() and start() */
    struct daemon_watches *watches;
    struct runner *items;
    size_t count;
    atomic_bool gave_up;
};

/* --- one plugin --- */

static int runner_call_reconcile(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                                 struct ccm_error *err)
{
    const struct runner *runner = arg;
    struct ccm_crash_call call = {
        .plugin = runner->entry->name,
        .stage = "reconcile",
        .keys = req->keys,
        .key_count = req->key_count,
    };

    ccm_crash_begin(&call);

    const int r = runner->entry->loaded->desc->reconcile(runner->entry->self, req, ret, err);

    ccm_crash_end(&call);
    daemon_plugin_host_end_calls(runner->host, req);
    return r;
}

static void cancel_call(void *arg, struct ccm_cancel *flag)
{
    const struct runner *runner = arg;

    ccm_http_cancel(runner->owner->setup.services->http, flag);
    daemon_plugin_host_wake(runner->host);
}

static void runner_record_settled(void *arg, const char *key, const struct ccm_error *err,
                                  int64_t next_ms)
{
    const struct runner *runner = arg;
    struct daemon_plan_book *book = runner->owner->setup.services->plan;

    daemon_objects_settle(runner->objects, key, err, next_ms);
    if (book != NULL) { /* a dry run does not last until the next try, or takes the next word */
        daemon_plan_book_result(book, runner->entry->name, key, err == NULL ? NULL : err->message);
    }
}

/* Nothing is left of the key, if its object has gone. */
static void runner_forget_key(const struct runner *runner, const char *key)
{
    const struct daemon_host_services *services = runner->owner->setup.services;
    const struct ccm_plugin *desc = runner->entry->loaded->desc;
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = daemon_host_find_object(services, desc, key);
    struct ccm_crash_call call = {
        .plugin = runner->entry->name,
        .stage = "forget",
        .keys = &key,
        .key_count = 1,
    };

    if (object != NULL) {
        return;
    }
    daemon_objects_forget(runner->objects, key);
    if (desc->forget != NULL) {
        ccm_crash_begin(&call);
        desc->forget(runner->entry->self, key);
        ccm_crash_end(&call);
    }
}

static void runner_record_ended(void *arg, const char *key, bool last)
{
    const struct runner *runner = arg;
    struct daemon_plan_book *book = runner->owner->setup.services->plan;

    if (book != NULL) {
        daemon_plan_book_ended(book, runner->entry->name, key);
    }
    daemon_objects_end(runner->objects, key);
    if (last) {
        runner_forget_key(runner, key);
    }
}

static uint32_t runner_read_timeout(const struct runner *runner)
{
    const struct config_tree *config = runner->owner->setup.services->config;

    return (uint32_t)config_int(config, NULL, "controller", "timeout_s") * 1000;
}

static uint32_t workers_of(const struct runner *runner)
{
    const struct config_tree *config = runner->owner->setup.config;

    if ((runner->entry->loaded->desc->flags & CCM_PLUGIN_SERIAL) != 0) {
        return 1;
    }
    for (size_t i = 0; i < config_plugin_count(config); i++) {
        const struct config_plugin *plugin = config_plugin_at(config, i);

        if (ccm_text_equal(plugin->name, runner->entry->name)) {
            return plugin->workers;
        }
    }
    return 1;
}

static uint32_t cut_u32(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

/* Host table, workers (not started), and create() of the plugin. Failures of the plugin itself are
 * no failure here. */
static int runner_prepare_plugin(struct runner *runner)
{
    const struct daemon_runners_setup *setup = &runner->owner->setup;
    const struct ccm_plugin *desc = runner->entry->loaded->desc;
    const struct sched_controller_options options = {
        .name = runner->entry->name,
        .workers = workers_of(runner),
        .kept_workers = 1,
        .batch_max = cut_u32(desc->batch_max),
        .batch_wait_ms = cut_u32(desc->batch_wait_ms),
        .timeout_ms = runner_read_timeout(runner),
        .metrics = setup->services->metrics,
        .gate = &setup->services->gate,
        .watchdog = setup->services->watchdog,
        .reconcile = runner_call_reconcile,
        .arg = runner,
        .settled = runner_record_settled,
        .settled_arg = runner,
        .quiet = setup->services->plan != NULL,
        .ended = runner_record_ended,
        .ended_arg = runner,
        .cancel = cancel_call,
        .cancel_arg = runner,
    };

    runner->host =
        daemon_plugin_host_new(setup->services, runner->objects, runner->entry->name, desc);
    if (runner->host == NULL) {
        return -ENOMEM;
    }

    const int r = sched_controller_new(&options, &runner->controller, NULL);

    if (r < 0) {
        return r; /* the options are in range, so it is memory */
    }
    daemon_plugin_host_set_controller(runner->host, runner->controller);
    sched_watchdog_begin(&runner->owner->place, &runner->stage, "create()", runner->entry->name);

    const int created = plugin_registry_create(setup->registry, runner->entry,
                                               daemon_plugin_host_table(runner->host));

    (void)sched_watchdog_end(&runner->owner->place, &runner->stage); /* not measured */
    if (created < 0) {
        daemon_plugin_host_set_controller(runner->host, NULL);
        sched_controller_free(CCM_STEAL(runner->controller)); /* the registry has logged why */
    }
    return 0;
}

/* A dry run with a plugin that knows nothing of dry runs would change the cloud. */
static bool may_run(const struct runner *runner)
{
    struct daemon_plan_book *book = runner->owner->setup.services->plan;

    if (runner->entry->loaded == NULL) {
        return false;
    }
    if (book == NULL || (runner->entry->loaded->desc->flags & CCM_PLUGIN_PLANS) != 0) {
        return true;
    }
    daemon_plan_book_result(book, runner->entry->name, "",
                            "this plugin cannot tell what it would do, it was not asked");
    return false;
}

/* Whether a plugin that failed takes the daemon with it. Logged, and true only once. */
static bool runners_must_end_daemon(struct daemon_runners *runners)
{
    const struct plugin_entry *critical = plugin_registry_critical_failure(runners->setup.registry);

    if ((critical == NULL && plugin_registry_has_use(runners->setup.registry)) ||
        atomic_exchange(&runners->gave_up, true)) {
        return false;
    }
    if (critical != NULL) {
        ccm_log_error(&runner_log, "plugin %s is critical and failed: ending", critical->name);
    } else {
        ccm_log_error(&runner_log, "no plugin is left: ending");
    }
    return true;
}

/* What takes long is named from the first call on. */
static void runners_add_place(struct daemon_runners *runners)
{
    const struct daemon_host_services *services = runners->setup.services;

    sched_watchdog_init(&runners->place, services->watchdog, "plugin", SCHED_WATCHDOG_SLOW_MS);
    runners->place.call = "";
    for (size_t i = 0; i < runners->count; i++) {
        sched_watchdog_add_slot(&runners->place, &runners->items[i].stage);
        sched_watchdog_add_slot(&runners->place, &runners->items[i].check);
    }
}

int daemon_runners_new(const struct daemon_runners_setup *setup, struct daemon_runners **ret)
{
    const size_t count = plugin_registry_len(setup->registry);
    struct daemon_runners *runners = calloc(1, sizeof(*runners));

    if (runners != NULL) {
        runners->setup = *setup;
        runners->items = calloc(count, sizeof(*runners->items));
    }
    *ret = runners;
    if (runners == NULL || runners->items == NULL) {
        ccm_log_error(&runner_log, "out of memory");
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct runner *runner = &runners->items[runners->count++];

        runner->owner = runners;
        runner->entry = plugin_registry_at(setup->registry, i);
        runner->objects = daemon_objects_new();
        if (runner->objects == NULL) {
            ccm_log_error(&runner_log, "plugin %s: out of memory", runner->entry->name);
            return -ENOMEM;
        }
    }
    runners_add_place(runners);
    return 0;
}

int daemon_runners_create(struct daemon_runners *runners)
{
    for (size_t i = 0; i < runners->count; i++) {
        struct runner *runner = &runners->items[i];
        const int r = may_run(runner) ? runner_prepare_plugin(runner) : 0;

        if (r < 0) {
            ccm_log_error(&runner_log, "plugin %s: out of memory", runner->entry->name);
            return r;
        }
    }
    return runners_must_end_daemon(runners) ? -ENOEXEC : 0;
}

/* --- starting --- */

static int runner_call_start(struct runner *runner)
{
    struct sched_watchdog_place *place = &runner->owner->place;

    sched_watchdog_begin(place, &runner->stage, "start()", runner->entry->name);

    const int r = plugin_registry_start(runner->owner->setup.registry, runner->entry);

    (void)sched_watchdog_end(place, &runner->stage); /* not measured */
    return r;
}

/* start() until it succeeds, fails for good, or the daemon stops. */
static int start_plugin(struct runner *runner)
{
    struct plugin_registry *registry = runner->owner->setup.registry;
    const struct ccm_host *host = daemon_plugin_host_table(runner->host);
    uint64_t pause_ms = START_RETRY_MS;

    while (runner_call_start(runner) < 0) {
        if (plugin_registry_status(registry, runner->entry, NULL) == PLUGIN_STATE_FAILED) {
            return -ENOEXEC;
        }
        if (runner->owner->setup.services->plan != NULL && pause_ms >= PLAN_START_MS) {
            return -ECANCELED; /* a person waits for the plan, which says why */
        }
        if (pause_ms >= START_TELL_MS) {
            daemon_unserved_look_all(runner->owner->setup.services->unserved);
        }
        if (host->wait(host, NULL, pause_ms) < 0) {
            return -ECANCELED;
        }
        pause_ms = pause_ms * 2 > START_RETRY_MAX_MS ? START_RETRY_MAX_MS : pause_ms * 2;
    }
    return 0;
}

static void runners_end_daemon(struct daemon_runners *runners)
{
    runners->setup.give_up(runners->setup.arg);
}

static void runner_run_starter(void *arg)
{
    struct runner *runner = arg;
    struct daemon_runners *runners = runner->owner;
    const struct daemon_runners_setup *setup = &runners->setup;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = daemon_watches_wait_synced(runners->watches, runner->entry->loaded->desc);

    if (r == 0 && setup->await_turn != NULL) {
        r = setup->await_turn(setup->arg);
    }
    if (r == 0) {
        r = start_plugin(runner);
    }
    if (r != -ECANCELED) {
        daemon_unserved_look_all(setup->services->unserved);
    }
    if (r == -ENOEXEC) { /* logged by the registry */
        if (runners_must_end_daemon(runners)) {
            runners_end_daemon(runners);
        }
        return;
    }
    if (r < 0) {
        return; /* the daemon stops */
    }
    /* In the log, before what the workers say. */
    ccm_log_info(&runner_log, "plugin %s: started", runner->entry->name);
    r = sched_controller_start(runner->controller, &err);
    if (r == 0) {
        atomic_store(&runner->started, true);
        return;
    }
    /* No thread for a worker: a new process may have more luck than waiting for it here. */
    ccm_log_error(&runner_log, "plugin %s: %s: ending", runner->entry->name, err.message);
    if (!atomic_exchange(&runners->gave_up, true)) {
        runners_end_daemon(runners);
    }
}

int daemon_runners_start(struct daemon_runners *runners, struct daemon_watches *watches)
{
    runners->watches = watches;
    for (size_t i = 0; i < runners->count; i++) {
        struct runner *runner = &runners->items[i];

        if (runner->controller == NULL) {
            continue;
        }

        const int r = ccm_thread_start(&runner->starter, runner_run_starter, runner);

        if (r < 0) {
            ccm_log_error(&runner_log, "plugin %s: cannot start a thread", runner->entry->name);
            return r;
        }
    }
    return 0;
}

void daemon_runners_reconfigure(struct daemon_runners *runners)
{
    for (size_t i = 0; i < runners->count; i++) {
        const struct runner *runner = &runners->items[i];

        if (runner->controller != NULL) {
            sched_controller_set_timeout(runner->controller, runner_read_timeout(runner));
        }
    }
}

void daemon_runners_retry_now(struct daemon_runners *runners, const char *plugin, const char *why)
{
    for (size_t i = 0; i < runners->count; i++) {
        const struct runner *runner = &runners->items[i];
        const char *name = runner->entry->name;

        if (runner->controller == NULL || (plugin != NULL && !ccm_text_equal(name, plugin))) {
            continue;
        }

        const size_t count = sched_controller_retry_now(runner->controller);

        if (count > 0) {
            ccm_log_info(&runner_log, "plugin %s: %s: %zu failing object%s tried again now", name,
                         why, count, count == 1 ? " is" : "s are");
        }
    }
}

static int allow_one(const struct runner *runner, struct ccm_buf *text)
{
    const char *name = runner->entry->name;

    if (runner->controller == NULL || runner->entry->loaded->desc->allow_removals == NULL) {
        ccm_buf_addf(text, "plugin %s holds no removals back", name);
        return -ENOTSUP;
    }
    if (!atomic_load(&runner->started)) {
        ccm_buf_addf(text, "plugin %s does not work in this instance: ask the one that leads",
                     name);
        return -EAGAIN;
    }

    const uint64_t held = daemon_objects_sum(runner->objects, DAEMON_NOTE_HELD).count;
    struct ccm_crash_call call = { .plugin = name, .stage = "allow_removals" };

    ccm_crash_begin(&call);

    const int64_t window_ms = runner->entry->loaded->desc->allow_removals(runner->entry->self);

    ccm_crash_end(&call);

    ccm_log_warn(&runner_log,
                 "plugin %s: an operator lets held removals go for %" PRId64 " s: %" PRIu64
                 " are held",
                 name, window_ms / 1000, held);
    ccm_buf_addf(text, "plugin %s: what is held may go for %" PRId64 " s: %" PRIu64 " removal%s",
                 name, window_ms / 1000, held, held == 1 ? "" : "s");
    return 0;
}

int daemon_runners_allow_removals(struct daemon_runners *runners, const char *plugin,
                                  struct ccm_buf *text)
{
    for (size_t i = 0; i < runners->count; i++) {
        if (ccm_text_equal(runners->items[i].entry->name, plugin)) {
            return allow_one(&runners->items[i], text);
        }
    }
    ccm_buf_addf(text, "there is no plugin %.64s", plugin);
    return -ENOENT;
}

/* True: it works here. */
static bool resync_one(const struct runner *runner, const char *key, struct ccm_buf *text)
{
    const struct ccm_plugin *desc = runner->controller == NULL ? NULL : runner->entry->loaded->desc;

    if (desc == NULL || !atomic_load(&runner->started)) {
        return false;
    }
    struct ccm_crash_call call = {
        .plugin = runner->entry->name,
        .stage = "resync",
        .keys = key == NULL ? NULL : &key,
        .key_count = key == NULL ? 0 : 1,
    };

    ccm_crash_begin(&call);

    const uint64_t count = desc->resync == NULL ? 0 : desc->resync(runner->entry->self, key);

    ccm_crash_end(&call);
    if (count > 0) {
        ccm_log_info(&runner_log, "plugin %s: an operator has %" PRIu64 " object%s looked at again",
                     runner->entry->name, count, count == 1 ? "" : "s");
        ccm_buf_addf(text, "%splugin %s looks at %" PRIu64 " object%s again",
                     text->len == 0 ? "" : ", ", runner->entry->name, count, count == 1 ? "" : "s");
    }
    return true;
}

int daemon_runners_resync(struct daemon_runners *runners, const char *key, struct ccm_buf *text)
{
    bool works = false;

    for (size_t i = 0; i < runners->count; i++) {
        works = resync_one(&runners->items[i], key, text) || works;
    }
    if (!works) {
        ccm_buf_adds(text, "no plugin works in this instance: ask the one that leads");
        return -EAGAIN;
    }
    if (text->len == 0) {
        ccm_buf_addf(text, "no plugin takes care of %.256s", key == NULL ? "anything" : key);
        return -ENOENT;
    }
    return 0;
}

static struct runner *runners_find(const struct daemon_runners *runners, const char *plugin)
{
    for (size_t i = 0; i < runners->count; i++) {
        if (ccm_text_equal(runners->items[i].entry->name, plugin)) {
            return &runners->items[i];
        }
    }
    return NULL;
}

void daemon_runners_begin_check(struct daemon_runners *runners, const char *plugin)
{
    struct runner *runner = runners_find(runners, plugin);

    if (runner != NULL) {
        sched_watchdog_begin(&runners->place, &runner->check, "check()", plugin);
    }
}

void daemon_runners_end_check(struct daemon_runners *runners, const char *plugin)
{
    struct runner *runner = runners_find(runners, plugin);

    if (runner != NULL) {
        (void)sched_watchdog_end(&runners->place, &runner->check); /* not measured */
    }
}

void daemon_runners_list_stages(struct daemon_runners *runners,
                                void (*fn)(void *arg, const char *stage, const char *plugin,
                                           int64_t age_ms),
                                void *arg)
{
    sched_watchdog_list(&runners->place, fn, arg);
}

bool daemon_runners_get_view(struct daemon_runners *runners, size_t index,
                             struct daemon_runner_view *ret)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (index >= runners->count) {
        return false;
    }

    const struct runner *runner = &runners->items[index];
    const enum plugin_state state =
        plugin_registry_status(runners->setup.registry, runner->entry, &err);

    *ret = (struct daemon_runner_view){
        .name = runner->entry->name,
        .state = plugin_registry_state_name(state),
        .failed = state == PLUGIN_STATE_FAILED,
        .started = atomic_load(&runner->started),
        .objects = runner->objects,
        .loaded = runner->entry->loaded,
        .self = runner->entry->self,
        .controller = runner->controller,
    };
    ccm_text_copy(ret->error, sizeof(ret->error), err.message);
    if (runner->controller != NULL) {
        sched_controller_get_stats(runner->controller, &ret->stats);
    }
    return true;
}

static void runner_record_unfinished(struct runner *runner, const char *what)
{
    struct ccm_error err = CCM_ERROR_INIT;
    char text[CCM_ERROR_MESSAGE_MAX + 64];

    (void)plugin_registry_status(runner->owner->setup.registry, runner->entry, &err);
    ccm_text_printf(text, sizeof(text), "%s%s%s", what, err.message[0] == '\0' ? "" : ": ",
                    err.message);
    daemon_plan_book_result(runner->owner->setup.services->plan, runner->entry->name, "", text);
}

static bool runner_has_looked(void *arg, const char *key)
{
    const struct runner *runner = arg;

    return daemon_plan_book_is_looked(runner->owner->setup.services->plan, runner->entry->name,
                                      key);
}

/* Keys that a dry run has no time for. */
struct left_keys {
    struct runner *runner;
    size_t count;
};

static void left_keys_record(void *arg, const char *key)
{
    struct left_keys *left = arg;

    if (++left->count <= PLAN_LEFT_MAX) {
        daemon_plan_book_left(left->runner->owner->setup.services->plan, left->runner->entry->name,
                              key);
    }
}

static void plan_wait_report(const struct daemon_plan_wait *wait, const struct runner *runner,
                             const char *what)
{
    char text[CCM_ERROR_MESSAGE_MAX + 64];

    if (wait->progress != NULL) {
        ccm_text_printf(text, sizeof(text), "%s: %s", runner->entry->name, what);
        wait->progress(wait->arg, text);
    }
}

static int64_t plan_wait_next_ms(const struct daemon_plan_wait *wait)
{
    const int64_t next_ms = ccm_clock_now_ms() + PLAN_PROGRESS_MS;

    return next_ms < wait->deadline_ms ? next_ms : wait->deadline_ms;
}

static void runner_report_left(const struct runner *runner, const struct daemon_plan_wait *wait)
{
    struct sched_controller_stats stats;
    uint64_t left = 0;
    char text[64];

    sched_controller_get_stats(runner->controller, &stats);
    left = stats.queue.processing;
    for (size_t i = 0; i < SCHED_QUEUE_LANES; i++) {
        left += stats.queue.depth[i];
    }
    ccm_text_printf(text, sizeof(text), "%llu objects are left to look at",
                    (unsigned long long)left);
    plan_wait_report(wait, runner, text);
}

/* Until all keys were looked at; those that were not are named. */
static void runner_await_keys(struct runner *runner, const struct daemon_plan_wait *wait)
{
    const struct sched_queue_calm calm = { PLAN_HORIZON_MS, runner_has_looked, runner };
    struct left_keys left = { .runner = runner };
    char text[64];

    while (sched_controller_wait_calm(runner->controller, &calm, plan_wait_next_ms(wait)) < 0) {
        if (ccm_clock_now_ms() >= wait->deadline_ms) {
            sched_controller_list_left(runner->controller, &calm, left_keys_record, &left);
            break;
        }
        runner_report_left(runner, wait);
    }
    if (left.count > PLAN_LEFT_MAX) {
        ccm_text_printf(text, sizeof(text), "%zu more objects were not looked at in time",
                        left.count - PLAN_LEFT_MAX);
        runner_record_unfinished(runner, text);
    }
}

/* What keeps the plugin from starting, "" = nothing known. Whether it is no use to wait. */
static bool runner_explain_start(struct runner *runner, char *text, size_t size)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct daemon_watch_view view;

    text[0] = '\0';
    if (daemon_watches_find_unlisted(runner->owner->watches, runner->entry->loaded->desc, &view)) {
        ccm_text_printf(text, size, "%s cannot be read%s%s", view.name,
                        view.status.error[0] == '\0' ? " yet" : ": ", view.status.error);
        return view.status.failures >= PLAN_TRIES_MAX;
    }
    (void)plugin_registry_status(runner->owner->setup.registry, runner->entry, &err);
    ccm_text_copy(text, size, err.message);
    return false;
}

/* True: it runs; else why not is in the book. */
static bool runner_await_start(struct runner *runner, const struct daemon_plan_wait *wait)
{
    struct daemon_plan_book *book = runner->owner->setup.services->plan;
    char why[CCM_ERROR_MESSAGE_MAX];
    char text[CCM_ERROR_MESSAGE_MAX + 64];
    bool hopeless = false;

    while (!hopeless && ccm_thread_join(&runner->starter, plan_wait_next_ms(wait)) < 0 &&
           ccm_clock_now_ms() < wait->deadline_ms) {
        hopeless = runner_explain_start(runner, why, sizeof(why));
        plan_wait_report(wait, runner, why[0] == '\0' ? "starting" : why);
    }
    if (atomic_load(&runner->started)) {
        return true;
    }
    (void)runner_explain_start(runner, why, sizeof(why)); /* it is over in any case */
    ccm_text_printf(text, sizeof(text), "the plugin did not start%s%s", why[0] == '\0' ? "" : ": ",
                    why);
    daemon_plan_book_result(book, runner->entry->name, "", text);
    return false;
}

void daemon_runners_await_plan(struct daemon_runners *runners, const struct daemon_plan_wait *wait)
{
    for (size_t i = 0; i < runners->count; i++) {
        struct runner *runner = &runners->items[i];

        if (runner->controller == NULL) {
            if (may_run(runner) || runner->entry->loaded == NULL) {
                runner_record_unfinished(runner, "the plugin is left out");
            }
        } else if (runner_await_start(runner, wait)) {
            runner_await_keys(runner, wait);
        }
    }
}

/* --- ending --- */

void daemon_runners_stop(struct daemon_runners *runners)
{
    for (size_t i = 0; i < runners->count; i++) {
        if (runners->items[i].controller != NULL) {
            daemon_plugin_host_stop(runners->items[i].host);
            sched_controller_stop(runners->items[i].controller);
        }
    }
}

/* Wait for the threads of one plugin. */
static int runner_join_threads(struct runner *runner, int64_t deadline_ms)
{
    if (runner->controller == NULL) {
        return 0;
    }
    if (ccm_thread_join(&runner->starter, deadline_ms) < 0) {
        ccm_log_error(&runner_log, "plugin %s: start() hangs", runner->entry->name);
        return -ETIMEDOUT; /* it may still start the workers */
    }
    return sched_controller_join(runner->controller, deadline_ms);
}

int daemon_runners_join(struct daemon_runners *runners, int64_t deadline_ms)
{
    int result = 0;

    for (size_t i = 0; i < runners->count; i++) {
        if (runner_join_threads(&runners->items[i], deadline_ms) < 0) {
            result = -ETIMEDOUT;
        }
    }
    return result;
}

void daemon_runners_free(struct daemon_runners *runners)
{
    if (runners == NULL) {
        return;
    }
    plugin_registry_destroy(runners->setup.registry);
    sched_watchdog_remove(&runners->place);
    for (size_t i = 0; i < runners->count; i++) {
        sched_controller_free(runners->items[i].controller);
        daemon_plugin_host_free(runners->items[i].host);
        daemon_objects_free(runners->items[i].objects);
    }
    free(runners->items);
    free(runners);
}
