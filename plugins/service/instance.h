/*
 * What the descriptors of controllers of load balancers have in common: options, watches, life
 * cycle. The instance begins with its struct ccm_lbc, so `self` is one as well.
 */
#ifndef CCM_SERVICE_INSTANCE_H
#define CCM_SERVICE_INSTANCE_H

#include "service/pass.h"
#include "util/removal_budget.h"

/*
 * Options: put CCM_LBC_OPTIONS into the table of the plugin, read them with ccm_lbc_configure()
 * behind ccm_lbc_init(). Meaning of each: its `help`, see instance.c.
 */
extern const struct ccm_option ccm_lbc_opt_backend_type;
extern const struct ccm_option ccm_lbc_opt_audit;
extern const struct ccm_option ccm_lbc_opt_conditions;
extern const struct ccm_option ccm_lbc_opt_filter;
extern const struct ccm_option ccm_lbc_opt_type;
extern const struct ccm_option ccm_lbc_opt_reuse;
extern const struct ccm_option ccm_lbc_opt_allowed;
extern const struct ccm_option ccm_lbc_opt_taken;

#define CCM_LBC_OPTIONS                                                                            \
    &ccm_lbc_opt_backend_type, &ccm_lbc_opt_audit, &ccm_lbc_opt_conditions, &ccm_lbc_opt_filter,   \
        &ccm_lbc_opt_type, &ccm_lbc_opt_reuse, &ccm_lbc_opt_allowed, &ccm_lbc_opt_taken,           \
        CCM_REMOVAL_OPTIONS

/* by_type: whose Services are ours where annotation loadbalancer-type counts, instead of
 * ops->is_ours. */
void ccm_lbc_configure(struct ccm_lbc *lbc, bool (*by_type)(const struct ccm_service *service));

/*
 * For create(): an instance of `size` bytes, zeroed, with ccm_lbc_init() done; then `configure`
 * reads its options. 0, or negative with err and nothing is left.
 */
CCM_NODISCARD int ccm_lbc_plugin_create(const struct ccm_host *host, size_t size,
                                        const struct ccm_lbc_ops *ops,
                                        const struct ccm_lbc_names *names,
                                        void (*configure)(void *self), void **ret_self,
                                        struct ccm_error *err);
/* For destroy(). */
void ccm_lbc_plugin_destroy(void *self);

/* Services, EndpointSlices, Nodes. */
extern const struct ccm_watch *const ccm_lbc_watches[];

/* For start() and reconcile(). */
CCM_NODISCARD int ccm_lbc_plugin_start(void *self, struct ccm_error *err);
CCM_NODISCARD int ccm_lbc_plugin_reconcile(void *self, const struct ccm_request *req,
                                           struct ccm_result *ret, struct ccm_error *err);
/* For allow_removals(). */
int64_t ccm_lbc_plugin_allow_removals(void *self);

#endif
