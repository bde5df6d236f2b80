/* What a scalar of a manifest is to the tools of Kubernetes, which read YAML 1.1. Pure. Every
 * thread. */
#ifndef CCM_LINT_SCALAR_H
#define CCM_LINT_SCALAR_H

#include <libfyaml.h>
#include <stdbool.h>

enum cli_lint_scalar {
    CLI_LINT_TEXT,
    CLI_LINT_NULL,
    CLI_LINT_TRUE,
    CLI_LINT_FALSE,
    CLI_LINT_NUMBER,
};

/* text: that of the node. Quoted and tagged ones are text. */
enum cli_lint_scalar cli_lint_scalar(struct fy_node *node, const char *text);

/* Whether the text has the form of a number in JSON. */
bool cli_lint_is_json_number(const char *text);

#endif
