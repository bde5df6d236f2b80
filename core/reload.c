#include "reload.h"

#include "reload_files.h"
#include "setup.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct ccm_log reload_log = { .part = "config" };

struct ccm_reload {
    struct ccm_registry *registry;
    struct ccm_host_services *services;
    struct ccm_runners *runners;
    const char *file; /* borrowed from the first snapshot */

    struct ccm_config_stamp read; /* of the file that was read last */
    struct ccm_config_stamp seen; /* of one that differs from it */
    struct ccm_config_stamp kube; /* of the kubeconfig */
    struct ccm_reload_files *files;

    struct ccm_config *snapshots[CCM_RELOAD_SNAPSHOTS_MAX];
    size_t count;

    atomic_uint_fast64_t succeeded;
    atomic_uint_fast64_t failed;
    atomic_bool failing;
    atomic_size_t restart_needed;
};

/* Names of what differs, in two lists for people. */
struct differences {
    struct ccm_registry *registry;
    bool *concerned; /* by number in the registry: the plugin reads a live one */
    struct ccm_buf live;
    struct ccm_buf restart;
    size_t live_count;
    size_t restart_count;
};

static const char *kubeconfig_of(const struct ccm_reload *reload)
{
    return ccm_config_string(reload->services->config, NULL, "kubernetes", "kubeconfig");
}

struct ccm_reload *ccm_reload_new(struct ccm_registry *registry, struct ccm_host_services *services,
                                  struct ccm_runners *runners)
{
    struct ccm_reload *reload = calloc(1, sizeof(*reload));

    if (reload == NULL) {
        return NULL;
    }
    reload->registry = registry;
    reload->services = services;
    reload->runners = runners;
    reload->file = ccm_config_file(services->config);
    reload->read = *ccm_config_stamp(services->config);
    reload->seen = reload->read;
    reload->kube = ccm_config_stamp_of(kubeconfig_of(reload));
    reload->files = ccm_reload_files_new(registry, services->config);
    if (reload->files == NULL) {
        free(reload);
        return NULL;
    }
    return reload;
}

void ccm_reload_free(struct ccm_reload *reload)
{
    if (reload == NULL) {
        return;
    }
    for (size_t i = 0; i < reload->count; i++) {
        ccm_config_free(reload->snapshots[i]);
    }
    ccm_reload_files_free(reload->files);
    free(reload);
}

/* Whether the plugin reads the option of this label, such as "clb.audit_interval_s" or
 * "alicloud.quotas.vpc". Deadlines of calls are the business of all. */
static bool concerns(const struct ccm_plugin_entry *entry, const char *label)
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

static void note(void *arg, const char *label, bool live)
{
    struct differences *found = arg;
    struct ccm_buf *list = live ? &found->live : &found->restart;

    ccm_buf_addf(list, "%s%s", list->len == 0 ? "" : ", ", label);
    *(live ? &found->live_count : &found->restart_count) += 1;
    for (size_t i = 0; live && i < ccm_registry_len(found->registry); i++) {
        found->concerned[i] =
            found->concerned[i] || concerns(ccm_registry_at(found->registry, i), label);
    }
}

/* --- judging the file --- */

static bool is_listed(const struct ccm_config *config, const char *plugin)
{
    for (size_t i = 0; i < ccm_config_plugin_count(config); i++) {
        if (ccm_text_equal(ccm_config_plugin_at(config, i)->name, plugin)) {
            return true;
        }
    }
    return false;
}

/* 0, -ENOMEM, or -EINVAL: its problems say why. */
static int judge(const struct ccm_reload *reload, struct ccm_config *config)
{
    struct ccm_error err = CCM_ERROR_INIT;

    for (size_t i = 0; i < ccm_registry_len(reload->registry); i++) {
        const struct ccm_plugin_entry *entry = ccm_registry_at(reload->registry, i);

        if (entry->loaded == NULL || !is_listed(config, entry->name)) {
            continue;
        }
        if (ccm_config_bind_plugin(config, entry->name, entry->loaded->desc->options, &err) ==
            -ENOMEM) {
            return -ENOMEM;
        }
    }
    return ccm_config_finish(config, &err);
}

static void tell_problems(const struct ccm_config *config)
{
    const char *at = ccm_config_problems(config);

    while (*at != '\0') {
        const size_t len = strcspn(at, "\n");

        ccm_log_error(&reload_log, "%.*s", (int)len, at);
        at += len + (at[len] == '\n' ? 1 : 0);
    }
}

static void fail(struct ccm_reload *reload, const char *why)
{
    ccm_log_error(&reload_log, "%s: %s: the configuration from before stays", reload->file, why);
    atomic_fetch_add(&reload->failed, 1);
    atomic_store(&reload->failing, true);
}

/* --- taking it over --- */

static void tell_success(const struct ccm_reload *reload, const struct differences *found)
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

static void take_over(struct ccm_reload *reload, struct ccm_config **config)
{
    const struct ccm_config *fresh = *config;

    reload->snapshots[reload->count++] = CCM_STEAL(*config);
    atomic_store(&reload->services->config, fresh);
    ccm_setup_log(fresh);
    ccm_runners_reconfigure(reload->runners);
}

/* What failed for an option that is another now may succeed. */
static void hurry(const struct ccm_reload *reload, const struct differences *found)
{
    for (size_t i = 0; i < ccm_registry_len(reload->registry); i++) {
        if (found->concerned[i]) {
            ccm_runners_hurry(reload->runners, ccm_registry_at(reload->registry, i)->name,
                              "its options have changed");
        }
    }
}

static void follow(struct ccm_reload *reload, struct ccm_config **config)
{
    CCM_CLEANUP(ccm_freep)
    bool *concerned = calloc(ccm_registry_len(reload->registry) + 1, sizeof(*concerned));
    struct differences found = {
        .registry = reload->registry,
        .concerned = concerned,
        .live.max = 4096,
        .restart.max = 4096,
    };
    const int r = concerned == NULL
                      ? -ENOMEM
                      : ccm_config_follow(*config, reload->services->config, note, &found);

    if (r < 0) {
        fail(reload, "out of memory");
    } else if (found.live_count > 0 && reload->count == CCM_RELOAD_SNAPSHOTS_MAX) {
        fail(reload, "read too often since the start, this needs a restart");
    } else {
        const bool quiet = !ccm_log_enabled(CCM_LOG_INFO); /* told with the louder of both levels */

        if (!quiet) {
            tell_success(reload, &found);
        }
        if (found.live_count > 0) {
            take_over(reload, config);
        }
        if (quiet) {
            tell_success(reload, &found);
        }
        hurry(reload, &found);
        atomic_store(&reload->restart_needed, found.restart_count);
        atomic_store(&reload->failing, false);
        atomic_fetch_add(&reload->succeeded, 1);
    }
    ccm_buf_fini(&found.live);
    ccm_buf_fini(&found.restart);
}

void ccm_reload_now(struct ccm_reload *reload)
{
    CCM_CLEANUP(ccm_config_freep) struct ccm_config *config = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    ccm_reload_files_look(reload->files, reload->runners, true);

    const int loaded = ccm_config_load(reload->file, &config, &err);
    const int judged = config == NULL ? -ENOMEM : judge(reload, config);

    if (config == NULL || judged == -ENOMEM) {
        fail(reload, "out of memory");
        return;
    }
    reload->read = *ccm_config_stamp(config);
    reload->seen = reload->read;
    if (loaded < 0 || judged < 0) {
        tell_problems(config);
        fail(reload, "not taken over");
        return;
    }
    follow(reload, &config);
}

/* Files that it names are read again where they are used; its own text is not. */
static void look_at_kubeconfig(struct ccm_reload *reload)
{
    const char *path = kubeconfig_of(reload);
    const struct ccm_config_stamp now = ccm_config_stamp_of(path);

    if (!ccm_config_stamp_equal(&now, &reload->kube)) {
        reload->kube = now;
        ccm_log_warn(&reload_log, "%s: the kubeconfig has changed, this needs a restart", path);
    }
}

void ccm_reload_look(struct ccm_reload *reload)
{
    const struct ccm_config_stamp now = ccm_config_stamp_of(reload->file);

    look_at_kubeconfig(reload);
    ccm_reload_files_look(reload->files, reload->runners, false);
    if (ccm_config_stamp_equal(&now, &reload->read)) {
        return;
    }
    if (ccm_config_stamp_equal(&now, &reload->seen)) {
        ccm_reload_now(reload);
    } else {
        reload->seen = now;
    }
}

void ccm_reload_status(const struct ccm_reload *reload, struct ccm_reload_status *ret)
{
    *ret = (struct ccm_reload_status){
        .succeeded = atomic_load(&reload->succeeded),
        .failed = atomic_load(&reload->failed),
        .failing = atomic_load(&reload->failing),
        .restart_needed = atomic_load(&reload->restart_needed),
    };
}
