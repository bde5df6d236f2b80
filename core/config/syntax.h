/*
 * What is wrong with a text that libconfig refused: its own words are "syntax error" on the line
 * where its parser gave up. A second, small parser of the same grammar says which bracket is open,
 * which option lacks its value or quotes, and that the file is of another kind.
 */
#ifndef CCM_CONFIG_SYNTAX_H
#define CCM_CONFIG_SYNTAX_H

#include "config/problems.h"

#include <stdbool.h>

/* Add the first fault of the text, which config_scan() took, with its line. False: none was found,
 * so that what libconfig says has to do. */
bool config_syntax_explain(const char *text, struct config_problems *problems);

#endif
