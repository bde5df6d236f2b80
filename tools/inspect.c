#include "tools/inspect.h"

#include "plugin/option.h"
#include "util/text.h"

#include <inttypes.h>

/* Texts of the plugin may hold anything; a terminal gets printable bytes only. */
static void print_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        (void)fputc(c < 0x20 || c == 0x7f ? ' ' : c, out); /* sticks in the stream */
    }
}

static void print_field(FILE *out, const char *label, const char *text)
{
    (void)fprintf(out, "  %-9s ", label); /* sticks in the stream, here and below */
    print_text(out, text);
    (void)fputc('\n', out);
}

static void print_selection(FILE *out, const struct ccm_watch *watch)
{
    if (!ccm_text_empty(watch->namespace_)) {
        (void)fprintf(out, " in namespace %s", watch->namespace_); /* checked with the descriptor */
    }
    if (!ccm_text_empty(watch->label_selector)) {
        (void)fputs(" with labels ", out);
        print_text(out, watch->label_selector);
    }
    if (!ccm_text_empty(watch->field_selector)) {
        (void)fputs(" with fields ", out);
        print_text(out, watch->field_selector);
    }
    if ((watch->flags & CCM_WATCH_OPTIONAL) != 0) {
        (void)fputs(" (optional)", out);
    }
}

static void print_watches(FILE *out, const struct ccm_watch *const *watches)
{
    (void)fprintf(out, "  %-9s", "watches");
    for (size_t i = 0; watches[i] != NULL; i++) {
        (void)fputs(i == 0 ? " " : ", ", out);
        if (watches[i]->kind == CCM_KIND_RAW) {
            print_text(out, watches[i]->api_version);
            (void)fputc('/', out);
            print_text(out, watches[i]->resource);
            print_selection(out, watches[i]);
        } else {
            (void)fputs(plugin_descriptor_kind_name(watches[i]->kind), out);
        }
    }
    (void)fputc('\n', out);
}

static void print_rights(FILE *out, const struct ccm_right *const *rights)
{
    for (size_t i = 0; rights != NULL && rights[i] != NULL; i++) {
        /* Checked with the descriptor. */
        (void)fprintf(out, "  %-9s %s of %s/%s", i == 0 ? "needs" : "", rights[i]->verbs,
                      rights[i]->api_version, rights[i]->resource);
        if (!ccm_text_empty(rights[i]->name)) {
            (void)fprintf(out, " %s", rights[i]->name);
        }
        if (!ccm_text_empty(rights[i]->namespace_)) {
            (void)fprintf(out, " in namespace %s", rights[i]->namespace_);
        }
        (void)fputc('\n', out);
    }
}

static void print_option(FILE *out, const struct ccm_option *option)
{
    (void)fputs("    ", out);
    if (option->group != NULL) {
        (void)fprintf(out, "%s.", option->group);
    }
    (void)fprintf(out, "%s: %s", option->name, plugin_option_type_name(option->type));
    if (option->type == CCM_OPTION_INT) {
        (void)fprintf(out, " %" PRId64 "..%" PRId64, option->min, option->max);
    }
    if (option->values != NULL) {
        (void)fputs(", one of ", out);
        print_text(out, option->values);
    }
    if (option->pattern != NULL) {
        (void)fputs(" of the form ", out);
        print_text(out, option->pattern);
    }
    if (option->unless != NULL) {
        (void)fputs(", any with ", out);
        print_text(out, option->unless);
    }
    if ((option->flags & CCM_OPTION_REQUIRED) != 0) {
        (void)fputs(", required", out);
    } else if (!ccm_text_empty(option->fallback)) {
        (void)fputs(", default ", out);
        print_text(out, option->fallback);
    }
    if ((option->flags & CCM_OPTION_LIVE) != 0) {
        (void)fputs(", taken over without a restart", out);
    }
    (void)fputs("\n        ", out);
    print_text(out, option->help);
    (void)fputc('\n', out);
}

static void print_abi(FILE *out, const struct ccm_plugin *desc)
{
    const char *age = "";

    if (desc->struct_size > sizeof(*desc)) {
        age = ", built for a newer minor than this ccmd has";
    } else if (desc->struct_size < sizeof(*desc)) {
        age = ", built for an older minor than this ccmd has";
    }
    (void)fprintf(out, "  %-9s %u (this ccmd: %u.%u%s)\n", "abi", desc->abi_major, CCM_ABI_MAJOR,
                  CCM_ABI_MINOR, age);
}

void tool_inspect_print(FILE *out, const struct plugin_loaded_plugin *plugin, const char *instance)
{
    const struct ccm_plugin *desc = plugin->desc;

    (void)fprintf(out, "%s ", desc->name);
    print_text(out, desc->version);
    if (instance != NULL && !ccm_text_equal(instance, desc->name)) {
        (void)fprintf(out, " as %s", instance);
    }
    (void)fputc('\n', out);
    print_field(out, "summary", desc->summary);
    print_field(out, "file", plugin->path);
    print_abi(out, desc);
    if (desc->instances != 0) {
        print_field(out, "instances", "several, each under a name of its own");
    }
    print_watches(out, desc->watches);
    print_rights(out, desc->rights);
    (void)fprintf(out, "  options%s\n", desc->options[0] == NULL ? "   none" : "");
    for (size_t i = 0; desc->options[i] != NULL; i++) {
        if ((desc->options[i]->flags & CCM_OPTION_RETIRED) != 0) {
            continue;
        }
        print_option(out, desc->options[i]);
    }
}
