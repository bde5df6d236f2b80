#include "lbc/report/figures.h"

#include "util/book.h"
#include "util/text.h"

#include <stdlib.h>

static const char *const labels[] = { "type", NULL };
static const struct ccm_metric unhealthy_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_unhealthy_backends",
    .help = "Backends that failed the cloud's health checks when these were last read; one of two "
            "ports counts twice.",
    .labels = labels,
};
static const struct ccm_metric certificate_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_certificate_expiry_timestamp_seconds",
    .help = "When the first of the certificates of listeners ends, since the epoch, as last read; "
            "0: none is known.",
    .labels = labels,
};
/* From what an empty account needs to what a used up quota costs. */
static const double wishes_s[] = { 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200 };
static const struct ccm_metric creation_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_HISTOGRAM,
    .name = "ccmd_creation_duration_seconds",
    .help = "From when a Service was first seen to want an address to when it had one, queues and "
            "failed tries included.",
    .labels = labels,
    .buckets = wishes_s,
    .bucket_count = CCM_ARRAY_LEN(wishes_s),
};

/* One Service; there is none of which nothing is known. */
struct figure {
    size_t unhealthy;
    int64_t ends_ms;   /* 0 = not known */
    int64_t wished_ms; /* monotonic; 0 = it has an address, or wants none */
};

struct lbc_figures {
    const struct ccm_host *host;
    const char *type;
    struct ccm_book items; /* by key of the Service; its lock guards the rest */
    size_t unhealthy;      /* of all */
    bool works;
};

struct lbc_figures *lbc_figures_new(const struct ccm_host *host, const char *type)
{
    struct lbc_figures *figures = calloc(1, sizeof(*figures));

    if (figures == NULL) {
        return NULL;
    }
    figures->host = host;
    figures->type = type;
    if (ccm_book_init(&figures->items, free) < 0) {
        free(figures);
        return NULL;
    }
    return figures;
}

void lbc_figures_free(struct lbc_figures *figures)
{
    if (figures == NULL) {
        return;
    }
    ccm_book_fini(&figures->items);
    free(figures);
}

static void figures_write(const struct lbc_figures *figures, const struct ccm_metric *metric,
                          double value)
{
    const char *const values[] = { figures->type };

    figures->host->metric(figures->host, metric, values, value);
}

static void figures_drop_empty_locked(struct lbc_figures *figures, const char *key,
                                      const struct figure *item)
{
    if (item->unhealthy == 0 && item->ends_ms == 0 && item->wished_ms == 0) {
        ccm_strmap_del(figures->items.map, key);
    }
}

/* Written under the lock: the last that is written is the last that was found. */
static void figures_write_unhealthy_locked(const struct lbc_figures *figures)
{
    figures_write(figures, &unhealthy_metric, (double)figures->unhealthy);
}

static void figures_write_certificate_locked(const struct lbc_figures *figures)
{
    void *cursor = NULL;
    void *value = NULL;
    int64_t first_ms = 0;

    while (ccm_strmap_next(figures->items.map, &cursor, NULL, &value) != 0) {
        const int64_t ends_ms = ((const struct figure *)value)->ends_ms;

        first_ms = ends_ms != 0 && (first_ms == 0 || ends_ms < first_ms) ? ends_ms : first_ms;
    }
    figures_write(figures, &certificate_metric, (double)first_ms / 1000);
}

static void figures_change_unhealthy_locked(struct lbc_figures *figures, struct figure *item,
                                            size_t backends)
{
    figures->unhealthy += backends;
    figures->unhealthy -= item->unhealthy;
    item->unhealthy = backends;
    figures_write_unhealthy_locked(figures);
}

void lbc_figures_start(struct lbc_figures *figures)
{
    (void)ccm_book_open(&figures->items);
    figures->works = true;
    figures_write_unhealthy_locked(figures);
    figures_write_certificate_locked(figures);
    ccm_book_close(&figures->items);
}

void lbc_figures_set_unhealthy(struct lbc_figures *figures, const char *key, size_t backends)
{
    (void)ccm_book_open(&figures->items);
    struct figure *item = ccm_book_obtain(&figures->items, key, sizeof(*item));

    if (item != NULL) {
        figures_change_unhealthy_locked(figures, item, backends);
        figures_drop_empty_locked(figures, key, item);
    }
    ccm_book_close(&figures->items);
}

void lbc_figures_set_certificate(struct lbc_figures *figures, const char *key, int64_t ends_ms)
{
    (void)ccm_book_open(&figures->items);
    struct figure *item = ccm_book_obtain(&figures->items, key, sizeof(*item));

    if (item != NULL && item->ends_ms != ends_ms) {
        item->ends_ms = ends_ms;
        figures_write_certificate_locked(figures);
    }
    if (item != NULL) {
        figures_drop_empty_locked(figures, key, item);
    }
    ccm_book_close(&figures->items);
}

void lbc_figures_forget(struct lbc_figures *figures, const char *key)
{
    struct figure *item = ccm_strmap_get(ccm_book_open(&figures->items), key);

    if (item != NULL) {
        const bool had_certificate = item->ends_ms != 0;

        figures_change_unhealthy_locked(figures, item, 0);
        ccm_strmap_del(figures->items.map, key);
        if (had_certificate) {
            figures_write_certificate_locked(figures);
        }
    }
    ccm_book_close(&figures->items);
}

void lbc_figures_begin_wish(struct lbc_figures *figures, const char *key)
{
    (void)ccm_book_open(&figures->items);
    struct figure *item = ccm_book_obtain(&figures->items, key, sizeof(*item));

    if (item != NULL && item->wished_ms == 0) {
        item->wished_ms = figures->host->now_ms(figures->host);
    }
    ccm_book_close(&figures->items);
}

void lbc_figures_meet_wish(struct lbc_figures *figures, const char *key)
{
    (void)ccm_book_open(&figures->items);
    const bool works = figures->works;

    ccm_book_close(&figures->items);
    if (!works) {
        lbc_figures_end_wish(figures, key, false);
    }
}

void lbc_figures_end_wish(struct lbc_figures *figures, const char *key, bool created)
{
    struct figure *item = ccm_strmap_get(ccm_book_open(&figures->items), key);

    if (item != NULL) {
        if (created && item->wished_ms != 0) {
            const int64_t took_ms = figures->host->now_ms(figures->host) - item->wished_ms;

            figures_write(figures, &creation_metric, (double)took_ms / 1000);
        }
        item->wished_ms = 0;
        figures_drop_empty_locked(figures, key, item);
    }
    ccm_book_close(&figures->items);
}
