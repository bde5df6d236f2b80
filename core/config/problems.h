/* A bounded list of "FILE:LINE: text" lines. One thread. */
#ifndef CCM_CONFIG_PROBLEMS_H
#define CCM_CONFIG_PROBLEMS_H

#include "util/attr.h"
#include "util/buf.h"

#include <stddef.h>

struct config_problems {
    const char *file; /* borrowed */
    struct ccm_buf text;
    size_t count; /* also of those that were not kept */
};

/* line 0 = unknown. */
void config_problems_add(struct config_problems *problems, unsigned line, const char *format, ...)
    CCM_PRINTF(3, 4);

#endif
