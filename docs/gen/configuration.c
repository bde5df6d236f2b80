#include "config/doc.h"
#include "config/options.h"
#include "pages.h"
#include "util/cleanup.h"
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

void docs_visit_options(struct plugin_loaded_plugin *const *plugins, size_t plugin_count,
                        docs_options_fn visit, struct ccm_buf *page)
{
    struct rows shared = { .len = 0 };

    visit(page, "The daemon", "Top level and groups: `log.level` is `log: { level = ...; };`.",
          config_core_options);
    visit(page, "Every plugin", "In its entry of the list `plugins = ( { ... }, { ... } );`.",
          config_entry_options);
    for (size_t i = 0; i < plugin_count; i++) {
        const struct ccm_plugin *plugin = plugins[i]->desc;
        CCM_CLEANUP(ccm_freep) char *title = ccm_text_format("Plugin `%s`", plugin->name);
        CCM_CLEANUP(ccm_freep)
        char *intro = ccm_text_format("%s. In its own entry.", plugin->summary);
        struct rows own = { .len = 0 };

        rows_add_plugin(&own, plugin, false);
        rows_add_plugin(&shared, plugin, true);
        visit(page, title, intro, own.items);
    }
    if (shared.len > 0) {
        visit(page, "Groups that plugins share",
              "At the top level, once for all plugins; names with several dots nest further.",
              shared.items);
    }
}

static void page_add_options(struct ccm_buf *page, const char *title, const char *intro,
                             const struct ccm_option *const *rows)
{
    ccm_buf_addf(page, "\n## %s\n\n%s\n\n", title, intro);
    config_option_doc(page, NULL, rows);
}

static void page_add_retired(struct ccm_buf *page, const char *title, const char *intro,
                             const struct ccm_option *const *rows)
{
    (void)intro; /* it is above */
    for (size_t i = 0; rows[i] != NULL; i++) {
        if ((rows[i]->flags & CCM_OPTION_RETIRED) != 0) {
            ccm_buf_addf(page, "- %s: `%s%s%s`: %s.\n", title,
                         ccm_text_empty(rows[i]->group) ? "" : rows[i]->group,
                         ccm_text_empty(rows[i]->group) ? "" : ".", rows[i]->name, rows[i]->help);
        }
    }
}

void docs_configuration(struct ccm_buf *page, struct plugin_loaded_plugin *const *plugins,
                        size_t plugin_count)
{
    docs_visit_options(plugins, plugin_count, page_add_options, page);
    ccm_buf_adds(page,
                 "\n## Retired options\n\nA configuration may still have these, with any "
                 "value. ccmd ignores them, and names them in one Warning: at the start, when it "
                 "reads the file again, and in `ccmd check-config`. The next version refuses "
                 "them.\n\n");
    docs_visit_options(plugins, plugin_count, page_add_retired, page);
}
