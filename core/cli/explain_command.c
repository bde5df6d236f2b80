/* `ccmd explain`: what an annotation of Services means, told by the plugins that act on it. */
#include "cli/command.h"
#include "cli/explain.h"
#include "cli/party.h"
#include "util/cleanup.h"

#include <stdio.h>
#include <unistd.h>

#define EXIT_USAGE 2

static bool explain_is_offered(const struct ccm_plugin *desc)
{
    return desc->annotations != NULL;
}

/* Files where some are named; else the configuration or, without one, what is installed. */
static int explain_load_plugins(struct cli_party *party, const struct cli_command_args *args)
{
    const bool by_file = args->plugin_dir != NULL || args->plugin_count > 0;

    if (by_file && args->config_is_set) {
        (void)fprintf(stderr, /* sticks, here and below */
                      "ccmd: explain takes its plugins from --config, or from --plugin-dir and "
                      "--plugin, not both\n");
        return EXIT_USAGE;
    }
    if (!by_file && (args->config_is_set || access(args->config, R_OK) == 0)) {
        return cli_party_load_configured(party, args, false);
    }

    const int r = cli_party_load_files(party, args);

    if (r < 0 && !by_file) {
        (void)fprintf(stderr, "ccmd: without a configuration and plugins that are installed, name "
                              "them: --plugin FILE or --plugin-dir DIR\n");
    }
    return r;
}

static int explain_print(struct cli_explain *explain, const struct cli_command_args *args)
{
    const char *words = args->operand_count == 0 ? NULL : args->operands[0];
    const char *near = NULL;

    if (!cli_explain_choose(explain, words, &near)) {
        (void)fprintf(stderr,
                      "ccmd: no plugin knows annotation '%s'%s%s%s; ccmd explain lists all\n",
                      words == NULL ? "" : words, near == NULL ? "" : " (did you mean '",
                      near == NULL ? "" : near, near == NULL ? "" : "'?)");
        return 1;
    }
    if (args->output == CLI_OUTPUT_JSON) {
        return cli_explain_print_json(explain, stdout);
    }
    if (args->output == CLI_OUTPUT_NAME) {
        cli_explain_print_names(explain, stdout);
    } else if (words != NULL && cli_explain_is_one(explain)) {
        cli_explain_print(explain, stdout);
    } else {
        cli_explain_print_list(explain, stdout);
    }
    return 0;
}

int cli_command_explain(const struct cli_command_args *args)
{
    CCM_CLEANUP(cli_explain_fini) struct cli_explain explain = { 0 };
    CCM_CLEANUP(cli_party_fini)
    struct cli_party party = {
        .has = explain_is_offered,
        .cannot = "tells nothing of annotations",
        .flags = args->constructors ? PLUGIN_LOAD_CONSTRUCTORS : 0U,
    };
    int r = explain_load_plugins(&party, args);

    if (r != 0) {
        return r;
    }
    if (party.len == 0) {
        (void)fprintf(stderr, "ccmd: none of the plugins tells anything of annotations\n");
        return 1;
    }
    for (size_t i = 0; i < party.len; i++) {
        r = cli_explain_add(&explain, party.plugins[i].desc, party.plugins[i].name);
        if (r < 0) {
            (void)fprintf(stderr, "ccmd: plugin %s could not tell its annotations: %d\n",
                          party.plugins[i].name, r);
            return r;
        }
    }
    return explain_print(&explain, args);
}
