/*
 * What the descriptors of all load balancer controllers have in common: options, watches, life
 * cycle. `self` is a struct lbc_instance.
 */
#ifndef CCM_LBC_INSTANCE_H
#define CCM_LBC_INSTANCE_H

#include "lbc/controller.h"
#include "lbc/rules/annotation_text.h"
#include "util/lease_event.h"
#include "util/removal_budget.h"

/* LBC_OPTIONS go into the plugin's table; the `help` in options.c says what each means. */
extern const struct ccm_option lbc_opt_backend_type;
extern const struct ccm_option lbc_opt_endpoints;
extern const struct ccm_option lbc_opt_audit;
extern const struct ccm_option lbc_opt_conditions;
extern const struct ccm_option lbc_opt_unserved;
extern const struct ccm_option lbc_opt_lost;
extern const struct ccm_option lbc_opt_health;
extern const struct ccm_option lbc_opt_recreate;
extern const struct ccm_option lbc_opt_filter;
extern const struct ccm_option lbc_opt_reuse;
extern const struct ccm_option lbc_opt_allowed;
extern const struct ccm_option lbc_opt_taken;
extern const struct ccm_option lbc_opt_orphan_period;
extern const struct ccm_option lbc_opt_orphan_cleanup;

#define LBC_OPTIONS                                                                                \
    &lbc_opt_backend_type, &lbc_opt_endpoints, &lbc_opt_audit, &lbc_opt_conditions,                \
        &lbc_opt_unserved, &lbc_opt_lost, &lbc_opt_health, &lbc_opt_recreate, &lbc_opt_filter,     \
        &lbc_opt_reuse, &lbc_opt_allowed, &lbc_opt_taken, CCM_REMOVAL_OPTIONS,                     \
        &lbc_opt_orphan_period, &lbc_opt_orphan_cleanup, CCM_LEASE_OPTIONS

/* Fill a zeroed instance: mirrors, inventory, account (acquired, not started), whose Services are
 * its own; not what other options say. No I/O. 0 or negative with err; lbc_fini() in any case. */
CCM_NODISCARD int lbc_init(struct lbc_instance *lbc, const struct ccm_host *host,
                           const struct lbc_ops *ops, struct ccm_error *err);
void lbc_fini(struct lbc_instance *lbc);

/* For create(): an instance with its options; `configure` reads those of the product, NULL = there
 * are none. 0, or negative with err and nothing is left. */
CCM_NODISCARD int lbc_plugin_create(const struct ccm_host *host, const struct lbc_ops *ops,
                                    void (*configure)(struct lbc_instance *lbc), void **ret_self,
                                    struct ccm_error *err);
/* The other members of the descriptor. */
void lbc_plugin_destroy(void *self);
CCM_NODISCARD int lbc_plugin_start(void *self, struct ccm_error *err);
CCM_NODISCARD int lbc_plugin_reconcile(void *self, const struct ccm_request *req,
                                       struct ccm_result *ret, struct ccm_error *err);
int64_t lbc_plugin_allow_removals(void *self);
uint64_t lbc_plugin_resync(void *self, const char *key);
int lbc_plugin_describe(void *self, const char *key, const struct ccm_view_sink *sink);
/* Services, EndpointSlices, Nodes; mapping.c says what a change of them leads to. */
extern const struct ccm_watch *const lbc_watches[];
extern const struct ccm_right *const lbc_rights[];
/* Names of metrics of the engine that would else be the daemon's. */
extern const char *const lbc_metrics[];

/* create(), lint(), takes() and annotations() of a descriptor, which have no other way to know what
 * they belong to: by its ops and what lbc_plugin_create() calls configure(). */
#define LBC_PLUGIN_ENTRIES(ops, configure)                                                         \
    static int plugin_create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)  \
    {                                                                                              \
        return lbc_plugin_create(host, &(ops), configure, ret_self, err);                          \
    }                                                                                              \
    static int plugin_lint(const struct ccm_service *service, const struct ccm_lint_sink *sink)    \
    {                                                                                              \
        lbc_lint_service((ops).model->rules, service, sink);                                       \
        return 0;                                                                                  \
    }                                                                                              \
    static int plugin_annotations(const struct ccm_annotation_sink *sink)                          \
    {                                                                                              \
        return lbc_anno_list((ops).model->rules->annotations, sink);                               \
    }                                                                                              \
    static int plugin_takes(const struct ccm_service *service, const struct ccm_lint_sink *sink)   \
    {                                                                                              \
        return lbc_lint_takes((ops).model->rules, service, sink);                                  \
    }
/* Members of a descriptor behind them: all but its name, options, version and summary. */
#define LBC_PLUGIN                                                                                 \
    .abi_major = CCM_ABI_MAJOR, .struct_size = sizeof(struct ccm_plugin),                          \
    .flags = CCM_PLUGIN_PLANS, .watches = lbc_watches, .create = plugin_create,                    \
    .start = lbc_plugin_start, .reconcile = lbc_plugin_reconcile, .destroy = lbc_plugin_destroy,   \
    .batch_max = 1, .lint = plugin_lint, .allow_removals = lbc_plugin_allow_removals,              \
    .resync = lbc_plugin_resync, .rights = lbc_rights, .describe = lbc_plugin_describe,            \
    .annotations = plugin_annotations, .takes = plugin_takes, .metrics = lbc_metrics

/* Reconcile one key, with the options as they were read last; reconcile.c. */
CCM_NODISCARD int lbc_reconcile(struct lbc_instance *lbc, const struct ccm_request *req,
                                struct ccm_result *ret, struct ccm_error *err);

#endif
