/* The hash label, byte for byte as earlier controllers wrote it. */
#include "check.h"
#include "lbc/service/goyaml.h"
#include "lbc/service/hash.h"
#include "objects.h"
#include "util/attr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(const struct ccm_service *service, const char *hash)
{
    char text[LBC_HASH_TEXT];

    assert_int_equal(lbc_hash_service(service, text), 0);
    assert_string_equal(text, hash);
}

static struct ccm_service *base(void)
{
    struct ccm_service *service = obj_service();

    obj_port(service, "http", "TCP", 80, "8080", 30080);
    return service;
}

static void test_plain(void **state)
{
    (void)state;
    expect(base(), "ae0e4bf945da00bae686bdff884d8be29cfcd4ffb747b56f87341e8d");
}

static void test_annotations(void **state)
{
    struct ccm_service *service = base();

    (void)state;
    obj_annotate(&service->meta, P "address-type", "intranet");
    obj_annotate(&service->meta, P "bandwidth", "45");
    obj_annotate(&service->meta, "k", "");
    expect(service, "c085791cd8b7fc94874fb40ed52058cee8347ff8dc486dc07d509739");
}

static void test_ranges(void **state)
{
    struct ccm_service *service = base();

    (void)state;
    service->external_traffic_policy = "Local";
    obj_range(service, "10.0.0.0/8");
    expect(service, "0fd4ba4b2078142db4d42c81193fe1d8e531893d6a0aa2f86c90b792");
}

static void test_quoting(void **state)
{
    struct ccm_service *service = obj_service();

    (void)state;
    obj_port(service, "a", "TCP", 443, "https", 30443);
    obj_port(service, "b", "UDP", 53, "53", 30053);
    obj_annotate(&service->meta, "a", "true");
    obj_annotate(&service->meta, "b", "on");
    obj_annotate(&service->meta, "c", "x: y");
    obj_annotate(&service->meta, "d", "line1\nline2\n");
    obj_annotate(&service->meta, "e", " lead");
    service->meta.deleted_ms = INT64_C(1704164645000);
    expect(service, "7a619525796b5f16416b1b985cba29219b5b00956bcd373f61969fd3");
}

static void test_what_counts(void **state)
{
    struct ccm_service *service = base();
    char before[LBC_HASH_TEXT];
    char after[LBC_HASH_TEXT];

    (void)state;
    assert_int_equal(lbc_hash_service(service, before), 0);
    obj_label(&service->meta, "a", "b");
    service->publish_not_ready_addresses = 1;
    service->session_affinity = "ClientIP";
    expect(service, before);
    obj_annotate(&service->meta, "a", "b");
    assert_int_equal(lbc_hash_service(service, after), 0);
    assert_string_not_equal(before, after);
}

static void expect_list(const char *json, const char *hash)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *list = NULL;
    char text[LBC_HASH_TEXT];

    assert_int_equal(ccm_json_parse(json, strlen(json), &list), 0);
    assert_int_equal(lbc_hash_list(list, text), 0);
    assert_string_equal(text, hash);
}

static void test_lists(void **state)
{
    (void)state;
    expect_list("[[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"OK\"},"
                "{\"type\":\"DiskFull\",\"reason\":\"OK\"}],{\"key\":\"value\"},false]",
                "0bca66e81b3124c0ea1c8a6e16c4a12092546c00bb0e75db53de5c2b");
    expect_list("[[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"OK\"}],"
                "{\"alibabacloud.com/reconcile.hash\":\"x\"},false]",
                "03e8cc3ccf0b0b0bff80371bb738d5e8fa755e9da3d022a7617ce612");
}

/* What the controller before made of 400 lists, one per line: hash, blank, list. Long lines that it
 * folds, texts that look like numbers, breaks of all kinds, long keys. */
static void test_vectors(void **state)
{
    FILE *file = fopen(HASH_VECTORS, "r");
    char *line = NULL;
    size_t cap = 0;
    size_t count = 0;

    (void)state;
    assert_non_null(file);
    for (ssize_t len = getline(&line, &cap, file); len > 0; len = getline(&line, &cap, file)) {
        assert_true(len > LBC_HASH_TEXT);
        line[strcspn(line, "\n")] = '\0';
        line[LBC_HASH_TEXT - 1] = '\0';
        expect_list(line + LBC_HASH_TEXT, line);
        count++;
    }
    assert_int_equal(count, 400);
    free(line);
    assert_int_equal(fclose(file), 0);
}

static void test_no_list(void **state)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *map = cJSON_CreateObject();
    char text[LBC_HASH_TEXT];

    (void)state;
    assert_int_equal(lbc_hash_list(map, text), -EINVAL);
}

static void test_key_order(void **state)
{
    static const char *const sorted[] = { "1",   "2",  "10",  "a-1", "a-2", "a-10", "a.b",
                                          "a/b", "ab", "abc", "b",   "b1",  "b01" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(sorted); i++) {
        for (size_t j = 0; j < CCM_ARRAY_LEN(sorted); j++) {
            const int order = lbc_yaml_compare_keys(sorted[i], sorted[j]);

            if ((i < j) != (order < 0) || (i == j) != (order == 0)) {
                fail_msg("%s against %s: %d", sorted[i], sorted[j], order);
            }
        }
    }
}

static void test_resolves(void **state)
{
    static const char *const other[] = { "true",
                                         "yes",
                                         "N",
                                         "~",
                                         "12",
                                         "-1_000",
                                         "0x1F",
                                         "1.5",
                                         ".5",
                                         "1e3",
                                         "1:30",
                                         "2024-01-02",
                                         "2024-01-02T03:04:05Z",
                                         "2024-1-2 3:4:5",
                                         ".inf",
                                         "" };
    static const char *const text[] = { "hello", "TRUEish", "1.2.3", "10.0.0.0/8", "0x", "1e",
                                        "-",     "2024-01", "12h",   "a1",         "." };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(other); i++) {
        if (!lbc_yaml_resolves(other[i])) {
            fail_msg("'%s' is not plain text", other[i]);
        }
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(text); i++) {
        if (lbc_yaml_resolves(text[i])) {
            fail_msg("'%s' is plain text", text[i]);
        }
    }
}

struct yaml_case {
    const char *json;
    const char *yaml;
};

static void test_yaml(void **state)
{
    static const struct yaml_case cases[] = {
        { "[\"it's\",\"- a\",\"a #b\",\"#a\",\"a\\tb\",\"*a\"]",
          "- it's\n- '- a'\n- 'a #b'\n- '#a'\n- \"a\\tb\"\n- '*a'\n" },
        { "{\"a\":\"x\\ny\",\"b\":\"x\\n\\n\",\"c\":\" x\\n\",\"d\":\"x \\ny\"}",
          "a: |-\n  x\n  y\nb: |+\n  x\n\nc: |2\n   x\nd: \"x \\ny\"\n" },
        { "{\"m\":{\"k\":[1,{\"x\":null}],\"e\":[],\"f\":{}},\"t\":true}",
          "m:\n  e: []\n  f: {}\n  k:\n  - 1\n  - x: null\nt: true\n" },
        { "[\"\\u00e9\",\"\\ud83d\\ude00\"]", "- \xC3\xA9\n- \"\\U0001F600\"\n" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 4096 };

        assert_int_equal(ccm_json_parse(cases[i].json, strlen(cases[i].json), &json), 0);
        assert_int_equal(lbc_yaml_emit(&buf, json), 0);
        assert_string_equal(ccm_buf_str(&buf), cases[i].yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_plain, obj_end),
        cmocka_unit_test_teardown(test_annotations, obj_end),
        cmocka_unit_test_teardown(test_ranges, obj_end),
        cmocka_unit_test_teardown(test_quoting, obj_end),
        cmocka_unit_test_teardown(test_what_counts, obj_end),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_no_list),
        cmocka_unit_test(test_key_order),
        cmocka_unit_test(test_resolves),
        cmocka_unit_test(test_yaml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
