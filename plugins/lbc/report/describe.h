/* What is known of a Service and of the plugin, for the status pages: from mirrors and caches, no
 * call is made. Every thread; the lock of the mirrors is held while one is written. */
#ifndef CCM_LBC_DESCRIBE_H
#define CCM_LBC_DESCRIBE_H

#include "lbc/controller.h"

/* As describe() of struct ccm_plugin. */
CCM_NODISCARD int lbc_describe(struct lbc_instance *lbc, const char *key,
                               const struct ccm_view_sink *sink);

#endif
