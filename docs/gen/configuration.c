#include "config/doc.h"
#include "config/options.h"
#include "pages.h"
#include "util/text.h"

#define MAX_ROWS 512

/* A part of a table, closed with NULL. */
struct rows {
    const struct ccm_option *items[MAX_ROWS + 1];
    size_t len;
};

static bool is_listed(const struct rows *rows, const struct ccm_option *option)
{
    for (size_t i = 0; i < rows->len; i++) {
        if (ccm_text_equal(rows->items[i]->name, option->name) &&
            ccm_text_equal(rows->items[i]->group, option->group)) {
            return true;
        }
    }
    return false;
}

/* A plugin may read options of the daemon. */
static bool is_core(const struct ccm_option *option)
{
    for (size_t i = 0; option->group != NULL && config_core_options[i] != NULL; i++) {
        if (ccm_text_equal(config_core_options[i]->name, option->name) &&
            ccm_text_equal(config_core_options[i]->group, option->group)) {
            return true;
        }
    }
    return false;
}

/* The options of a plugin that stand in a shared group, or those that do not. */
static void rows_add_plugin(struct rows *rows, const struct ccm_plugin *plugin, bool shared)
{
    for (size_t i = 0; plugin->options != NULL && plugin->options[i] != NULL; i++) {
        const struct ccm_option *option = plugin->options[i];

        if ((option->group != NULL) == shared && rows->len < MAX_ROWS && !is_core(option) &&
            !is_listed(rows, option)) {
            rows->items[rows->len++] = option;
        }
    }
    rows->items[rows->len] = NULL;
}

void docs_configuration(struct ccm_buf *page, struct plugin_loaded_plugin *const *plugins,
                        size_t plugin_count)
{
    struct rows shared = { .len = 0 };

    ccm_buf_adds(page,
                 "\n## The daemon\n\nTop level and groups: `log.level` is `log: { level = ...; "
                 "};`.\n\n");
    config_option_doc(page, NULL, config_core_options);
    ccm_buf_adds(page,
                 "\n## Every plugin\n\nIn its entry of the list `plugins = ( { ... }, { ... } "
                 ");`.\n\n");
    config_option_doc(page, NULL, config_entry_options);
    for (size_t i = 0; i < plugin_count; i++) {
        const struct ccm_plugin *plugin = plugins[i]->desc;
        struct rows own = { .len = 0 };

        rows_add_plugin(&own, plugin, false);
        rows_add_plugin(&shared, plugin, true);
        ccm_buf_addf(page, "\n## Plugin `%s`\n\n%s. In its own entry.\n\n", plugin->name,
                     plugin->summary);
        config_option_doc(page, NULL, own.items);
    }
    if (shared.len > 0) {
        ccm_buf_adds(page, "\n## Groups that plugins share\n\nAt the top level, once for all "
                           "plugins; names with several dots nest further.\n\n");
        config_option_doc(page, NULL, shared.items);
    }
}
