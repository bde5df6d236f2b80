/*
 * What the descriptors of controllers of load balancers have in common: options, watches, life
 * cycle. The instance begins with its struct lbc_instance, so `self` is one as well.
 */
#ifndef CCM_LBC_INSTANCE_H
#define CCM_LBC_INSTANCE_H

#include "lbc/controller.h"
#include "util/removal_budget.h"

/*
 * Options: put LBC_OPTIONS into the table of the plugin, read them with lbc_configure()
 * behind lbc_init(). Meaning of each: its `help`, see instance.c.
 */
extern const struct ccm_option lbc_opt_backend_type;
extern const struct ccm_option lbc_opt_audit;
extern const struct ccm_option lbc_opt_conditions;
extern const struct ccm_option lbc_opt_filter;
extern const struct ccm_option lbc_opt_reuse;
extern const struct ccm_option lbc_opt_allowed;
extern const struct ccm_option lbc_opt_taken;

#define LBC_OPTIONS                                                                                \
    &lbc_opt_backend_type, &lbc_opt_audit, &lbc_opt_conditions, &lbc_opt_filter, &lbc_opt_reuse,   \
        &lbc_opt_allowed, &lbc_opt_taken, CCM_REMOVAL_OPTIONS

/*
 * Fill a zeroed instance: store, inventory, account (acquired, not started). The caller sets the
 * members that come from options (lbc_configure()). 0 or negative with err; lbc_fini() in any case.
 * No I/O.
 */
CCM_NODISCARD int lbc_init(struct lbc_instance *lbc, const struct ccm_host *host,
                           const struct lbc_ops *ops, struct ccm_error *err);
void lbc_fini(struct lbc_instance *lbc);

/* All but whose Services are ours where that is an option (is_ours). */
void lbc_configure(struct lbc_instance *lbc);

/*
 * For create(): an instance of `size` bytes, zeroed, with lbc_init() done; then `configure`
 * reads its options; NULL = lbc_configure(). 0, or
 * negative with err and nothing is left.
 */
CCM_NODISCARD int lbc_plugin_create(const struct ccm_host *host, size_t size,
                                    const struct lbc_ops *ops, void (*configure)(void *self),
                                    void **ret_self, struct ccm_error *err);
/* For destroy(). */
void lbc_plugin_destroy(void *self);

/* Services, EndpointSlices, Nodes; what a change of them leads to: mapping.c. */
extern const struct ccm_watch *const lbc_watches[];

/* reconcile(), one key per call, with the options as they were read last; reconcile.c. */
CCM_NODISCARD int lbc_reconcile(struct lbc_instance *lbc, const struct ccm_request *req,
                                struct ccm_result *ret, struct ccm_error *err);
/* For start() and reconcile(). */
CCM_NODISCARD int lbc_plugin_start(void *self, struct ccm_error *err);
CCM_NODISCARD int lbc_plugin_reconcile(void *self, const struct ccm_request *req,
                                       struct ccm_result *ret, struct ccm_error *err);
/* For allow_removals(). */
int64_t lbc_plugin_allow_removals(void *self);

#endif
