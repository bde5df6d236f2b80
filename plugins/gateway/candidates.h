/* Who should take the traffic of a listener: the backends of all Services that its route names,
 * with weights by their shares. Pure. Every thread. */
#ifndef CCM_GATEWAY_CANDIDATES_H
#define CCM_GATEWAY_CANDIDATES_H

#include "lbc/model/candidate.h"

/* `candidates` of struct lbc_model_ops; the port is one of view.h. */
CCM_NODISCARD int gateway_candidates_build(const struct lbc_candidate_input *in,
                                           const struct ccm_service_port *port,
                                           struct lbc_candidates *ret, struct ccm_error *err);

/* In place of what the engine looks for among ports, for struct lbc_model_ops. */
const struct ccm_service *gateway_find_node_port(const struct ccm_service *service, uint16_t port);

#endif
