/* abi-inspect FILE...: load plugin files as the daemon does, print each, or why it is refused. Exit
 * 1 if any is. */
#include "tools/inspect.h"

int main(int argc, char **argv)
{
    int status = 0;

    for (int i = 1; i < argc; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct plugin_loaded_plugin *plugin = NULL;

        if (plugin_load(argv[i], NULL, &plugin, &err) < 0) {
            (void)fprintf(stderr, "%s\n", err.message); /* nothing else to tell it to */
            status = 1;
            continue;
        }
        tool_inspect_print(stdout, plugin, NULL);
        plugin_free(plugin);
    }
    return fflush(stdout) == 0 ? status : 1;
}
