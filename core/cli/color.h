/* Colours of what is printed for people. Every thread. */
#ifndef CCM_CLI_COLOR_H
#define CCM_CLI_COLOR_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a stream gets colours: it is a terminal that has some, and NO_COLOR is not set. */
bool cli_color_is_wanted(FILE *out);

enum cli_color {
    CLI_COLOR_PLAIN,
    CLI_COLOR_RED,
    CLI_COLOR_YELLOW,
    CLI_COLOR_GREEN,
    CLI_COLOR_BOLD
};

/* What switches to it; "" when no colours are wanted. Static. */
const char *cli_color_text(bool wanted, enum cli_color color);

#endif
