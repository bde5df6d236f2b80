#include "daemon/plugin_options.h"

#include "util/parse.h"
#include "util/text.h"

static const struct ccm_option *options_find(const struct ccm_plugin *plugin, const char *group,
                                             const char *name)
{
    for (size_t i = 0; plugin->options != NULL && plugin->options[i] != NULL; i++) {
        const struct ccm_option *option = plugin->options[i];

        if (ccm_text_equal(option->name, name) && ccm_text_equal(option->group, group)) {
            return option;
        }
    }
    return NULL;
}

bool daemon_plugin_option_is_listed(const struct ccm_plugin *desc, const char *group,
                                    const char *name)
{
    return options_find(desc, group, name) != NULL;
}

/* NULL when the plugin does not list it, or there is none. */
static const char *options_find_fallback(const struct ccm_plugin *plugin, const char *group,
                                         const char *name)
{
    const struct ccm_option *option = options_find(plugin, group, name);

    return option == NULL ? NULL : option->fallback;
}

const char *daemon_plugin_option_string(const struct daemon_plugin_options *options,
                                        const char *group, const char *name)
{
    if (options->config != NULL) {
        return config_string(options->config, options->name, group, name);
    }

    const char *fallback = options_find_fallback(options->desc, group, name);

    return fallback == NULL ? "" : fallback;
}

int64_t daemon_plugin_option_int(const struct daemon_plugin_options *options, const char *group,
                                 const char *name)
{
    if (options->config != NULL) {
        return config_int(options->config, options->name, group, name);
    }

    const char *fallback = options_find_fallback(options->desc, group, name);
    int64_t number = 0;
    bool flag = false;

    if (fallback != NULL && ccm_parse_bool(fallback, &flag) == 0) {
        return flag ? 1 : 0;
    }
    return fallback == NULL || ccm_parse_i64(fallback, INT64_MIN, INT64_MAX, &number) < 0 ? 0
                                                                                          : number;
}
