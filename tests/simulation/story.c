#include "story.h"

#include "order.h"

#include <stdarg.h>
#include <stdio.h>

#define BEGIN_US INT64_C(1000000000)

static FILE *story;
static unsigned line_count;

void sim_story_begin(const char *path)
{
    story = fopen(path, "w");
}

void sim_story_end(void)
{
    story = NULL;
}

void sim_story_add(const char *format, ...)
{
    va_list args;

    if (story == NULL) {
        return;
    }
    (void)fprintf(story, "%4u  %10.3f s  ", ++line_count, (double)(sim_now_us() - BEGIN_US) / 1e6);
    va_start(args, format);
    (void)vfprintf(story, format, args);
    va_end(args);
    (void)fprintf(story, "\n");
    (void)fflush(story);
}
