/*
 * What a long command is at, as one line on standard error that is rewritten in place. Nothing at
 * all where that is no terminal. One thread; lines of the log may come from any.
 */
#ifndef CCM_TOOLS_PROGRESS_H
#define CCM_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tool_progress {
    bool on; /* there is a terminal */
    int64_t begun_ms;
};

/* From here to the end lines of the log take the place of the line. Where there is one, what the
 * log says at level info is left out: the line says it. */
void tool_progress_begin(struct tool_progress *progress);

/* Show a text with the seconds that have passed; for what is done in a moment nothing is shown. */
void tool_progress_show(struct tool_progress *progress, const char *text);

/* Take the line away. Repeating it is fine. */
void tool_progress_end(struct tool_progress *progress);

#endif
