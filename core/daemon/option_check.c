#include "daemon/option_check.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/crash.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* One plugin that is asked. */
struct option_check {
    struct ccm_host host; /* host.core points back here */
    const struct config_tree *config;
    const struct config_plugin *plugin;
    struct daemon_runners *runners; /* NULL: nobody watches */
    struct ccm_buf *told; /* "\nMESSAGE\n" each: options that plugins share are told of once */
    size_t errors;
    void (*fn)(void *arg, bool is_error, const char *line);
    void *arg;
};

static const struct option_check *check_of(const struct ccm_host *host)
{
    return host->core;
}

/* --- a host that has options, and nothing else ----------------------------------------------- */

__attribute__((format(printf, 4, 5))) static void
check_log(const struct ccm_host *host, uint64_t level, const char *object, const char *format, ...)
{
    (void)host; /* what a plugin says while it is asked is not what it found */
    (void)level;
    (void)object;
    (void)format;
}

static bool check_log_enabled(const struct ccm_host *host, uint64_t level)
{
    (void)host;
    (void)level;
    return false;
}

static int64_t check_now_ms(const struct ccm_host *host)
{
    (void)host;
    return ccm_clock_now_ms();
}

static int64_t check_wall_ms(const struct ccm_host *host)
{
    (void)host;
    return ccm_clock_wall_ms();
}

static int check_random(const struct ccm_host *host, void *bytes, size_t len)
{
    (void)host;
    return len <= 256 && getrandom(bytes, len, 0) == (ssize_t)len ? 0 : -EIO;
}

static int check_wait(const struct ccm_host *host, const struct ccm_request *req, uint64_t ms)
{
    (void)host;
    (void)req;
    (void)ms;
    return -ECANCELED;
}

static bool check_cancelled(const struct ccm_host *host, const struct ccm_request *req)
{
    (void)host;
    (void)req;
    return true;
}

static const char *check_option_string(const struct ccm_host *host, const char *group,
                                       const char *name)
{
    return config_string(check_of(host)->config, check_of(host)->plugin->name, group, name);
}

static int64_t check_option_int(const struct ccm_host *host, const char *group, const char *name)
{
    return config_int(check_of(host)->config, check_of(host)->plugin->name, group, name);
}

static const char *const *check_option_strings(const struct ccm_host *host, const char *group,
                                               const char *name)
{
    return config_strings(check_of(host)->config, check_of(host)->plugin->name, group, name);
}

static const struct ccm_object *check_get(const struct ccm_host *host, uint64_t kind,
                                          const char *key)
{
    (void)host;
    (void)kind;
    (void)key;
    return NULL;
}

static int check_list(const struct ccm_host *host, uint64_t kind, const char *index,
                      const char *value, const struct ccm_object *const **ret_objects,
                      size_t *ret_count)
{
    (void)host;
    (void)kind;
    (void)index;
    (void)value;
    (void)ret_objects;
    (void)ret_count;
    return -ENOTSUP;
}

static void check_release(const struct ccm_host *host, const struct ccm_object *object)
{
    (void)host;
    (void)object; /* none was handed out */
}

static void check_enqueue(const struct ccm_host *host, const char *key, uint64_t lane,
                          uint64_t delay_ms)
{
    (void)host;
    (void)key;
    (void)lane;
    (void)delay_ms;
}

static int check_http(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_http_request *http, struct ccm_http_response **ret,
                      uint64_t *ret_phase, struct ccm_error *err)
{
    (void)host;
    (void)req;
    (void)http;
    (void)ret;
    *ret_phase = CCM_HTTP_NOT_SENT;
    return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "check() does no I/O");
}

static bool check_dry_run(const struct ccm_host *host)
{
    (void)host;
    return true;
}

static void check_metric(const struct ccm_host *host, const struct ccm_metric *metric,
                         const char *const *values, double value)
{
    (void)host;
    (void)metric;
    (void)values;
    (void)value;
}

/* Members that are not here are NULL: what runs without I/O has no use for them. */
static const struct ccm_host check_template = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_host),
    .log = check_log,
    .log_enabled = check_log_enabled,
    .now_ms = check_now_ms,
    .wall_ms = check_wall_ms,
    .random = check_random,
    .wait = check_wait,
    .cancelled = check_cancelled,
    .option_string = check_option_string,
    .option_int = check_option_int,
    .option_strings = check_option_strings,
    .get = check_get,
    .list = check_list,
    .release = check_release,
    .enqueue = check_enqueue,
    .http = check_http,
    .dry_run = check_dry_run,
    .metric = check_metric,
};

/* --- asking ---------------------------------------------------------------------------------- */

/* That of the option that a message begins with, such as "option cluster_cidr: ..." or
 * "alicloud.region: ...", else of the plugin. */
static unsigned check_find_line(const struct option_check *check, const char *message)
{
    static const char word[] = "option ";
    const char *start = ccm_text_starts(message, word) ? message + strlen(word) : message;
    const size_t len = strspn(start, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    CCM_CLEANUP(ccm_freep) char *label = ccm_text_format("%.*s", (int)len, start);
    const unsigned line =
        label == NULL ? 0 : config_line(check->config, check->plugin->name, label);

    return line == 0 ? check->plugin->line : line;
}

static void check_add_finding(const struct ccm_check_sink *sink, uint64_t level,
                              const char *message)
{
    struct option_check *check = sink->core;
    const bool is_error = level == CCM_LEVEL_ERROR;
    const char *text = message == NULL ? "" : message;
    CCM_CLEANUP(ccm_freep) char *known = ccm_text_format("\n%s\n", text);
    CCM_CLEANUP(ccm_freep)
    char *place = config_place(check->config, check_find_line(check, text));
    CCM_CLEANUP(ccm_freep)
    char *line = place == NULL ? NULL
                               : ccm_text_format("%s: plugin %s: %s%s", place, check->plugin->name,
                                                 is_error ? "" : "warning: ", text);

    check->errors += is_error ? 1 : 0;
    if (known != NULL && strstr(ccm_buf_str(check->told), known) != NULL) {
        return;
    }
    ccm_buf_adds(check->told, known == NULL ? "" : known);
    check->fn(check->arg, is_error, line == NULL ? "out of memory" : line);
}

static void check_ask_plugin(struct option_check *check, const struct ccm_plugin *desc)
{
    const struct ccm_check_sink sink = {
        .struct_size = sizeof(sink),
        .finding = check_add_finding,
        .host = &check->host,
        .core = check,
    };
    struct ccm_crash_call call = { .plugin = check->plugin->name, .stage = "check" };

    ccm_crash_begin(&call);
    if (check->runners != NULL) {
        daemon_runners_begin_check(check->runners, check->plugin->name);
    }

    const int r = desc->check(&sink);

    if (check->runners != NULL) {
        daemon_runners_end_check(check->runners, check->plugin->name);
    }
    ccm_crash_end(&call);
    if (r != 0) {
        check_add_finding(&sink, CCM_LEVEL_ERROR, "its options could not be checked");
    }
}

static const struct plugin_entry *registry_find(struct plugin_registry *registry, const char *name)
{
    for (size_t i = 0; i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        if (entry->loaded != NULL && ccm_text_equal(entry->name, name)) {
            return entry;
        }
    }
    return NULL;
}

/* A file that somebody has set and that cannot be read now. One that is required is missed by every
 * start; another may come later. What the plugin has said about it itself is not said again. */
static void check_look_at_file(struct option_check *check, const struct ccm_option *row)
{
    const char *path = check_option_string(&check->host, row->group, row->name);
    const struct ccm_check_sink sink = { .struct_size = sizeof(sink), .core = check };

    if (ccm_text_empty(path) || ccm_text_equal(path, row->fallback) || access(path, R_OK) == 0 ||
        strstr(ccm_buf_str(check->told), path) != NULL) {
        return;
    }
    const char *why = strerror(errno);
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("%s%s%s: %s: %s", row->group == NULL ? "option " : row->group,
                                 row->group == NULL ? "" : ".", row->name, path, why);

    check_add_finding(&sink,
                      (row->flags & CCM_OPTION_REQUIRED) != 0 ? CCM_LEVEL_ERROR : CCM_LEVEL_WARN,
                      text == NULL ? "out of memory" : text);
}

static void check_look_at_files(struct option_check *check, const struct ccm_plugin *desc)
{
    for (size_t i = 0; desc->options != NULL && desc->options[i] != NULL; i++) {
        if (desc->options[i]->type == CCM_OPTION_PATH) {
            check_look_at_file(check, desc->options[i]);
        }
    }
}

static size_t check_ask_all(const struct config_tree *config, struct plugin_registry *registry,
                            struct daemon_runners *runners, bool files,
                            void (*fn)(void *arg, bool is_error, const char *line), void *arg)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf told = { 0 };
    size_t errors = 0;

    for (size_t i = 0; i < config_plugin_count(config); i++) {
        const struct config_plugin *plugin = config_plugin_at(config, i);
        const struct plugin_entry *entry = registry_find(registry, plugin->name);
        struct option_check check = {
            .host = check_template,
            .config = config,
            .plugin = plugin,
            .runners = runners,
            .told = &told,
            .fn = fn,
            .arg = arg,
        };

        check.host.core = &check;
        if (!plugin->enabled || entry == NULL) {
            continue;
        }
        if (entry->loaded->desc->check != NULL) {
            check_ask_plugin(&check, entry->loaded->desc);
        }
        if (files) {
            check_look_at_files(&check, entry->loaded->desc);
        }
        errors += check.errors;
    }
    return errors;
}

size_t daemon_option_check(const struct config_tree *config, struct plugin_registry *registry,
                           struct daemon_runners *runners,
                           void (*fn)(void *arg, bool is_error, const char *line), void *arg)
{
    return check_ask_all(config, registry, runners, false, fn, arg);
}

size_t daemon_option_check_files(const struct config_tree *config, struct plugin_registry *registry,
                                 void (*fn)(void *arg, bool is_error, const char *line), void *arg)
{
    return check_ask_all(config, registry, NULL, true, fn, arg);
}
