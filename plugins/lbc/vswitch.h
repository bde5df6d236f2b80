/*
 * How many addresses are left in the vSwitches that load balancers stand in, seen before they are
 * used up. A vSwitch is read with a second look at one of its load balancers, behind all other
 * calls, and once per interval of these looks, however many load balancers it has. From 80 % on
 * (util/quota_use.h) the Lease says so; a metric and the status page tell. It ends when there are
 * addresses again, or no load balancer is left there. A read that fails is no failure of the pass.
 * One lock, held while something is told; every thread.
 */
#ifndef CCM_LBC_VSWITCH_H
#define CCM_LBC_VSWITCH_H

#include "lbc/pass.h"

#define LBC_VSWITCHES_MAX 16 /* of one load balancer; more are left out */

/* Addresses of one vSwitch. */
struct lbc_vswitch_use {
    uint64_t used;
    uint64_t total; /* 0 = not known */
};

struct lbc_vswitches;

/* host and product are borrowed. NULL on ENOMEM. */
struct lbc_vswitches *lbc_vswitches_new(const struct ccm_host *host,
                                        const struct lbc_product *product);
/* NULL is fine. */
void lbc_vswitches_free(struct lbc_vswitches *set);

/* The load balancer of that Service stands in these vSwitches, and in no others. Out of memory
 * leaves some out. */
void lbc_vswitches_hold(struct lbc_vswitches *set, const char *key, const char *const *ids,
                        size_t count);
/* Whether it is time to read one that is held; nobody else is told so for an interval. */
bool lbc_vswitches_take_turn(struct lbc_vswitches *set, const char *id, int64_t interval_ms);
/* It could not be read yet. */
void lbc_vswitches_return_turn(struct lbc_vswitches *set, const char *id);
/* What was read; tells. */
void lbc_vswitches_record(struct lbc_vswitches *set, const char *id,
                          const struct lbc_vswitch_use *use);

/* After a complete success: look if it is time, and tell. Blocks. */
void lbc_vswitch_look(struct lbc_pass *pass);
/* The Service has no load balancer any more. */
void lbc_vswitch_forget(const struct lbc_instance *lbc, const char *key);

#endif
