#include "daemon/reload.h"

#include "daemon/option_check.h"
#include "daemon/reload_files.h"
#include "daemon/setup.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct ccm_log reload_log = { .part = "config" };

struct daemon_reload {
    struct plugin_registry *registry;
    struct daemon_host_services *services;
    struct daemon_runners *runners;
    const char *file; /* borrowed from the first snapshot */

    struct config_stamp read; /* of the file that was read last */
    struct config_stamp seen; /* of one that differs from it */
    struct config_stamp kube; /* of the kubeconfig */
    struct daemon_reload_files *files;

    struct config_tree *snapshots[DAEMON_RELOAD_SNAPSHOTS_MAX];
    size_t count;

    atomic_uint_fast64_t succeeded;
    atomic_uint_fast64_t failed;
    atomic_bool failing;
    atomic_size_t restart_needed;
};

/* Names of what differs, in two lists for people. */
struct differences {
    struct plugin_registry *registry;
    bool *concerned; /* by number in the registry: the plugin reads a live one */
    struct ccm_buf live;
    struct ccm_buf restart;
    size_t live_count;
    size_t restart_count;
};

static const char *kubeconfig_of(const struct daemon_reload *reload)
{
    return config_string(reload->services->config, NULL, "kubernetes", "kubeconfig");
}

struct daemon_reload *daemon_reload_new(struct plugin_registry *registry,
                                        struct daemon_host_services *services,
                                        struct daemon_runners *runners)
{
    struct daemon_reload *reload = calloc(1, sizeof(*reload));

    if (reload == NULL) {
        return NULL;
    }
    reload->registry = registry;
    reload->services = services;
    reload->runners = runners;
    reload->file = config_file(services->config);
    reload->read = *config_stamp(services->config);
    reload->seen = reload->read;
    reload->kube = config_stamp_of(kubeconfig_of(reload));
    reload->files = daemon_reload_files_new(registry, services->config);
    if (reload->files == NULL) {
        free(reload);
        return NULL;
    }
    return reload;
}

void daemon_reload_free(struct daemon_reload *reload)
{
    if (reload == NULL) {
        return;
    }
    for (size_t i = 0; i < reload->count; i++) {
        config_free(reload->snapshots[i]);
    }
    daemon_reload_files_free(reload->files);
    free(reload);
}

/* Whether the plugin reads the option of this label, such as "clb.audit_interval_s" or
 * "alicloud.quotas.vpc". Deadlines of calls are the business of all. */
static bool entry_reads_option(const struct plugin_entry *entry, const char *label)
{
    const struct ccm_option *const *rows =
        entry->loaded == NULL ? NULL : entry->loaded->desc->options;

    if (ccm_text_starts(label, "controller.")) {
        return true;
    }
    for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
        const char *scope = rows[i]->group == NULL ? entry->name : rows[i]->group;
        const size_t len = strlen(scope);

        if (ccm_text_starts(label, scope) && label[len] == '.' &&
            strcmp(label + len + 1, rows[i]->name) == 0) {
            return true;
        }
    }
    return false;
}

static void differences_add_option(void *arg, const char *label, bool live)
{
    struct differences *found = arg;
    struct ccm_buf *list = live ? &found->live : &found->restart;

    ccm_buf_addf(list, "%s%s", list->len == 0 ? "" : ", ", label);
    *(live ? &found->live_count : &found->restart_count) += 1;
    for (size_t i = 0; live && i < plugin_registry_len(found->registry); i++) {
        found->concerned[i] = found->concerned[i] ||
                              entry_reads_option(plugin_registry_at(found->registry, i), label);
    }
}

/* --- judging the file --- */

static bool is_listed(const struct config_tree *config, const char *plugin)
{
    for (size_t i = 0; i < config_plugin_count(config); i++) {
        if (ccm_text_equal(config_plugin_at(config, i)->name, plugin)) {
            return true;
        }
    }
    return false;
}

static void reload_log_finding(void *arg, bool is_error, const char *line)
{
    (void)arg; /* the log is one */
    CCM_LOG_AT(&reload_log, is_error ? CCM_LOG_ERROR : CCM_LOG_WARN, "%s", line);
}

/* 0, -ENOMEM, or -EINVAL: its problems say why, or the log does. */
static int reload_check_config(const struct daemon_reload *reload, struct config_tree *config)
{
    struct ccm_error err = CCM_ERROR_INIT;

    for (size_t i = 0; i < plugin_registry_len(reload->registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(reload->registry, i);

        if (entry->loaded == NULL || !is_listed(config, entry->name)) {
            continue;
        }
        if (config_bind_plugin(config, entry->name, entry->loaded->desc->options, &err) ==
            -ENOMEM) {
            return -ENOMEM;
        }
    }
    const int r = config_finish(config, &err);

    if (r < 0 || config_problems(config)[0] != '\0') {
        return r;
    }
    return daemon_option_check(config, reload->registry, reload->runners, reload_log_finding,
                               NULL) > 0
               ? -EINVAL
               : 0;
}

static void reload_log_problems(const struct config_tree *config)
{
    const char *at = config_problems(config);

    while (*at != '\0') {
        const size_t len = strcspn(at, "\n");

        ccm_log_error(&reload_log, "%.*s", (int)len, at);
        at += len + (at[len] == '\n' ? 1 : 0);
    }
}

static void reload_record_failure(struct daemon_reload *reload, const char *why)
{
    ccm_log_error(&reload_log, "%s: %s: the configuration from before stays", reload->file, why);
    atomic_fetch_add(&reload->failed, 1);
    atomic_store(&reload->failing, true);
}

/* --- taking it over --- */

static void reload_log_differences(const struct daemon_reload *reload,
                                   const struct differences *found)
{
    if (found->live_count > 0) {
        ccm_log_info(&reload_log, "%s: taken over: %s", reload->file, ccm_buf_str(&found->live));
    }
    if (found->restart_count > 0) {
        ccm_log_warn(&reload_log, "%s: changed, but needs a restart: %s", reload->file,
                     ccm_buf_str(&found->restart));
    }
    if (found->live_count + found->restart_count == 0) {
        ccm_log_info(&reload_log, "%s: read again, nothing has changed", reload->file);
    }
}

static void reload_publish_config(struct daemon_reload *reload, struct config_tree **config)
{
    const struct config_tree *fresh = *config;

    reload->snapshots[reload->count++] = CCM_STEAL(*config);
    atomic_store(&reload->services->config, fresh);
    daemon_setup_log(fresh);
    daemon_runners_reconfigure(reload->runners);
}

/* What failed for an option that is another now may succeed. */
static void reload_retry_plugins(const struct daemon_reload *reload,
                                 const struct differences *found)
{
    for (size_t i = 0; i < plugin_registry_len(reload->registry); i++) {
        if (found->concerned[i]) {
            daemon_runners_retry_now(reload->runners, plugin_registry_at(reload->registry, i)->name,
                                     "its options have changed");
        }
    }
}

static void reload_follow_config(struct daemon_reload *reload, struct config_tree **config)
{
    CCM_CLEANUP(ccm_freep)
    bool *concerned = calloc(plugin_registry_len(reload->registry) + 1, sizeof(*concerned));
    struct differences found = {
        .registry = reload->registry,
        .concerned = concerned,
        .live.max = 4096,
        .restart.max = 4096,
    };
    const int r = concerned == NULL ? -ENOMEM
                                    : config_follow(*config, reload->services->config,
                                                    differences_add_option, &found);

    if (r < 0) {
        reload_record_failure(reload, "out of memory");
    } else if (found.live_count > 0 && reload->count == DAEMON_RELOAD_SNAPSHOTS_MAX) {
        reload_record_failure(reload, "read too often since the start, this needs a restart");
    } else {
        const bool quiet = !ccm_log_enabled(CCM_LOG_INFO); /* told with the louder of both levels */

        if (!quiet) {
            reload_log_differences(reload, &found);
        }
        if (found.live_count > 0) {
            reload_publish_config(reload, config);
        }
        if (quiet) {
            reload_log_differences(reload, &found);
        }
        reload_retry_plugins(reload, &found);
        atomic_store(&reload->restart_needed, found.restart_count);
        atomic_store(&reload->failing, false);
        atomic_fetch_add(&reload->succeeded, 1);
    }
    ccm_buf_fini(&found.live);
    ccm_buf_fini(&found.restart);
}

static void reload_log_owner(void *arg, const char *line)
{
    (void)arg;
    ccm_log_warn(&reload_log, "%s", line);
}

void daemon_reload_now(struct daemon_reload *reload)
{
    CCM_CLEANUP(config_freep) struct config_tree *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    daemon_reload_files_check(reload->files, reload->runners, true);

    const int loaded = config_load(reload->file, &config, &err);
    const int judged = config == NULL ? -ENOMEM : reload_check_config(reload, config);

    if (config == NULL || judged == -ENOMEM) {
        reload_record_failure(reload, "out of memory");
        return;
    }
    reload->read = *config_stamp(config);
    reload->seen = reload->read;
    if (loaded < 0 || judged < 0) {
        reload_log_problems(config);
        reload_record_failure(reload, "not taken over");
        return;
    }
    if (config_retired(config)[0] != '\0') {
        ccm_log_warn(&reload_log, "%s", config_retired(config));
    }
    config_check_owner(config, reload_log_owner, NULL);
    reload_follow_config(reload, &config);
}

/* Files that it names are read again where they are used; its own text is not. */
static void reload_check_kubeconfig(struct daemon_reload *reload)
{
    const char *path = kubeconfig_of(reload);
    const struct config_stamp now = config_stamp_of(path);

    if (!config_stamp_equal(&now, &reload->kube)) {
        reload->kube = now;
        ccm_log_warn(&reload_log, "%s: the kubeconfig has changed, this needs a restart", path);
    }
}

void daemon_reload_check(struct daemon_reload *reload)
{
    const struct config_stamp now = config_stamp_of(reload->file);

    reload_check_kubeconfig(reload);
    daemon_reload_files_check(reload->files, reload->runners, false);
    if (config_stamp_equal(&now, &reload->read)) {
        return;
    }
    if (config_stamp_equal(&now, &reload->seen)) {
        daemon_reload_now(reload);
    } else {
        reload->seen = now;
    }
}

void daemon_reload_status(const struct daemon_reload *reload, struct daemon_reload_status *ret)
{
    *ret = (struct daemon_reload_status){
        .succeeded = atomic_load(&reload->succeeded),
        .failed = atomic_load(&reload->failed),
        .failing = atomic_load(&reload->failing),
        .restart_needed = atomic_load(&reload->restart_needed),
    };
}
