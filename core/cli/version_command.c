/* `ccmd version`. */
#include "ccm/plugin.h"
#include "ccm/version.h"
#include "cli/command.h"
#include "util/cleanup.h"
#include "util/jsonw.h"

#include <stdio.h>

int cli_command_version(const struct cli_command_args *args)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf json = { 0 };
    struct ccm_jsonw w = { .buf = &json };

    if (args->output != CLI_OUTPUT_JSON) {
        printf("ccmd %s (plugin ABI %u)\n", CCM_VERSION, CCM_ABI_MAJOR);
        return 0;
    }
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "version", CCM_VERSION);
    ccm_jsonw_open(&w, "abi", '{');
    ccm_jsonw_i64(&w, "major", CCM_ABI_MAJOR);
    ccm_jsonw_i64(&w, "minor", CCM_ABI_MINOR);
    ccm_jsonw_close_all(&w, "}}");
    printf("%s\n", ccm_buf_str(&json));
    return 0;
}
