/*
 * What plugins tell of their annotations, gathered and printed: the command `ccmd explain`. One
 * thread.
 */
#ifndef CCM_TOOLS_EXPLAIN_H
#define CCM_TOOLS_EXPLAIN_H

#include "ccm/plugin.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TOOL_EXPLAIN_TEXTS 14

/* One annotation of one plugin. Its texts in the order of `fields` in explain.c; heap, NULL = not
 * told. */
struct tool_annotation {
    char *texts[TOOL_EXPLAIN_TEXTS];
    const char *plugin; /* borrowed */
    bool chosen;        /* it is printed */
};

/* Zeroed at the start. */
struct tool_explain {
    struct tool_annotation *items;
    size_t len;
    size_t chosen;
    size_t cap;
};

void tool_explain_fini(struct tool_explain *explain);

/* Ask a plugin that offers annotations(); `name` is kept. 0, -ENOMEM, or what the plugin said. */
CCM_NODISCARD int tool_explain_add(struct tool_explain *explain, const struct ccm_plugin *desc,
                                   const char *name);

/* Choose what people mean by the words: the annotation of that key or name, else all whose name has
 * them in it; NULL = all. False: there is none, and *ret_near is the nearest name, or NULL. */
bool tool_explain_choose(struct tool_explain *explain, const char *words, const char **ret_near);

/* Those that are chosen: in full, as a list, as JSON, by name. Failures stick in the stream. */
void tool_explain_print(const struct tool_explain *explain, FILE *out);
void tool_explain_print_list(const struct tool_explain *explain, FILE *out);
CCM_NODISCARD int tool_explain_print_json(const struct tool_explain *explain, FILE *out);
void tool_explain_print_names(const struct tool_explain *explain, FILE *out);

/* Whether all that are chosen have one name: then they are printed in full. */
bool tool_explain_is_one(const struct tool_explain *explain);

#endif
