/* What a scalar of a manifest is to the tools of Kubernetes, which read YAML 1.1. Pure. Every
 * thread. */
#ifndef CCM_LINT_SCALAR_H
#define CCM_LINT_SCALAR_H

#include <libfyaml.h>
#include <stdbool.h>

enum tool_lint_scalar {
    TOOL_LINT_TEXT,
    TOOL_LINT_NULL,
    TOOL_LINT_TRUE,
    TOOL_LINT_FALSE,
    TOOL_LINT_NUMBER,
};

/* text: that of the node. Quoted and tagged ones are text. */
enum tool_lint_scalar tool_lint_scalar(struct fy_node *node, const char *text);

/* Whether the text has the form of a number in JSON. */
bool tool_lint_is_json_number(const char *text);

#endif
