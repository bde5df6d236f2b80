#include "daemon/setup.h"

#include "daemon/plugin_dir.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct ccm_log setup_log = { .part = "config" };

/* The file that an entry names: absolute, or in the plugin directory. NULL on ENOMEM. */
static char *plugin_path(const struct config_tree *config, const struct config_plugin *plugin)
{
    if (plugin->file[0] == '/') {
        return ccm_text_format("%s", plugin->file);
    }

    CCM_CLEANUP(ccm_freep)
    char *folder = daemon_plugin_dir(config_string(config, NULL, "", "plugin_dir"));

    return folder == NULL ? NULL : ccm_text_format("%s/%s", folder, plugin->file);
}

static void setup_print_refusal(const struct daemon_setup *setup,
                                const struct config_plugin *plugin,
                                const struct plugin_entry *entry)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)plugin_registry_status(setup->registry, entry, &err); /* known to have failed */

    CCM_CLEANUP(ccm_freep) char *place = config_place(setup->config, plugin->line);
    CCM_CLEANUP(ccm_freep)
    char *line = place == NULL
                     ? NULL
                     : ccm_text_format("%s: plugin %s: %s", place, plugin->name, err.message);

    setup->tell(setup->tell_arg, true, line == NULL ? "out of memory" : line);
}

/* All of them; without any, the one in err. */
static void setup_print_problems(const struct daemon_setup *setup, const struct ccm_error *err)
{
    const char *text = config_problems(setup->config);

    if (setup->tell == NULL || text[0] == '\0') {
        (void)fprintf(stderr, "%s%s", text[0] == '\0' ? err->message : text, /* sticks */
                      text[0] == '\0' ? "\n" : "");
        return;
    }
    for (size_t len; *text != '\0'; text += len + 1) { /* each line is ended */
        len = strcspn(text, "\n");

        CCM_CLEANUP(ccm_freep) char *line = ccm_text_format("%.*s", (int)len, text);

        setup->tell(setup->tell_arg, true, line == NULL ? "out of memory" : line);
    }
}

/* Load one plugin and make its options known. */
static int load_plugin(struct daemon_setup *setup, const struct config_plugin *plugin)
{
    CCM_CLEANUP(ccm_freep) char *path = plugin_path(setup->config, plugin);
    struct plugin_entry *entry = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    if (path == NULL) {
        return -ENOMEM;
    }
    if (plugin_registry_load(setup->registry, plugin->name, path, NULL, plugin->critical, &entry) <
        0) {
        setup->refused++;
        if (entry != NULL && setup->tell != NULL) {
            setup_print_refusal(setup, plugin, entry);
        }
        return entry == NULL ? -ENOMEM : 0;
    }

    const int r =
        config_bind_plugin(setup->config, plugin->name, entry->loaded->desc->options, &err);

    return r == -EINVAL ? 0 : r; /* problems are collected and reported together at the end */
}

void daemon_setup_log(const struct config_tree *config)
{
    enum ccm_log_level level = CCM_LOG_INFO;

    if (ccm_log_parse_level(config_string(config, NULL, "log", "level"), &level) < 0) {
        level = CCM_LOG_INFO; /* a bad level is among the problems of the file */
    }
    ccm_log_setup(level, ccm_text_equal(config_string(config, NULL, "log", "format"), "json"));
}

static void setup_print_warning(void *arg, const char *line)
{
    const struct daemon_setup *setup = arg;

    if (setup->tell != NULL) {
        setup->tell(setup->tell_arg, false, line);
    } else {
        ccm_log_warn(&setup_log, "%s", line);
    }
}

static int load_all(struct daemon_setup *setup)
{
    struct ccm_error err = CCM_ERROR_INIT;

    daemon_setup_log(setup->config);
    config_check_owner(setup->config, setup_print_warning, setup);
    for (size_t i = 0; i < config_plugin_count(setup->config); i++) {
        const struct config_plugin *plugin = config_plugin_at(setup->config, i);
        const int r = plugin->enabled ? load_plugin(setup, plugin) : 0;

        if (r < 0) {
            return r;
        }
    }
    return config_finish(setup->config, &err);
}

static int setup_load_config(const char *config_path, struct daemon_setup *setup)
{
    struct ccm_error err = CCM_ERROR_INIT;

    setup->registry = plugin_registry_new();
    if (setup->registry == NULL) {
        return -ENOMEM;
    }

    if (setup->tell != NULL) {
        plugin_registry_leave_refusals(setup->registry);
    }

    const int loaded = config_load(config_path, &setup->config, &err);

    if (setup->config == NULL) {
        return loaded; /* out of memory: everything else is a problem of the configuration */
    }

    const int r = load_all(setup);

    if (r == -EINVAL || loaded < 0) {
        setup_print_problems(setup, &err);
        return -EINVAL;
    }
    return r;
}

int daemon_setup_load(const char *config_path, struct daemon_setup *setup)
{
    const int r = setup_load_config(config_path, setup);

    if (r == -ENOMEM) {
        fprintf(stderr, "%s: out of memory\n", config_path);
    }
    return r;
}

void daemon_setup_fini(struct daemon_setup *setup)
{
    plugin_registry_free(setup->registry);
    config_free(setup->config);
    *setup = (struct daemon_setup){ 0 };
}
