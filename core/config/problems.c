#include "config/problems.h"

#include "config/load.h"

#include <stdarg.h>

static void problems_add_place(struct config_problems *problems, unsigned place)
{
    unsigned line = place;
    const char *file =
        problems->files == NULL ? NULL : config_files_find(problems->files, place, &line);

    ccm_buf_adds(&problems->text, file == NULL ? problems->file : file);
    if (line > 0) {
        ccm_buf_addf(&problems->text, ":%u", line);
    }
    ccm_buf_adds(&problems->text, ": ");
}

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
    problems_add_place(problems, problems->first + line);
    va_start(args, format);
    ccm_buf_vaddf(&problems->text, format, args);
    va_end(args);
    ccm_buf_addc(&problems->text, '\n');
}
