/* certificateRefs of listeners: which Secrets may be used, and what they stand for as they were
 * looked at last (secret.h). No I/O. Every thread. */
#ifndef CCM_GATEWAY_SECRET_REF_H
#define CCM_GATEWAY_SECRET_REF_H

#include "lbc/model/tags.h"
#include "listener.h"

/* The certificates of a listener that names Secrets, and what is wrong with them. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_secrets_read(const struct gateway *self,
                                       struct gateway_listener *listener);

/* Put the Secrets of such a listener that may be used, "namespace/name", each once. 0 or -ENOMEM.
 */
CCM_NODISCARD int gateway_secrets_put(const struct gateway *self,
                                      const struct gateway_listener *listener,
                                      struct lbc_texts *to);

#endif
