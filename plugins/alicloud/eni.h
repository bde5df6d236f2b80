/*
 * Pod address -> elastic network interface. Shared cache of the process with time to live and
 * negative entries; look-ups of one call are batched (100 addresses per DescribeNetworkInterfaces).
 */
#ifndef CCM_ALICLOUD_ENI_H
#define CCM_ALICLOUD_ENI_H

#include "alicloud/client.h"

enum ccm_eni_state {
    CCM_ENI_FOUND,
    CCM_ENI_MISSING, /* the address lies in the VPC, but no interface in use has it */
    CCM_ENI_FOREIGN, /* the address lies outside the VPC's CIDR blocks */
};

struct ccm_eni {
    enum ccm_eni_state state;
    char id[64]; /* "" unless CCM_ENI_FOUND */
};

/*
 * Resolve `count` addresses (text, IPv4 or IPv6) into ret[0..count-1]. Blocks as ccm_ali_call().
 * All or nothing: a failed read is an error, never an empty answer. No call is made when the cache
 * knows all of them.
 */
CCM_NODISCARD CCM_ALI_API int ccm_eni_resolve(struct ccm_ali *ali, const struct ccm_host *host,
                                              const struct ccm_request *req,
                                              const char *const *addresses, size_t count,
                                              struct ccm_eni *ret, struct ccm_error *err);

/* Forget an address, for instance after the cloud refused its interface. */
CCM_ALI_API void ccm_eni_forget(struct ccm_ali *ali, const char *address);

#endif
