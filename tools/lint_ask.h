/* One Service before one plugin: what its lint() finds. Pure. Every thread. */
#ifndef CCM_TOOLS_LINT_ASK_H
#define CCM_TOOLS_LINT_ASK_H

#include "daemon/plugin_options.h"
#include "util/attr.h"

/* A finding: CCM_LEVEL_*; place as in struct ccm_lint_sink; text: names the annotation that it is
 * about. Both live during the call. */
typedef void (*tool_lint_ask_fn)(void *arg, uint64_t level, const char *place, const char *text);

/* 0; what lint() returned; -ENOMEM: findings may be missing. The plugin has lint(). */
CCM_NODISCARD int tool_lint_ask(const struct daemon_plugin_options *plugin,
                                const struct ccm_service *service, tool_lint_ask_fn fn, void *arg);

/* Whether the plugin says that the Service is its own; one that does not offer takes() never does.
 */
bool tool_lint_takes(const struct daemon_plugin_options *plugin, const struct ccm_service *service);

#endif
