/* What `ccmd plugins` prints of one plugin: as text, as JSON, as roles for kubectl. One thread. */
#ifndef CCM_TOOLS_INSPECT_H
#define CCM_TOOLS_INSPECT_H

#include "plugin/loader.h"

#include <stdio.h>

/* What `ccmd plugins` shows: name, version, summary, ABI, file, watches, rights, options with their
 * rules. instance: its name in the configuration; NULL = it is in none. Write failures stick in the
 * stream. */
void tool_inspect_print(FILE *out, const struct plugin_loaded_plugin *plugin, const char *instance);

/* The same as a JSON object. */
struct ccm_jsonw;
void tool_inspect_print_json(struct ccm_jsonw *w, const struct plugin_loaded_plugin *plugin,
                             const char *instance);

/* The same for `--rbac`: a ClusterRole "ccmd-plugin-NAME", and a Role of that name in each
 * namespace that a watch or a right is confined to, as YAML for kubectl. */
void tool_inspect_print_rbac(FILE *out, const struct plugin_loaded_plugin *plugin);

#endif
