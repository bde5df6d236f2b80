#include "lbc/report/measure.h"

#include "lbc/instance.h"
#include "lbc/report/figures.h"
#include "util/buckets.h"
#include "util/text.h"

const char *const lbc_metrics[] = { "ccmd_audits_total",
                                    "ccmd_certificate_expiry_timestamp_seconds",
                                    "ccmd_creation_duration_seconds",
                                    "ccmd_mirror_age_seconds",
                                    "ccmd_orphans",
                                    "ccmd_quota_limit",
                                    "ccmd_quota_used",
                                    "ccmd_unhealthy_backends",
                                    NULL };

static const double reference_ms[] = { CCM_REFERENCE_BUCKETS_MS };
static const char *const latency_labels[] = { "type", "verb", NULL };
static const struct ccm_metric latency = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_HISTOGRAM,
    .name = "ccm_slb_latencies_duration_milliseconds",
    .help = "Passes that went well. Creation and Deletion: since the Service was made or deleted.",
    .labels = latency_labels,
    .buckets = reference_ms,
    .bucket_count = CCM_ARRAY_LEN(reference_ms),
};

static const char *const result_labels[] = { "type", "verb", "status", NULL };
static const struct ccm_metric result = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "ccm_slb_operation_result",
    .help = "Passes by how they ended.",
    .labels = result_labels,
};

/* From a second to a day: an hour is what audits aim at. */
static const double ages_s[] = { 1, 10, 60, 300, 900, 1800, 3600, 5400, 7200, 21600, 86400 };
static const char *const type_labels[] = { "type", NULL };
static const struct ccm_metric mirror_age = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_HISTOGRAM,
    .name = "ccmd_mirror_age_seconds",
    .help = "Age of what a pass believed of its load balancer without reading it.",
    .labels = type_labels,
    .buckets = ages_s,
    .bucket_count = CCM_ARRAY_LEN(ages_s),
};

static const char *const audit_labels[] = { "type", "result", NULL };
static const struct ccm_metric audits = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "ccmd_audits_total",
    .help = "Second looks at load balancers: clean, repaired (somebody had changed it), failed.",
    .labels = audit_labels,
};

void lbc_measure_start(const struct lbc_instance *lbc)
{
    static const char *const results[] = { "clean", "repaired", "failed" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(results); i++) {
        const char *const values[] = { lbc->ops->product->type, results[i] };

        lbc->host->metric(lbc->host, &audits, values, 0);
    }
}

void lbc_measure_mirror(const struct lbc_instance *lbc, const struct lbc_entry *entry)
{
    const char *const values[] = { lbc->ops->product->type };

    if (entry->valid && entry->audit.read_ms != 0) {
        lbc->host->metric(lbc->host, &mirror_age, values,
                          (double)(lbc->host->now_ms(lbc->host) - entry->audit.read_ms) / 1000);
    }
}

static const char *verb_of(const struct lbc_pass *pass)
{
    if (lbc_pass_is_unwanted(pass->lbc, pass->service)) {
        return "Deletion";
    }
    return pass->service->ingress_count == 0 ? "Creation" : "Update";
}

/* Since when a pass that went well counts, as wall clock; 0: since its own beginning. */
static int64_t begun_ms(const struct lbc_pass *pass, const char *verb)
{
    if (ccm_text_equal(verb, "Deletion")) {
        return pass->service->meta.deleted_ms;
    }
    return ccm_text_equal(verb, "Creation") ? pass->service->meta.created_ms : 0;
}

void lbc_measure_pass(const struct lbc_pass *pass, int64_t started_ms, int r,
                      const struct ccm_error *err)
{
    const struct ccm_host *host = pass->lbc->host;
    const char *verb = verb_of(pass);
    const char *values[] = { pass->lbc->ops->product->type, verb, r < 0 ? "Fail" : "Success" };

    /* A Service that was never ours, was done with before, or still comes into being, is none. */
    if (pass->lbc->dry || pass->audit || pass->unfinished || err->kind == CCM_ERROR_CANCELLED ||
        (ccm_text_equal(verb, "Deletion") && r == 0 && !pass->hashed) ||
        (ccm_text_equal(verb, "Creation") && r == 0 && !pass->hashed)) {
        return;
    }
    host->metric(host, &result, values, 1);
    if (r < 0) {
        return;
    }
    lbc_figures_end_wish(pass->lbc->figures, pass->service->meta.key,
                         ccm_text_equal(verb, "Creation"));

    const int64_t begun = begun_ms(pass, verb);
    const int64_t own = host->now_ms(host) - started_ms;
    const int64_t took = begun == 0 ? own : host->wall_ms(host) - begun;

    host->metric(host, &latency, values, took < 0 ? 0 : (double)took); /* clocks may differ */
    if (lbc_has_trait(pass->lbc, LBC_MEASURES_AGAIN)) {
        values[1] = "reconcile";
        host->metric(host, &latency, values, (double)own);
    }
}

void lbc_measure_audit(const struct lbc_instance *lbc, int r, bool repaired)
{
    const char *const values[] = { lbc->ops->product->type, r < 0      ? "failed"
                                                            : repaired ? "repaired"
                                                                       : "clean" };

    lbc->host->metric(lbc->host, &audits, values, 1);
}
