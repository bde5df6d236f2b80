/* The annotations of NLB Services: one table, see annotations.c. Pure. Every thread. */
#ifndef CCM_NLB_ANNOTATIONS_H
#define CCM_NLB_ANNOTATIONS_H

#include "fields.h"
#include "lbc/model/annotation.h"
#include "lbc/model/lint.h"
#include "util/attr.h"

extern const struct lbc_anno_table nlb_annotations;

/* Checks of one annotation that go beyond its row; ends with a NULL suffix. */
extern const struct lbc_lint_check nlb_checks[];

/* Members of nlb_rules: see struct lbc_lint_rules. */
bool nlb_annotation_counts(const struct ccm_service *service, const struct lbc_anno *row);
const char *nlb_annotation_unclear(const struct lbc_anno *row, const char *value);

/* The switch (a suffix) without which the annotation does nothing; NULL = there is none. */
const char *nlb_annotation_gate(const struct lbc_anno *row);

/* Protocol of a listener: the entry of annotation protocol-port for this port, else the port's own
 * protocol. 0 or -EINVAL: malformed list, unknown protocol. */
CCM_NODISCARD int nlb_protocol_of(const struct ccm_service *service,
                                  const struct ccm_service_port *port, enum lbc_protocol *ret,
                                  struct ccm_error *err);

#endif
