#include "util/yaml.h"

#include <errno.h>
#include <stddef.h>

/* The library would print to standard error. */
static void yaml_discard_diag(struct fy_diag *diag CCM_UNUSED, void *user CCM_UNUSED,
                              const char *text CCM_UNUSED, size_t len CCM_UNUSED)
{
}

int ccm_yaml_init(struct ccm_yaml *yaml)
{
    struct fy_diag_cfg config;

    fy_diag_cfg_default(&config);
    config.output_fn = yaml_discard_diag;
    yaml->diag = fy_diag_create(&config);
    if (yaml->diag == NULL) {
        return -ENOMEM;
    }
    fy_diag_set_collect_errors(yaml->diag, true);
    yaml->config = (struct fy_parse_cfg){
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_SLOPPY_FLOW_INDENTATION,
        .diag = yaml->diag,
    };
    return 0;
}

void ccm_yaml_fini(struct ccm_yaml *yaml)
{
    fy_diag_destroy(yaml->diag);
    yaml->diag = NULL;
}

const char *ccm_yaml_error(const struct ccm_yaml *yaml, int *ret_line)
{
    void *cursor = NULL;
    const struct fy_diag_error *first = fy_diag_errors_iterate(yaml->diag, &cursor);

    *ret_line = first == NULL ? 0 : first->line;
    return first == NULL ? NULL : first->msg;
}

int ccm_yaml_line(struct fy_node *node)
{
    struct fy_token *token =
        fy_node_is_scalar(node) || fy_node_is_alias(node) ? fy_node_get_scalar_token(node) : NULL;
    const struct fy_mark *mark = token == NULL ? NULL : fy_token_start_mark(token);

    return mark == NULL || mark->line < 0 ? 0 : mark->line + 1;
}

void ccm_yaml_document_freep(struct fy_document **document)
{
    fy_document_destroy(*document);
}
