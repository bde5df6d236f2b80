/* What a scalar of a manifest is to the tools of Kubernetes, which read YAML 1.1. Pure. Every
 * thread. */
#ifndef CCM_LINT_SCALAR_H
#define CCM_LINT_SCALAR_H

#include <libfyaml.h>
#include <stdbool.h>

enum ccm_lint_scalar {
    CCM_LINT_TEXT,
    CCM_LINT_NULL,
    CCM_LINT_TRUE,
    CCM_LINT_FALSE,
    CCM_LINT_NUMBER,
};

/* text: that of the node. Quoted and tagged ones are text. */
enum ccm_lint_scalar ccm_lint_scalar(struct fy_node *node, const char *text);

/* Whether the text has the form of a number in JSON. */
bool ccm_lint_is_json_number(const char *text);

#endif
