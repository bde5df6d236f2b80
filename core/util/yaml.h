/*
 * What readers of YAML share on top of libfyaml: a parser that is silent, collects what is wrong,
 * and leaves aliases unresolved, so that nothing can be blown up with them. Whoever uses it links
 * PkgConfig::FYAML. One thread at a time.
 */
#ifndef CCM_UTIL_YAML_H
#define CCM_UTIL_YAML_H

#include "util/attr.h"

#include <libfyaml.h>

struct ccm_yaml {
    struct fy_diag *diag;
    struct fy_parse_cfg config; /* for fy_parser_create(), fy_document_build_from_string() */
};

/* 0 or -ENOMEM. */
CCM_NODISCARD int ccm_yaml_init(struct ccm_yaml *yaml);
/* Safe on a zeroed struct. */
void ccm_yaml_fini(struct ccm_yaml *yaml);

/* The first thing that was wrong, borrowed, with its line from 1; NULL: nothing is known. */
const char *ccm_yaml_error(const struct ccm_yaml *yaml, int *ret_line);

/* Line of a scalar or an alias, from 1; 0 when it is not known. */
int ccm_yaml_line(struct fy_node *node);

/* For CCM_CLEANUP. */
void ccm_yaml_document_freep(struct fy_document **document);

#endif
