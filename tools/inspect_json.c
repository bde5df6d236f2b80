/* What `ccmd plugins -o json` prints of one plugin. */
#include "plugin/option.h"
#include "tools/inspect.h"
#include "util/jsonw.h"
#include "util/text.h"

static void json_add_text(struct ccm_jsonw *w, const char *key, const char *text)
{
    if (!ccm_text_empty(text)) {
        ccm_jsonw_str(w, key, text);
    }
}

static void json_add_watches(struct ccm_jsonw *w, const struct ccm_watch *const *watches)
{
    ccm_jsonw_open(w, "watches", '[');
    for (size_t i = 0; watches[i] != NULL; i++) {
        const struct ccm_watch *watch = watches[i];

        ccm_jsonw_open(w, NULL, '{');
        if (watch->kind == CCM_KIND_RAW) {
            ccm_jsonw_str(w, "apiVersion", watch->api_version);
            ccm_jsonw_str(w, "resource", watch->resource);
            json_add_text(w, "namespace", watch->namespace_);
            json_add_text(w, "labelSelector", watch->label_selector);
            json_add_text(w, "fieldSelector", watch->field_selector);
            ccm_jsonw_bool(w, "optional", (watch->flags & CCM_WATCH_OPTIONAL) != 0);
        } else {
            ccm_jsonw_str(w, "kind", plugin_descriptor_kind_name(watch->kind));
        }
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void json_add_rights(struct ccm_jsonw *w, const struct ccm_right *const *rights)
{
    ccm_jsonw_open(w, "rights", '[');
    for (size_t i = 0; rights != NULL && rights[i] != NULL; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "apiVersion", rights[i]->api_version);
        ccm_jsonw_str(w, "resource", rights[i]->resource);
        ccm_jsonw_str(w, "verbs", rights[i]->verbs);
        json_add_text(w, "namespace", rights[i]->namespace_);
        json_add_text(w, "name", rights[i]->name);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

static void json_add_options(struct ccm_jsonw *w, const struct ccm_option *const *options)
{
    ccm_jsonw_open(w, "options", '[');
    for (size_t i = 0; options[i] != NULL; i++) {
        const struct ccm_option *option = options[i];

        if ((option->flags & CCM_OPTION_RETIRED) != 0) {
            continue;
        }
        ccm_jsonw_open(w, NULL, '{');
        json_add_text(w, "group", option->group);
        ccm_jsonw_str(w, "name", option->name);
        ccm_jsonw_str(w, "type", plugin_option_type_name(option->type));
        if (option->type == CCM_OPTION_INT) {
            ccm_jsonw_i64(w, "min", option->min);
            ccm_jsonw_i64(w, "max", option->max);
        }
        json_add_text(w, "values", option->values);
        json_add_text(w, "pattern", option->pattern);
        json_add_text(w, "unless", option->unless);
        json_add_text(w, "default", option->fallback);
        ccm_jsonw_bool(w, "required", (option->flags & CCM_OPTION_REQUIRED) != 0);
        ccm_jsonw_bool(w, "live", (option->flags & CCM_OPTION_LIVE) != 0);
        ccm_jsonw_str(w, "help", option->help);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
}

void tool_inspect_print_json(struct ccm_jsonw *w, const struct plugin_loaded_plugin *plugin,
                             const char *instance)
{
    const struct ccm_plugin *desc = plugin->desc;

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "name", desc->name);
    json_add_text(w, "instance", instance);
    ccm_jsonw_str(w, "version", desc->version);
    ccm_jsonw_str(w, "summary", desc->summary);
    ccm_jsonw_str(w, "file", plugin->path);
    ccm_jsonw_i64(w, "abi", desc->abi_major);
    json_add_watches(w, desc->watches);
    json_add_rights(w, desc->rights);
    json_add_options(w, desc->options);
    ccm_jsonw_close(w, '}');
}
