/*
 * From candidates to backends: pod addresses become network interfaces, in one look-up for all
 * ports of a pass. May block (cloud call). Every thread.
 */
#ifndef CCM_SERVICE_RESOLVE_H
#define CCM_SERVICE_RESOLVE_H

#include "alicloud/eni.h"
#include "service/backend.h"
#include "service/candidate.h"
#include "util/buf.h"

#include <stdbool.h>

/* Result for one set of candidates. The caller finishes it. */
struct ccm_resolved {
    struct ccm_backends backends;
    struct ccm_buf invalid; /* addresses inside the VPC without interface, "a,b"; "" = none */
    struct ccm_buf foreign; /* addresses outside the VPC; "" = none */
};

void ccm_resolved_fini(struct ccm_resolved *resolved);

struct ccm_resolved_list {
    struct ccm_resolved *items;
    size_t count;
};

void ccm_resolved_list_fini(struct ccm_resolved_list *list);

/*
 * ret[i] belongs to sets[i]. All or nothing: when a read fails, no set is usable. No call is made
 * without pod candidates. 0 or negative.
 */
CCM_NODISCARD int ccm_resolve(struct ccm_ali *ali, const struct ccm_host *host,
                              const struct ccm_request *req, const struct ccm_candidates *sets,
                              size_t count, struct ccm_resolved *ret, struct ccm_error *err);

/* Whether an addition was refused because of one of the backends, whichever group they go to: with
 * the same ones any other group is refused as well. */
bool ccm_resolve_is_unknown(const struct ccm_error *err);

/* What the cloud refused may have been an interface that is no more: look them up anew next time.
 */
void ccm_resolve_forget(struct ccm_ali *ali, const struct ccm_backends *set);

#endif
