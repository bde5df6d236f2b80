/*
 * Pod address -> elastic network interface. Shared cache of the process with time to live and
 * negative entries; look-ups of one call are batched (100 addresses per DescribeNetworkInterfaces).
 */
#ifndef CCM_ALICLOUD_ENI_H
#define CCM_ALICLOUD_ENI_H

#include "alicloud/client.h"

enum ali_eni_state {
    ALI_ENI_FOUND,
    ALI_ENI_MISSING, /* the address lies in the VPC, but no interface in use has it */
    ALI_ENI_FOREIGN, /* the address lies outside the VPC's CIDR blocks */
    ALI_ENI_NODE, /* the primary interface of an instance that is a node, which pods never have */
};

struct ali_eni {
    enum ali_eni_state state;
    char id[64]; /* "" unless an interface has it */
};

/* What is asked for; borrowed. */
struct ali_eni_addresses {
    const char *const *items; /* text, IPv4 or IPv6 */
    const uint64_t *owners;   /* stands for the owner of each, 0 = not known; NULL = of none. What
                                 the cache knows of an address holds for the same owner */
    size_t count;
    bool anew; /* the cloud is asked about all of them */
};

/*
 * Resolve the addresses into ret[0..count-1]. Blocks as ali_call(). All or nothing: a failed read
 * is an error, never an empty answer. No call is made when the cache knows all of them.
 */
CCM_NODISCARD ALI_API int ali_eni_resolve(const struct ali_caller *by,
                                          const struct ali_eni_addresses *addresses,
                                          struct ali_eni *ret, struct ccm_error *err);

/* Forget an address, for instance after the cloud refused its interface. */
ALI_API void ali_eni_forget(struct ali_client *ali, const char *address);

#endif
