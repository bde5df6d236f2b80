/*
 * What annotations say about listeners beyond a plain value: lists, and rules across annotations
 * and ports. Pure. Every thread. All return 0, or -EINVAL with a CCM_ERROR_TERMINAL, or -ENOMEM.
 */
#ifndef CCM_CLB_ANNOTATION_TEXT_H
#define CCM_CLB_ANNOTATION_TEXT_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "domains.h"
#include "lbc/rules/check.h"
#include "util/attr.h"

#include <stdint.h>

/* Checks of one annotation that go beyond its row; ends with a NULL suffix. */
extern const struct lbc_check clb_checks[];

/* Of listeners; annotation protocol-port names them. */
extern const struct lbc_protocols clb_protocols;

/* Where an http port is forwarded to (annotation forward-port); 0 = nowhere. */
CCM_NODISCARD int clb_forward_of(const struct ccm_service *service, uint16_t port, uint16_t *ret,
                                 struct ccm_error *err);

/* Annotation domain-extensions. *ret_told: the annotation is there, if only empty. The caller
 * finishes *ret in any case. */
CCM_NODISCARD int clb_domains_of(const struct ccm_service *service, struct clb_domains *ret,
                                 bool *ret_told, struct ccm_error *err);

#endif
