/* The annotations of CLB Services: one table, see annotations.c. Pure. Every thread. */
#ifndef CCM_CLB_ANNOTATIONS_H
#define CCM_CLB_ANNOTATIONS_H

#include "fields.h"
#include "lbc/model/annotation.h"
#include "lbc/model/lint.h"
#include "util/attr.h"

#include <stdint.h>

extern const struct lbc_anno_table clb_annotations;

/* All of them, ends with a NULL suffix. */
extern const struct lbc_lint_check clb_checks[];

/*
 * Protocol of a listener: the entry of annotation protocol-port for this port, else the port's own
 * protocol. 0 or -EINVAL: malformed list, unknown protocol.
 */
CCM_NODISCARD int clb_protocol_of(const struct ccm_service *service,
                                  const struct ccm_service_port *port, enum lbc_protocol *ret,
                                  struct ccm_error *err);

#endif
