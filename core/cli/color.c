#include "cli/color.h"

#include "util/text.h"

#include <stdlib.h>
#include <unistd.h>

bool cli_color_is_wanted(FILE *out)
{
    return isatty(fileno(out)) == 1 && ccm_text_empty(getenv("NO_COLOR")) &&
           !ccm_text_equal(getenv("TERM"), "dumb");
}

const char *cli_color_text(bool wanted, enum cli_color color)
{
    static const char *const texts[] = {
        [CLI_COLOR_PLAIN] = "\033[0m",   [CLI_COLOR_RED] = "\033[31m",
        [CLI_COLOR_YELLOW] = "\033[33m", [CLI_COLOR_GREEN] = "\033[32m",
        [CLI_COLOR_BOLD] = "\033[1m",
    };

    return wanted ? texts[color] : "";
}
