#include "config/problems.h"

#include "config/load.h"

#include <stdarg.h>

void config_problems_add(struct config_problems *problems, unsigned line, const char *format, ...)
{
    va_list args;

    problems->count++;
    if (problems->count > CONFIG_PROBLEMS_MAX + 1) {
        return;
    }
    if (problems->count == CONFIG_PROBLEMS_MAX + 1) {
        ccm_buf_addf(&problems->text, "%s: there are more problems than these\n", problems->file);
        return;
    }
    if (line > 0) {
        ccm_buf_addf(&problems->text, "%s:%u: ", problems->file, line);
    } else {
        ccm_buf_addf(&problems->text, "%s: ", problems->file);
    }
    va_start(args, format);
    ccm_buf_vaddf(&problems->text, format, args);
    va_end(args);
    ccm_buf_addc(&problems->text, '\n');
}
