/* Part of model.c: the listener that a port of a Service wants. Pure. One thread. */
#ifndef CCM_CLB_MODEL_LISTENERS_H
#define CCM_CLB_MODEL_LISTENERS_H

#include "ccm/error.h"
#include "ccm/object.h"
#include "lbc/apply/model.h"
#include "state.h"

/* What goes beyond annotations; each is an option of the plugin. */
#define CLB_EXTRA_RANGES   1U /* spec.loadBalancerSourceRanges through an access list */
#define CLB_EXTRA_AFFINITY 2U /* spec.sessionAffinity as persistence-timeout */
#define CLB_EXTRA_HEALTH   4U /* health check of Local Services by healthCheckNodePort */

/* Attributes of the check by healthCheckNodePort, beside CLB_CHECK_PORT, as they are set and as
 * they are without it (NULL: the same); ends with a NULL name. */
struct clb_check_field {
    const char *name;
    const char *value;
    const char *back;
};
extern const struct clb_check_field clb_node_check[];
#define CLB_CHECK_PORT "HealthCheckConnectPort"

/* Whether annotations or fields of the Service decide about the attribute of a desired listener. */
bool clb_listener_decides(const struct lbc_listener *want, const char *field);

/* The timeout that spec.sessionAffinity ClientIP means; false: the Service has no ClientIP. */
#define CLB_TIMEOUT_TEXT 24
#define CLB_TIMEOUT_MAX  3600 /* seconds, also where the Service asks for more */
bool clb_affinity_timeout(const struct ccm_service *service, char ret[static CLB_TIMEOUT_TEXT]);

/* The listener of a port, by lbc_model_listener(). 0, -ENOMEM, or -EINVAL with a
 * CCM_ERROR_TERMINAL: then the listener is there, but broken. */
CCM_NODISCARD int clb_model_listener(struct lbc_builder *b, const struct lbc_desired_port *want,
                                     struct ccm_error *err);
/* The access list that the Service wants, if the option is on. As above, but with -EINVAL it is
 * kept as it is: the caller calls clb_model_keep_acl(). */
CCM_NODISCARD int clb_model_acl(struct clb_state *state, const struct ccm_service *service,
                                unsigned extras, struct ccm_error *err);

/* The wish cannot be used: access control of all listeners stays as it is. 0 or -ENOMEM. */
CCM_NODISCARD int clb_model_keep_acl(struct clb_state *state);

#endif
