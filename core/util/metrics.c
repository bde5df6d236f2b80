#include "util/metrics.h"

#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 64  /* bytes of a label's name */
#define LABEL_MAX    128 /* bytes of one value; longer ones are cut */
#define KEY_MAX      ((CCM_METRICS_LABELS_MAX + 1) * (2 * LABEL_MAX + NAME_MAX_LEN + 8))

const double ccm_metrics_seconds[] = { 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                       1,     2.5,   5,     10,   20,    30,   60,  120 };
const uint64_t ccm_metrics_seconds_count = CCM_ARRAY_LEN(ccm_metrics_seconds);

/* One combination of labels. */
struct series {
    double value; /* histogram: the sum */
    uint64_t count;
    uint64_t *buckets; /* not cumulative; one more for what is above all bounds */
};

struct family {
    uint64_t type;
    char *name;
    char *help;
    char *labels[CCM_METRICS_LABELS_MAX];
    size_t label_count;
    double bounds[CCM_METRICS_BUCKETS_MAX];
    size_t bound_count;
    struct ccm_strmap *series; /* by the text between the braces, as it is written */
};

struct ccm_metrics {
    pthread_mutex_t lock; /* guards all below; a leaf lock */
    struct ccm_strmap *families;
    uint64_t dropped;
};

static void series_free(void *value)
{
    struct series *series = value;

    free(series->buckets);
    free(series);
}

static void family_free(void *value)
{
    struct family *family = value;

    free(family->name);
    free(family->help);
    for (size_t i = 0; i < family->label_count; i++) {
        free(family->labels[i]);
    }
    ccm_strmap_free(family->series);
    free(family);
}

static void family_freep(struct family **family)
{
    if (*family != NULL) {
        family_free(*family);
    }
}

struct ccm_metrics *ccm_metrics_new(void)
{
    struct ccm_metrics *metrics = calloc(1, sizeof(*metrics));

    if (metrics == NULL) {
        return NULL;
    }
    metrics->families = ccm_strmap_new(family_free);
    if (metrics->families == NULL || pthread_mutex_init(&metrics->lock, NULL) != 0) {
        ccm_strmap_free(metrics->families);
        free(metrics);
        return NULL;
    }
    return metrics;
}

void ccm_metrics_free(struct ccm_metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    ccm_strmap_free(metrics->families);
    ccm_lock_fini(&metrics->lock);
    free(metrics);
}

/* --- families --- */

static bool is_metric_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

    return text != NULL && text[0] != '\0' && strchr(letters, text[0]) != NULL &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ==
               '\0';
}

static size_t count_labels(const struct ccm_metric *metric)
{
    size_t count = 0;

    while (metric->labels != NULL && metric->labels[count] != NULL) {
        count++;
    }
    return count;
}

static bool is_metric(const struct ccm_metric *metric)
{
    const size_t labels = count_labels(metric);

    if (!is_metric_name(metric->name) || metric->type < CCM_METRIC_COUNTER ||
        metric->type > CCM_METRIC_HISTOGRAM || labels > CCM_METRICS_LABELS_MAX ||
        metric->bucket_count > CCM_METRICS_BUCKETS_MAX ||
        (metric->bucket_count > 0 && metric->buckets == NULL)) {
        return false;
    }
    for (size_t i = 0; i < labels; i++) {
        const char *name = metric->labels[i];

        if (!is_metric_name(name) || strlen(name) > NAME_MAX_LEN || ccm_text_starts(name, "__") ||
            strcmp(name, "le") == 0) { /* Prometheus keeps those for itself */
            return false;
        }
    }
    for (size_t i = 1; i < metric->bucket_count; i++) {
        if (!(metric->buckets[i - 1] < metric->buckets[i])) {
            return false;
        }
    }
    return true;
}

static int family_copy_metric(struct family *family, const struct ccm_metric *metric)
{
    family->type = metric->type;
    family->name = strdup(metric->name);
    family->help = strdup(metric->help == NULL ? "" : metric->help);
    for (char *p = family->help; p != NULL && *p != '\0'; p++) {
        *p = *p == '\n' || *p == '\\' ? ' ' : *p; /* one line, nothing that escapes */
    }
    family->series = ccm_strmap_new(series_free);
    if (family->name == NULL || family->help == NULL || family->series == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count_labels(metric); i++) {
        family->labels[i] = strdup(metric->labels[i]);
        if (family->labels[i] == NULL) {
            return -ENOMEM;
        }
        family->label_count++;
    }
    if (metric->type == CCM_METRIC_HISTOGRAM) {
        family->bound_count = metric->bucket_count;
        memcpy(family->bounds, metric->buckets, metric->bucket_count * sizeof(*metric->buckets));
    }
    return 0;
}

static bool family_matches_metric(const struct family *family, const struct ccm_metric *metric)
{
    if (family->type != metric->type || family->label_count != count_labels(metric)) {
        return false;
    }
    for (size_t i = 0; i < family->label_count; i++) {
        if (strcmp(family->labels[i], metric->labels[i]) != 0) {
            return false;
        }
    }
    return family->type != CCM_METRIC_HISTOGRAM ||
           (family->bound_count == metric->bucket_count && metric->buckets != NULL &&
            memcmp(family->bounds, metric->buckets,
                   family->bound_count * sizeof(*family->bounds)) == 0);
}

static int family_locked(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                         struct family **ret)
{
    CCM_CLEANUP(family_freep) struct family *family = NULL;
    struct family *known =
        metric->name == NULL ? NULL : ccm_strmap_get(metrics->families, metric->name);

    if (known != NULL) {
        *ret = known;
        return family_matches_metric(known, metric) ? 0 : -EINVAL;
    }
    if (!is_metric(metric)) {
        return -EINVAL;
    }
    family = calloc(1, sizeof(*family));
    if (family == NULL || family_copy_metric(family, metric) < 0 ||
        ccm_strmap_set(metrics->families, metric->name, family) < 0) {
        return -ENOMEM;
    }
    *ret = CCM_STEAL(family);
    return 0;
}

/* --- series --- */

/* Text of a series, built without memory from the heap: most values go to one that exists. */
struct key {
    char text[KEY_MAX];
    size_t len;
};

static void add_char(struct key *key, char c)
{
    key->text[key->len++] = c; /* KEY_MAX has room for all that labels can be */
}

static void add_text(struct key *key, const char *text)
{
    const size_t len = strlen(text);

    memcpy(key->text + key->len, text, len);
    key->len += len;
}

/* A label's value between quotes: always UTF-8, whatever came, or no reader takes any of it. */
static void add_escaped(struct key *key, const char *value)
{
    const char *p = value;

    for (size_t left = LABEL_MAX; *p != '\0' && left > 0;) {
        const size_t len = ccm_text_utf8_len((const unsigned char *)p);

        if (len > left) {
            break;
        }
        if (len > 1) {
            memcpy(key->text + key->len, p, len);
            key->len += len;
        } else if (*p == '\n') {
            add_text(key, "\\n");
        } else if (*p == '"' || *p == '\\') {
            add_char(key, '\\');
            add_char(key, *p);
        } else {
            add_char(key, len == 0 ? '?' : (unsigned char)*p < ' ' ? ' ' : *p);
        }
        p += len == 0 ? 1 : len;
        left -= len == 0 ? 1 : len;
    }
}

/* Whether the metric has this label itself. */
static bool family_has_label(const struct family *family, const char *label)
{
    for (size_t i = 0; i < family->label_count; i++) {
        if (strcmp(family->labels[i], label) == 0) {
            return true;
        }
    }
    return false;
}

static void make_key(const struct family *family, const char *plugin, const char *const *values,
                     struct key *key)
{
    key->len = 0;
    if (plugin != NULL && !family_has_label(family, "plugin")) {
        add_text(key, "plugin=\"");
        add_escaped(key, plugin);
        add_char(key, '"');
    }
    for (size_t i = 0; i < family->label_count; i++) {
        if (key->len > 0) {
            add_char(key, ',');
        }
        add_text(key, family->labels[i]);
        add_text(key, "=\"");
        add_escaped(key, values == NULL || values[i] == NULL ? "" : values[i]);
        add_char(key, '"');
    }
    key->text[key->len] = '\0';
}

static struct series *series_new(const struct family *family)
{
    struct series *series = calloc(1, sizeof(*series));

    if (series == NULL || family->type != CCM_METRIC_HISTOGRAM) {
        return series;
    }
    series->buckets = calloc(family->bound_count + 1, sizeof(*series->buckets));
    if (series->buckets == NULL) {
        free(series);
        return NULL;
    }
    return series;
}

static int series_locked(struct ccm_metrics *metrics, struct family *family, const char *plugin,
                         const char *const *values, struct series **ret)
{
    struct key key;

    make_key(family, plugin, values, &key);
    *ret = ccm_strmap_get(family->series, key.text);
    if (*ret != NULL) {
        return 0;
    }
    if (ccm_strmap_len(family->series) >= CCM_METRICS_SERIES_MAX) {
        metrics->dropped++;
        return -ENOSPC;
    }

    struct series *series = series_new(family);

    if (series == NULL || ccm_strmap_set(family->series, key.text, series) < 0) {
        if (series != NULL) {
            series_free(series);
        }
        return -ENOMEM;
    }
    *ret = series;
    return 0;
}

static void series_add_sample(const struct family *family, struct series *series, double value)
{
    size_t at = 0;

    while (at < family->bound_count && value > family->bounds[at]) {
        at++;
    }
    series->buckets[at]++;
    series->value += value;
    series->count++;
}

static int metrics_record_value(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                                const char *plugin, const char *const *values, double value,
                                bool set)
{
    struct family *family = NULL;
    struct series *series = NULL;

    if (metrics == NULL) {
        return 0;
    }
    if (!isfinite(value) || (metric->type == CCM_METRIC_COUNTER && value < 0)) {
        return -EINVAL;
    }
    ccm_lock(&metrics->lock);

    int r = family_locked(metrics, metric, &family);

    if (r == 0) {
        r = series_locked(metrics, family, plugin, values, &series);
    }
    if (r == 0 && family->type == CCM_METRIC_HISTOGRAM) {
        series_add_sample(family, series, value);
    } else if (r == 0) {
        series->value = set || family->type == CCM_METRIC_GAUGE ? value : series->value + value;
    }
    ccm_unlock(&metrics->lock);
    return r;
}

int ccm_metrics_record(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                       const char *const *values, double value)
{
    return metrics_record_value(metrics, metric, NULL, values, value, false);
}

int ccm_metrics_record_of(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                          const char *plugin, const char *const *values, double value)
{
    return metrics_record_value(metrics, metric, plugin, values, value, false);
}

int ccm_metrics_set(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                    const char *const *values, double value)
{
    return metrics_record_value(metrics, metric, NULL, values, value, true);
}

/* --- text --- */

/* The shortest text that reads back as the same number, within what people want to see. */
static void add_number(struct ccm_buf *out, double value)
{
    char text[32];

    for (int digits = 6; digits <= 17; digits++) {
        ccm_text_printf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    ccm_buf_adds(out, text);
}

static void add_line(struct ccm_buf *out, const char *name, const char *suffix, const char *labels,
                     double value)
{
    ccm_buf_addf(out, "%s%s", name, suffix);
    if (labels[0] != '\0') {
        ccm_buf_addf(out, "{%s}", labels);
    }
    ccm_buf_addc(out, ' ');
    add_number(out, value);
    ccm_buf_addc(out, '\n');
}

static void write_histogram(const struct family *family, const char *labels,
                            const struct series *series, struct ccm_buf *out)
{
    const char *comma = labels[0] == '\0' ? "" : ",";
    uint64_t sum = 0;

    for (size_t i = 0; i <= family->bound_count; i++) {
        sum += series->buckets[i];
        ccm_buf_addf(out, "%s_bucket{%s%sle=\"", family->name, labels, comma);
        if (i < family->bound_count) {
            add_number(out, family->bounds[i]);
        } else {
            ccm_buf_adds(out, "+Inf");
        }
        ccm_buf_adds(out, "\"} ");
        add_number(out, (double)sum);
        ccm_buf_addc(out, '\n');
    }
    add_line(out, family->name, "_sum", labels, series->value);
    add_line(out, family->name, "_count", labels, (double)series->count);
}

static void write_family(const struct family *family, struct ccm_buf *out)
{
    static const char *const types[] = { "", "counter", "gauge", "histogram" };
    const char *labels = NULL;
    void *cursor = NULL;
    void *value = NULL;

    ccm_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
                 types[family->type]);
    while (ccm_strmap_next(family->series, &cursor, &labels, &value)) {
        const struct series *series = value;

        if (family->type == CCM_METRIC_HISTOGRAM) {
            write_histogram(family, labels, series, out);
        } else {
            add_line(out, family->name, "", labels, series->value);
        }
    }
}

static int by_name(const void *a, const void *b)
{
    const struct family *const *x = a;
    const struct family *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

void ccm_metrics_write(struct ccm_metrics *metrics, struct ccm_buf *out)
{
    ccm_lock(&metrics->lock);

    const size_t count = ccm_strmap_len(metrics->families);
    CCM_CLEANUP(ccm_freep) struct family **sorted = calloc(count + 1, sizeof(struct family *));
    void *cursor = NULL;
    void *value = NULL;
    size_t len = 0;

    while (sorted != NULL && ccm_strmap_next(metrics->families, &cursor, NULL, &value)) {
        sorted[len++] = value;
    }
    if (len > 0) {
        qsort(sorted, len, sizeof(*sorted), by_name);
    }
    for (size_t i = 0; i < len; i++) {
        write_family(sorted[i], out);
    }
    ccm_buf_adds(out, "# HELP ccmd_metrics_dropped_total Values of metrics with too many "
                      "combinations of labels.\n# TYPE ccmd_metrics_dropped_total counter\n");
    add_line(out, "ccmd_metrics_dropped_total", "", "", (double)metrics->dropped);
    ccm_unlock(&metrics->lock);
}
