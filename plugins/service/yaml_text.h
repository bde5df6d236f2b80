/* One text as a YAML scalar; parts of yaml.c. Pure. */
#ifndef CCM_SERVICE_YAML_TEXT_H
#define CCM_SERVICE_YAML_TEXT_H

#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Append the text as plain, quoted or (not for keys) literal scalar, without the final newline.
 * indent: column of the lines of a literal. */
void ccm_yaml_text(struct ccm_buf *buf, const char *text, size_t indent, bool key);

#endif
