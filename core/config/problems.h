/* A bounded list of "FILE:LINE: text" lines. One thread. */
#ifndef CCM_CONFIG_PROBLEMS_H
#define CCM_CONFIG_PROBLEMS_H

#include "config/files.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stddef.h>

struct config_problems {
    const char *file;                 /* borrowed; of what has no place */
    const struct config_files *files; /* borrowed; NULL: there is but that file */
    unsigned first;                   /* place from which lines count: while one file is read */
    struct ccm_buf text;
    size_t count; /* also of those that were not kept */
};

/* line 0 = unknown. */
void config_problems_add(struct config_problems *problems, unsigned line, const char *format, ...)
    CCM_PRINTF(3, 4);

#endif
