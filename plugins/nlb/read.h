/* From the cloud to the model. All or nothing: a failed read never looks like an empty answer. May
 * block. One thread per call struct. */
#ifndef CCM_NLB_READ_H
#define CCM_NLB_READ_H

#include "alilb/read.h"
#include "lbc/inventory.h"
#include "state.h"

extern const struct alilb_source nlb_source;

/* What the cloud holds for this cluster, read in bulk when work begins (lbc/inventory.h): load
 * balancers, listeners, groups and servers, a hundred per call. */
extern const struct lbc_inventory_ops nlb_inventory_ops;
/* What may be left without Service. */
extern const struct lbc_orphan_ops nlb_orphan_ops;

/* Whether it serves, or will: 0, or -EIO when its making failed or the cloud closed it. Pure. */
CCM_NODISCARD int nlb_read_check_status(const struct nlb_lb *lb, struct ccm_error *err);

/* One of a list of load balancers, listeners or groups into an empty struct. 0, -ENOMEM, or -EPROTO
 * when it is not what it should be. A group's `unread` tells that it has servers. Pure. */
CCM_NODISCARD int nlb_read_parse_lb(const cJSON *json, struct nlb_lb *ret);
CCM_NODISCARD int nlb_read_parse_listener(const cJSON *json, struct lbc_listener *ret);
CCM_NODISCARD int nlb_read_parse_group(const cJSON *json, struct nlb_group *ret);
CCM_NODISCARD int nlb_read_parse_rule(const cJSON *json, struct nlb_rule *ret);

/* The rules of a security group that is known by its id, instead of those it has, which stay
 * when that fails. */
CCM_NODISCARD int nlb_read_rules(struct alilb_call *call, struct nlb_security_group *security_group,
                                 struct ccm_error *err);

/* What a pass has to know. */
struct nlb_need {
    const struct nlb_state *want; /* its chosen groups are read too; may be NULL */
    bool listeners;
    bool scan;  /* also groups of persons that listeners use: our backends may still be in one */
    bool certs; /* additional certificates of the TCPSSL listeners that tell them */
    bool security_group;            /* the security group for source ranges, with its rules */
    const struct nlb_state *before; /* what was known: read by its id as well; NULL = nothing */
    bool doubtful; /* a group that is wanted may exist although nothing leads to it: when one is
                      missing all of the region are read, as only lists by tags are late */
    bool ends;     /* the Service goes: doubtful is about its groups, whatever is wanted; another
                      cluster's security group is just none of its own */
};

/* Read what `state` does not know yet: listeners, the groups that carry the Service's tag or that
 * its listeners use, with their servers, chosen groups. On failure `state` may hold some of it. */
CCM_NODISCARD int nlb_read_parts(struct alilb_call *call, const struct ccm_service *service,
                                 const struct nlb_need *need, struct nlb_state *state,
                                 struct ccm_error *err);

#endif
