#include "lbc/instance.h"
#include "lbc/names.h"

#include "lbc/freeze_pass.h"
#include "lbc/report/describe.h"
#include "lbc/report/figures.h"
#include "lbc/report/measure.h"
#include "lbc/reuse.h"
#include "lbc/vswitch.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

/* --- life cycle --- */

static const char *choice_string(const struct ccm_lint_sink *sink, const char *group,
                                 const char *name)
{
    const struct ccm_host *host = sink->core;

    return host->option_string(host, group, name);
}

static int64_t choice_int(const struct ccm_lint_sink *sink, const char *group, const char *name)
{
    const struct ccm_host *host = sink->core;

    return host->option_int(host, group, name);
}

/* Which Services are its own, and how its finalizer is called. */
static void instance_choose(struct lbc_instance *lbc)
{
    const struct lbc_lint_rules *rules = lbc->ops->model->rules;
    const struct ccm_lint_sink options = {
        .struct_size = sizeof(options),
        .option_string = choice_string,
        .option_int = choice_int,
        .core = (void *)(uintptr_t)lbc->host,
    };

    if (rules->choose == NULL) {
        return;
    }
    rules->choose(&options, &lbc->choice);
    lbc->takes = rules->takes;
    if (lbc->choice.finalizer[0] != '\0') {
        lbc->life.finalizer = lbc->choice.finalizer;
    }
}

int lbc_init(struct lbc_instance *lbc, const struct ccm_host *host, const struct lbc_ops *ops,
             struct ccm_error *err)
{
    const struct lbc_product *product = ops->product;

    lbc->host = host;
    lbc->ops = ops;
    atomic_init(&lbc->released_until_ms, 0);
    lbc->audit.host = host;
    atomic_init(&lbc->audit.running, 0);
    lbc->dry = host->dry_run(host);
    lbc->life = (struct lbc_life){
        .host = host,
        .finalizer = product->finalizer,
        .noun = lbc_product_served(product)->noun,
        .component = product->component,
        .extra_label = product->extra_label,
        .reused_label = product->reused_label,
    };
    lbc->is_ours = ops->model->rules->is_ours;
    instance_choose(lbc);
    lbc->any_node = ops->model->any_node;
    lbc->mirrors = lbc_mirrors_new(host, ops->mirror);
    lbc->absence = lbc_absence_new(host);
    lbc->inventory = ops->inventory == NULL ? NULL : lbc_inventory_new();
    lbc->orphans = lbc_orphans_new();
    lbc->usage = lbc_usage_new();
    lbc->vswitches = lbc_vswitches_new(host, product);
    lbc->lost = lbc_lost_new();
    lbc->unknown = lbc_unknown_new(host);
    lbc->figures = lbc_figures_new(host, product->type);
    if (lbc->mirrors == NULL || lbc->usage == NULL || lbc->lost == NULL || lbc->unknown == NULL ||
        lbc->absence == NULL || lbc->vswitches == NULL || lbc->orphans == NULL ||
        lbc->figures == NULL || (ops->inventory != NULL && lbc->inventory == NULL)) {
        return ccm_error_nomem(err);
    }
    lbc_mirrors_count(lbc->mirrors, lbc->usage);
    if (lbc_allow_check_entries(host->option_strings(host, NULL, lbc_opt_allowed.name), err) < 0) {
        return -EINVAL;
    }
    lbc->cloud.ops = ops->cloud;
    if (ops->cloud->acquire == NULL) {
        lbc->cloud.account = (void *)(uintptr_t)host;
        return 0;
    }
    return ops->cloud->acquire(host, &lbc->cloud.account, err);
}

void lbc_fini(struct lbc_instance *lbc)
{
    lbc_inventory_free(lbc->inventory);
    lbc_orphans_free(lbc->orphans);
    lbc_lost_free(lbc->lost);
    lbc_unknown_free(lbc->unknown);
    lbc_figures_free(lbc->figures);
    lbc_mirrors_free(lbc->mirrors);
    lbc_usage_free(lbc->usage);
    lbc_vswitches_free(lbc->vswitches);
    lbc_absence_free(lbc->absence);
    if (lbc->cloud.ops != NULL && lbc->cloud.ops->release != NULL) {
        lbc->cloud.ops->release(lbc->cloud.account);
    }
}

/* --- options --- */

static void instance_read_options(struct lbc_instance *lbc)
{
    const char *option = lbc->ops->model->rules->public_option;
    const struct ccm_host *host = lbc->host;

    atomic_store(&lbc->audit.interval_ms, host->option_int(host, NULL, lbc_opt_audit.name) * 1000);
    atomic_store(&lbc->unserved_wait_ms,
                 host->option_int(host, NULL, lbc_opt_unserved.name) * 1000);
    atomic_store(&lbc->conditions, host->option_int(host, NULL, lbc_opt_conditions.name) != 0);
    atomic_store(&lbc->pods_only,
                 ccm_text_equal(host->option_string(host, NULL, lbc_opt_endpoints.name), "pods"));
    atomic_store(&lbc->reuse,
                 (int)lbc_reuse_parse(host->option_string(host, NULL, lbc_opt_reuse.name)));
    atomic_store(&lbc->disable_public, option != NULL && host->option_int(host, NULL, option) != 0);
}

static void instance_configure(struct lbc_instance *lbc)
{
    const struct ccm_host *host = lbc->host;

    lbc->pods_by_default =
        ccm_text_equal(host->option_string(host, NULL, lbc_opt_backend_type.name), lbc_names.pods);
    atomic_init(&lbc->batch, (unsigned)lbc->ops->change->rules->batch);
    instance_read_options(lbc);
}

void lbc_plugin_destroy(void *self)
{
    lbc_fini(self);
    free(self);
}

int lbc_plugin_create(const struct ccm_host *host, const struct lbc_ops *ops,
                      void (*configure)(struct lbc_instance *lbc), void **ret_self,
                      struct ccm_error *err)
{
    struct lbc_instance *lbc = calloc(1, sizeof(*lbc));

    if (lbc == NULL) {
        return ccm_error_nomem(err);
    }
    const int r = lbc_init(lbc, host, ops, err);

    if (r < 0) {
        lbc_plugin_destroy(lbc);
        return r;
    }
    instance_configure(lbc);
    if (configure != NULL) {
        configure(lbc);
    }
    *ret_self = lbc;
    return 0;
}

int lbc_plugin_start(void *self, struct ccm_error *err)
{
    struct lbc_instance *lbc = self;
    const int r = lbc->cloud.ops->start == NULL
                      ? 0
                      : lbc->cloud.ops->start(lbc->cloud.account, lbc->host, err);

    if (r == 0) {
        lbc->started_ms = lbc->host->wall_ms(lbc->host);
        lbc->began_ms = lbc->host->now_ms(lbc->host);
        lbc_figures_start(lbc->figures);
        lbc_measure_start(lbc);
        lbc_orphans_start(lbc);
    }
    return r;
}

int lbc_plugin_reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                         struct ccm_error *err)
{
    instance_read_options(self);
    if (strcmp(req->keys[0], LBC_ORPHANS_KEY) == 0) {
        return lbc_orphans_look(self, req, ret, err);
    }
    if (strcmp(req->keys[0], LBC_LOST_KEY) == 0) {
        return lbc_lost_look(self, req, ret, err);
    }
    return lbc_reconcile(self, req, ret, err);
}

/* One that is to be taken away is looked at in any case. */
static bool instance_resync_one(struct lbc_instance *lbc, const struct ccm_service *service,
                                uint64_t lane)
{
    if (!lbc_owns(lbc, service)) {
        return false;
    }
    if (lbc->inventory != NULL) {
        lbc_inventory_record_edit(lbc->inventory, &service->meta);
    }
    lbc_unknown_forget(lbc->unknown);
    lbc_mirrors_ask(lbc->mirrors, service->meta.key);
    lbc->host->enqueue(lbc->host, service->meta.key, lane, 0);
    return true;
}

uint64_t lbc_plugin_resync(void *self, const char *key)
{
    struct lbc_instance *lbc = self;
    const struct ccm_host *host = lbc->host;
    const struct ccm_object *const *services = NULL;
    uint64_t found = 0;
    size_t count = 0;

    if (key != NULL) {
        const struct ccm_object *one = host->get(host, CCM_KIND_SERVICE, key);

        if (one != NULL) {
            found = instance_resync_one(lbc, (const struct ccm_service *)one, CCM_LANE_SPEC);
            host->release(host, one);
        }
        return found;
    }
    if (host->list(host, CCM_KIND_SERVICE, NULL, NULL, &services, &count) < 0) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        found += instance_resync_one(lbc, (const struct ccm_service *)services[i], CCM_LANE_BULK);
    }
    host->release_list(host, services, count);
    return found;
}

int lbc_plugin_describe(void *self, const char *key, const struct ccm_view_sink *sink)
{
    return lbc_describe(self, key, sink);
}

int64_t lbc_plugin_allow_removals(void *self)
{
    return lbc_freeze_release(self);
}
