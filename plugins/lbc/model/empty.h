/*
 * Why nobody serves a port: no endpoint, none that is ready, none with its port, or none on a node
 * that may take traffic. Pure. Every thread.
 */
#ifndef CCM_LBC_EMPTY_H
#define CCM_LBC_EMPTY_H

#include "lbc/model/candidate.h"

/* For a port without a ready endpoint, or whose candidates are none: cause and remedy for people,
 * heap; NULL: without memory. endpoints: what lbc_endpoints_collect() found for the port. */
char *lbc_empty_explain(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                        const struct lbc_endpoints *endpoints, bool no_candidate);

#endif
