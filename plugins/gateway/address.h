/*
 * spec.addresses of a Gateway: addresses of its load balancer in its zones. No I/O. Every thread.
 */
#ifndef CCM_GATEWAY_ADDRESS_H
#define CCM_GATEWAY_ADDRESS_H

#include "item.h"
#include "util/strmap.h"

/* Type of an address that is an elastic one by its allocation id. */
#define GATEWAY_ALLOCATION_ID "ccm.alibabacloud.com/allocation-id"

/* Put addresses into annotation zone-maps of `annotations`: the first of each type is that of the
 * first zone. *ret_why: a constant, why they cannot be served; NULL = all is well. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_addresses_place(const cJSON *spec, struct ccm_strmap *annotations,
                                          const char **ret_why);

/* Append those of spec that have a value to a JSON array, as status shows them. 0 or -ENOMEM. */
CCM_NODISCARD int gateway_addresses_show(const cJSON *spec, cJSON *to);

#endif
