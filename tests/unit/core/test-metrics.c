/* Metrics: what is recorded is what is written, in the text format of Prometheus. */
#include "util/metrics.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const one_label[] = { "kind", NULL };
static const double bounds[] = { 1, 5 };
static const struct ccm_metric counter = {
    .type = CCM_METRIC_COUNTER, .name = "a_total", .help = "Things.", .labels = one_label
};
static const struct ccm_metric gauge = { .type = CCM_METRIC_GAUGE, .name = "b", .help = "Now." };
static const struct ccm_metric histogram = { .type = CCM_METRIC_HISTOGRAM,
                                             .name = "c_seconds",
                                             .help = "Time.",
                                             .labels = one_label,
                                             .buckets = bounds,
                                             .bucket_count = 2 };

static void metrics_freep(struct ccm_metrics **metrics)
{
    ccm_metrics_free(*metrics);
}

static void expect(struct ccm_metrics *metrics, const char *text)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf out = { .max = 65536 };

    ccm_metrics_write(metrics, &out);
    assert_non_null(strstr(ccm_buf_str(&out), text));
}

static int put(struct ccm_metrics *metrics, const struct ccm_metric *metric, const char *label,
               double value)
{
    const char *const values[] = { label };

    return ccm_metrics_record(metrics, metric, values, value);
}

static void test_text(void **state)
{
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();

    (void)state;
    assert_int_equal(put(metrics, &counter, "x", 1), 0);
    assert_int_equal(put(metrics, &counter, "x", 2.5), 0);
    assert_int_equal(put(metrics, &counter, "a\"b\\c\nd", 1), 0);
    assert_int_equal(put(metrics, &gauge, NULL, 7), 0);
    assert_int_equal(put(metrics, &gauge, NULL, -3), 0);
    assert_int_equal(put(metrics, &histogram, "x", 1), 0);
    assert_int_equal(put(metrics, &histogram, "x", 4), 0);
    assert_int_equal(put(metrics, &histogram, "x", 100), 0);
    expect(metrics, "# HELP a_total Things.\n# TYPE a_total counter\na_total{kind=\"x\"} 3.5\n"
                    "a_total{kind=\"a\\\"b\\\\c\\nd\"} 1\n# HELP b Now.\n# TYPE b gauge\nb -3\n");
    expect(metrics, "c_seconds_bucket{kind=\"x\",le=\"1\"} 1\n"
                    "c_seconds_bucket{kind=\"x\",le=\"5\"} 2\n"
                    "c_seconds_bucket{kind=\"x\",le=\"+Inf\"} 3\n"
                    "c_seconds_sum{kind=\"x\"} 105\nc_seconds_count{kind=\"x\"} 3\n");
    expect(metrics, "ccmd_metrics_dropped_total 0\n");
}

static void test_set(void **state)
{
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();
    const char *const values[] = { "x" };

    (void)state;
    assert_int_equal(put(metrics, &counter, "x", 1), 0);
    assert_int_equal(ccm_metrics_set(metrics, &counter, values, 1234567), 0);
    expect(metrics, "a_total{kind=\"x\"} 1234567\n");
}

static void test_refused(void **state)
{
    static const char *const many[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", NULL };
    static const char *const bad_label[] = { "a b", NULL };
    static const char *const reserved[] = { "le", NULL };
    static const char *const internal[] = { "__name", NULL };
    static const char *const long_label[] = {
        "a234567890123456789012345678901234567890123456789012345678901234567890", NULL
    };
    static const double falling[] = { 2, 1 };
    const struct ccm_metric rows[] = {
        { .type = CCM_METRIC_COUNTER, .name = "1a" },
        { .type = CCM_METRIC_COUNTER, .name = "" },
        { .type = CCM_METRIC_COUNTER },
        { .type = 9, .name = "a" },
        { .type = CCM_METRIC_GAUGE, .name = "a", .labels = many },
        { .type = CCM_METRIC_GAUGE, .name = "a", .labels = bad_label },
        { .type = CCM_METRIC_HISTOGRAM, .name = "a", .buckets = falling, .bucket_count = 2 },
        { .type = CCM_METRIC_HISTOGRAM, .name = "a", .buckets = falling, .bucket_count = 65 },
        { .type = CCM_METRIC_HISTOGRAM, .name = "a", .bucket_count = 1 },
        { .type = CCM_METRIC_HISTOGRAM, .name = "a", .labels = reserved },
        { .type = CCM_METRIC_GAUGE, .name = "a", .labels = internal },
        { .type = CCM_METRIC_GAUGE, .name = "a", .labels = long_label },
    };
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        assert_int_equal(ccm_metrics_record(metrics, &rows[i], NULL, 1), -EINVAL);
    }
    assert_int_equal(put(metrics, &counter, "x", -1), -EINVAL);
    assert_int_equal(put(metrics, &gauge, "x", 1.0 / 0.0), -EINVAL);
    /* The same name for something else. */
    assert_int_equal(put(metrics, &counter, "x", 1), 0);
    const struct ccm_metric other = { .type = CCM_METRIC_GAUGE,
                                      .name = "a_total",
                                      .labels = one_label };
    const struct ccm_metric unlabelled = { .type = CCM_METRIC_COUNTER, .name = "a_total" };

    assert_int_equal(put(metrics, &other, "x", 1), -EINVAL);
    assert_int_equal(put(metrics, &unlabelled, "x", 1), -EINVAL);
    expect(metrics, "a_total{kind=\"x\"} 1\n");
    assert_int_equal(ccm_metrics_record(NULL, &counter, NULL, 1), 0);
}

static void test_too_many_labels(void **state)
{
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();
    char label[32];

    (void)state;
    for (int i = 0; i < CCM_METRICS_SERIES_MAX + 5; i++) {
        ccm_text_printf(label, sizeof(label), "%d", i);
        assert_int_equal(put(metrics, &counter, label, 1),
                         i < CCM_METRICS_SERIES_MAX ? 0 : -ENOSPC);
    }
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf out = { .max = 1 << 20 };

    ccm_metrics_write(metrics, &out);
    assert_non_null(strstr(ccm_buf_str(&out), "ccmd_metrics_dropped_total 5\n"));
}

static void test_other_buckets(void **state)
{
    static const double others[] = { 1, 6 };
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();
    struct ccm_metric changed = histogram;

    (void)state;
    changed.buckets = others;
    assert_int_equal(put(metrics, &histogram, "x", 1), 0);
    assert_int_equal(put(metrics, &changed, "x", 1), -EINVAL);
    changed.bucket_count = 1;
    assert_int_equal(put(metrics, &changed, "x", 1), -EINVAL);
    expect(metrics, "c_seconds_count{kind=\"x\"} 1\n");
}

/* One bad byte, and a reader would refuse all of it. */
static void test_what_no_reader_takes(void **state)
{
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();
    const struct ccm_metric odd = { .type = CCM_METRIC_GAUGE, .name = "d", .help = "a\nb\\c" };
    char many[400];

    (void)state;
    assert_int_equal(put(metrics, &counter, "a\xff\xc3(\xc3\xa4\x01", 1), 0);
    assert_int_equal(put(metrics, &odd, NULL, 1), 0);
    memset(many, '"', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    assert_int_equal(put(metrics, &counter, many, 1), 0);
    memset(many, 'a', 127);
    memcpy(many + 127, "\xc3\xa4", 3); /* would be cut in two */
    assert_int_equal(put(metrics, &counter, many, 1), 0);
    expect(metrics, "a_total{kind=\"a?\?(\xc3\xa4 \"} 1\n");
    expect(metrics, "aaa\"} 1\n");
    expect(metrics, "\\\"\\\"\"} 1\n");
    expect(metrics, "# HELP d a b c\n");
}

#define THREADS 4
#define ROUNDS  10000

static void *hammer(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        (void)put(arg, &counter, i % 2 == 0 ? "even" : "odd", 1); /* the sum tells */
    }
    return NULL;
}

static void test_threads(void **state)
{
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, metrics), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    expect(metrics, "a_total{kind=\"even\"} 20000\na_total{kind=\"odd\"} 20000\n");
}

/* The hot path of every call: a value of a series that exists takes nothing from the heap. */
static void test_no_memory_per_value(void **state)
{
    CCM_CLEANUP(metrics_freep) struct ccm_metrics *metrics = ccm_metrics_new();

    (void)state;
    assert_int_equal(put(metrics, &counter, "x", 1), 0);
    assert_int_equal(put(metrics, &histogram, "x", 1), 0);

    const size_t before = mallinfo2().uordblks;

    for (int i = 0; i < 1000; i++) {
        assert_int_equal(put(metrics, &counter, "x", 1), 0);
        assert_int_equal(put(metrics, &histogram, "x", 1), 0);
        assert_int_equal(put(metrics, &counter, i % 2 == 0 ? "x" : "y", 1), 0);
    }
    assert_true(mallinfo2().uordblks - before < 512); /* the one series of "y" */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many_labels),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_other_buckets),
        cmocka_unit_test(test_what_no_reader_takes),
        cmocka_unit_test(test_no_memory_per_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
