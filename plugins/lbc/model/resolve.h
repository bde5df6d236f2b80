/*
 * From candidates to backends: pod addresses become network interfaces, looked up once for all
 * ports of a pass. May block (cloud call). Every thread.
 */
#ifndef CCM_LBC_RESOLVE_H
#define CCM_LBC_RESOLVE_H

#include "lbc/model/backend.h"
#include "lbc/model/candidate.h"
#include "lbc/model/cloud.h"
#include "util/buf.h"

#include <stdbool.h>

/* Whether the status of a node names the address, in whatever spelling. 1, 0 or -ENOMEM. */
CCM_NODISCARD int lbc_address_is_of_node(const struct ccm_host *host, const char *address);

/* Result for one set of candidates. The caller finishes it. */
struct lbc_resolved {
    struct lbc_backends backends;
    bool doubtful; /* more than half of the pods have no interface: the cloud knows too little for
                      anything to be removed because of its answer */
    struct ccm_buf invalid; /* addresses inside the VPC without interface, "a,b"; "" = none */
    struct ccm_buf foreign; /* addresses outside the VPC; "" = none */
};

void lbc_resolved_fini(struct lbc_resolved *resolved);

struct lbc_resolved_list {
    struct lbc_resolved *items;
    size_t count;
};

void lbc_resolved_list_fini(struct lbc_resolved_list *list);

/* ret[i] belongs to sets[i]. All or nothing: when a read fails, no set is usable. No call is made
 * without pod candidates. What only a node itself has moves into what is ruled out of the set,
 * unless the status of a node names it: then the set has it because of a pod that was read
 * (hosted.h). anew: nothing that is remembered holds. 0 or negative. */
CCM_NODISCARD int lbc_resolve(const struct lbc_cloud_ops *cloud, const struct lbc_cloud_caller *by,
                              struct lbc_candidates *sets, size_t count, bool anew,
                              struct lbc_resolved *ret, struct ccm_error *err);

/* What the cloud refused may be an interface that is gone: look them up anew next time. */
void lbc_resolve_forget(const struct lbc_cloud *cloud, const struct lbc_backends *set);

#endif
