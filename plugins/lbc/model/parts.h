/*
 * Backends of several Services behind one port, each with its part of the traffic. Pure. Every
 * thread.
 */
#ifndef CCM_LBC_PARTS_H
#define CCM_LBC_PARTS_H

#include "lbc/model/candidate.h"

/* One Service port behind it. Borrowed. */
struct lbc_part {
    const struct ccm_service *service;
    const struct ccm_service_port *port;
    uint64_t weight; /* among the others; 0 = it gets nothing */
};

/* As lbc_candidates_build(), of all parts, of which at most LBC_SHARE_SETS that get something:
 * weights by lbc_share_scale(); what stands behind several of them gets the sum. `in` has the
 * slices of all their Services. 0, or negative with err; the caller finishes `ret` in any case. */
CCM_NODISCARD int lbc_parts_build(const struct lbc_candidate_input *in,
                                  const struct ccm_service_port *port, const struct lbc_part *parts,
                                  size_t count, struct lbc_candidates *ret, struct ccm_error *err);

#endif
