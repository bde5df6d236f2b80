#include "tools/lint_ask.h"

#include "util/cleanup.h"
#include "util/crash.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

struct ask {
    const struct daemon_plugin_options *plugin;
    tool_lint_ask_fn fn;
    void *arg;
    int error;
};

/* Else a place is the path of a field, or NULL. */
static bool ask_is_annotation(const char *place)
{
    return place != NULL && !ccm_text_starts(place, "spec.") &&
           !ccm_text_starts(place, "metadata.") && !ccm_text_starts(place, "status.");
}

/* What people call an annotation: its key without the domain. */
static const char *ask_short_name(const char *key)
{
    const char *slash = strrchr(key, '/');

    return slash == NULL ? key : slash + 1;
}

static void ask_finding(const struct ccm_lint_sink *sink, uint64_t level, const char *place,
                        const char *message)
{
    struct ask *ask = sink->core;
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    if (!ask_is_annotation(place) || strstr(message, ask_short_name(place)) != NULL ||
        strstr(message, "annotation") != NULL) {
        ask->fn(ask->arg, level, place, message);
        return;
    }
    text = ccm_text_format("annotation %s: %s", place, message);
    if (text == NULL) {
        ask->error = -ENOMEM;
        return;
    }
    ask->fn(ask->arg, level, place, text);
}

static const char *ask_option_string(const struct ccm_lint_sink *sink, const char *group,
                                     const char *name)
{
    return daemon_plugin_option_string(((const struct ask *)sink->core)->plugin, group, name);
}

static int64_t ask_option_int(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    return daemon_plugin_option_int(((const struct ask *)sink->core)->plugin, group, name);
}

static int ask_call(struct ask *ask, const char *stage, const struct ccm_service *service,
                    int (*fn)(const struct ccm_service *, const struct ccm_lint_sink *))
{
    const struct ccm_lint_sink sink = {
        .struct_size = sizeof(sink),
        .finding = ask_finding,
        .option_string = ask_option_string,
        .option_int = ask_option_int,
        .core = ask,
    };
    const char *const keys[] = { service->meta.key };
    struct ccm_crash_call call = {
        .plugin = ask->plugin->name,
        .stage = stage,
        .keys = keys,
        .key_count = 1,
    };

    ccm_crash_begin(&call);

    const int r = fn(service, &sink);

    ccm_crash_end(&call);
    return r;
}

int tool_lint_ask(const struct daemon_plugin_options *plugin, const struct ccm_service *service,
                  tool_lint_ask_fn fn, void *arg)
{
    struct ask ask = { plugin, fn, arg, 0 };
    const int r = ask_call(&ask, "lint", service, plugin->desc->lint);

    return ask.error != 0 ? ask.error : r;
}

static void ask_ignore(void *arg, uint64_t level, const char *place, const char *text)
{
    (void)arg;
    (void)level;
    (void)place;
    (void)text;
}

bool tool_lint_takes(const struct daemon_plugin_options *plugin, const struct ccm_service *service)
{
    struct ask ask = { plugin, ask_ignore, NULL, 0 };

    return plugin->desc->takes != NULL &&
           ask_call(&ask, "takes", service, plugin->desc->takes) != 0;
}
