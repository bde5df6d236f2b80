/*
 * Annotations that hold more than one word: zones, ports, groups. Reading them, and checks that go
 * beyond one row. All return 0, or -EINVAL with a CCM_ERROR_TERMINAL. Pure. Every thread.
 */
#ifndef CCM_NLB_ANNOTATION_TEXT_H
#define CCM_NLB_ANNOTATION_TEXT_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/apply/model.h"
#include "lbc/rules/check.h"
#include "state.h"
#include "util/attr.h"

/* Checks of one annotation that go beyond its row; ends with a NULL suffix. */
extern const struct lbc_check nlb_checks[];

/* Member of nlb_rules: see struct lbc_lint_rules. */
const char *nlb_annotation_unclear(const struct lbc_anno *row, const char *value);

/* Of listeners; annotation protocol-port names them. */
extern const struct lbc_protocols nlb_protocols;

/* ip-version dualstack. */
bool nlb_is_dual_stack(const struct ccm_service *service);

/* Put the zones of annotation zone-maps into `lb`, all of them or, at the first bad entry, some.
 * None when there is no annotation. -ENOMEM as well. */
CCM_NODISCARD int nlb_zones_of(const struct ccm_service *service, struct nlb_lb *lb,
                               struct ccm_error *err);

/* The ports on which a Service port is listened for: by annotation listener-port-range a range. The
 * Service port itself has to be in range. */
CCM_NODISCARD int nlb_span_of(const struct ccm_service *service,
                              const struct ccm_service_port *port, struct lbc_span *ret,
                              struct ccm_error *err);

/* Another one of the first `count` ports of the Service listens on a port of this one; -EINVAL says
 * which. */
CCM_NODISCARD int nlb_check_overlap(const struct ccm_service *service, uint64_t index,
                                    uint64_t count, struct ccm_error *err);

/* Not of a load balancer that is somebody else's: there they have no effect. */
CCM_NODISCARD int nlb_check_source_ranges(const struct ccm_service *service, struct ccm_error *err);

#endif
