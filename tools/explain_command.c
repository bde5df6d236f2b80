/* `ccmd explain`: what an annotation of Services means, told by the plugins that act on it. */
#include "tools/command.h"
#include "tools/explain.h"
#include "tools/plugin_set.h"
#include "util/cleanup.h"

#include <stdio.h>
#include <unistd.h>

#define EXIT_USAGE 2

static bool explain_is_offered(const struct ccm_plugin *desc)
{
    return desc->annotations != NULL;
}

/* Files where some are named; else the configuration or, without one, what is installed. */
static int explain_load_plugins(struct tool_plugin_set *set, const struct cli_command_args *args)
{
    const bool by_file = args->plugin_dir != NULL || args->plugin_count > 0;

    if (by_file && args->config_is_set) {
        (void)fprintf(stderr, /* sticks, here and below */
                      "ccmd: explain takes its plugins from --config, or from --plugin-dir and "
                      "--plugin, not both\n");
        return EXIT_USAGE;
    }
    if (!by_file && (args->config_is_set || access(args->config, R_OK) == 0)) {
        return tool_plugin_set_load_configured(set, args, false);
    }

    const int r = tool_plugin_set_load_files(set, args);

    if (r < 0 && !by_file) {
        (void)fprintf(stderr, "ccmd: without a configuration and plugins that are installed, name "
                              "them: --plugin FILE or --plugin-dir DIR\n");
    }
    return r;
}

static int explain_print(struct tool_explain *explain, const struct cli_command_args *args)
{
    const char *words = args->operand_count == 0 ? NULL : args->operands[0];
    const char *near = NULL;

    if (!tool_explain_choose(explain, words, &near)) {
        (void)fprintf(stderr,
                      "ccmd: no plugin knows annotation '%s'%s%s%s; ccmd explain lists all\n",
                      words == NULL ? "" : words, near == NULL ? "" : " (did you mean '",
                      near == NULL ? "" : near, near == NULL ? "" : "'?)");
        return 1;
    }
    if (args->output == CLI_OUTPUT_JSON) {
        return tool_explain_print_json(explain, stdout);
    }
    if (args->output == CLI_OUTPUT_NAME) {
        tool_explain_print_names(explain, stdout);
    } else if (words != NULL && tool_explain_is_one(explain)) {
        tool_explain_print(explain, stdout);
    } else {
        tool_explain_print_list(explain, stdout);
    }
    return 0;
}

int tool_command_explain(const struct cli_command_args *args)
{
    CCM_CLEANUP(tool_explain_fini) struct tool_explain explain = { 0 };
    CCM_CLEANUP(tool_plugin_set_fini)
    struct tool_plugin_set set = {
        .has = explain_is_offered,
        .cannot = "tells nothing of annotations",
    };
    int r = explain_load_plugins(&set, args);

    if (r != 0) {
        return r;
    }
    if (set.len == 0) {
        (void)fprintf(stderr, "ccmd: none of the plugins tells anything of annotations\n");
        return 1;
    }
    for (size_t i = 0; i < set.len; i++) {
        r = tool_explain_add(&explain, set.plugins[i].desc, set.plugins[i].name);
        if (r < 0) {
            (void)fprintf(stderr, "ccmd: plugin %s could not tell its annotations: %d\n",
                          set.plugins[i].name, r);
            return r;
        }
    }
    return explain_print(&explain, args);
}
