/*
 * One reading of the text before libconfig gets it, by the same grammar: for what libconfig cannot
 * be asked about later, and for what it calls nothing but "syntax error", on the line where its
 * parser gave up.
 */
#ifndef CCM_CONFIG_SYNTAX_H
#define CCM_CONFIG_SYNTAX_H

#include "config/problems.h"

#define CONFIG_FAULT_SIZE 256

/* Which bracket is open, which option lacks its value or quotes, or that the file is of another
 * kind. */
struct config_fault {
    unsigned line;
    char text[CONFIG_FAULT_SIZE]; /* "" = none was found */
};

/*
 * Append the text that libconfig is to parse to `out`: a number beyond 32 bits gets the suffix that
 * makes libconfig read it whole, all else is copied, faults included.
 *
 * Added to problems, with the line: NUL bytes, texts and comments without an end, @include (it
 * would open other files), numbers beyond 64 bits, "\x00" in texts (it would vanish). *fault is the
 * first fault of the grammar, for when libconfig finds one, too. text ends with a NUL behind its
 * len bytes. Look at out's own failure.
 */
void config_syntax_read(const char *text, size_t len, struct ccm_buf *out,
                        struct config_problems *problems, struct config_fault *fault);

#endif
