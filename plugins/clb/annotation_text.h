/*
 * What annotations say about listeners beyond a plain value: lists, and rules across annotations
 * and ports. Pure. Every thread. All return 0, or -EINVAL with a CCM_ERROR_TERMINAL, or -ENOMEM.
 */
#ifndef CCM_CLB_LISTENER_TEXT_H
#define CCM_CLB_LISTENER_TEXT_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "domains.h"
#include "fields.h"
#include "lbc/model/tags.h"
#include "util/attr.h"

#include <stdint.h>

/* Where an http port is forwarded to (annotation forward-port); 0 = nowhere. */
CCM_NODISCARD int clb_forward_of(const struct ccm_service *service, uint16_t port, uint16_t *ret,
                                 struct ccm_error *err);

/* Annotation domain-extensions. *ret_told: the annotation is there, if only empty. The caller
 * finishes *ret in any case. */
CCM_NODISCARD int clb_domains_of(const struct ccm_service *service, struct clb_domains *ret,
                                 bool *ret_told, struct ccm_error *err);

/* spec.loadBalancerSourceRanges, in one spelling per block. The caller finishes *ret. */
CCM_NODISCARD int clb_ranges_of(const struct ccm_service *service, bool ipv6, struct lbc_texts *ret,
                                struct ccm_error *err);

/* Whether two comma-separated lists of access lists hold the same ids, in whatever order. */
bool clb_acl_ids_equal(const char *want, const char *have);

/* Checks for clb_checks, one per annotation. */
int clb_check_certificate(const struct ccm_service *service, struct ccm_error *err);
int clb_check_domains(const struct ccm_service *service, struct ccm_error *err);
int clb_check_forward(const struct ccm_service *service, struct ccm_error *err);
int clb_check_acl(const struct ccm_service *service, struct ccm_error *err);
int clb_check_sticky(const struct ccm_service *service, struct ccm_error *err);
int clb_check_cookie(const struct ccm_service *service, struct ccm_error *err);
int clb_check_health_port(const struct ccm_service *service, struct ccm_error *err);
int clb_check_health_domain(const struct ccm_service *service, struct ccm_error *err);

#endif
