/*
 * Offline check of manifests, the command `ccmd lint`: every Service in YAML or JSON files is
 * decoded as a cluster would have it and shown to the plugins that offer lint(). No cluster, no
 * cloud, no instance of a plugin. One thread.
 */
#ifndef CCM_LINT_H
#define CCM_LINT_H

#include "tools/lint_format.h"
#include "tools/plugin_set.h"
#include "util/attr.h"

#include <stdio.h>

struct tool_lint {
    const struct daemon_plugin_options *plugins; /* each has lint() */
    size_t plugin_count;
    const struct ccm_watch *const *watches; /* as in struct kube_decode_kind */
    struct tool_lint_format *format;        /* of findings */
    FILE *complaint;                        /* what could not be read or checked */
    /* Results, added up. */
    size_t services;
    size_t findings;
    size_t failures; /* files and plugins that could not do their part; each was printed */
};

/*
 * Check `name`: a file; a folder, of which all *.yaml, *.yml and *.json are checked, in the order
 * of their names and with the folders in it (hidden ones and links to folders are left out); or
 * "-", standard input. Findings of one file are printed in the order of their lines. 0, also with
 * failures; -ENOMEM.
 */
CCM_NODISCARD int tool_lint_path(struct tool_lint *lint, const char *name);

#endif
