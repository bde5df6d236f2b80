/* The hash label: what changes it, what does not, and what a label of another form means. */
#include "check.h"
#include "lbc/names.h"
#include "lbc/service/hash.h"
#include "objects.h"
#include "util/attr.h"
#include "util/text.h"

#include <ctype.h>
#include <string.h>

static void hash_of(const struct ccm_service *service, char ret[LBC_HASH_TEXT])
{
    assert_int_equal(lbc_hash_service(service, ret), 0);
}

static struct ccm_service *base_service(void)
{
    struct ccm_service *service = obj_service();

    obj_port(service, "http", "TCP", 80, "8080", 30080);
    obj_annotate(&service->meta, P "bandwidth", "45");
    obj_range(service, "10.0.0.0/8");
    return service;
}

/* The only port of the service, in memory of its own. */
static struct ccm_service_port *own_port(struct ccm_service *service)
{
    obj_port(service, "http", "TCP", 80, "8080", 30080);
    service->ports++;
    service->port_count = 1;
    return (struct ccm_service_port *)(uintptr_t)service->ports[0]; /* obj_port() allocated it */
}

/* --- what counts --- */

static void edit_port_name(struct ccm_service *service)
{
    own_port(service)->name = "web";
}

static void edit_protocol(struct ccm_service *service)
{
    own_port(service)->protocol = "UDP";
}

static void edit_app_protocol(struct ccm_service *service)
{
    own_port(service)->app_protocol = "h2c";
}

static void edit_port(struct ccm_service *service)
{
    own_port(service)->port = 81;
}

static void edit_target_port(struct ccm_service *service)
{
    own_port(service)->target_port = 8081;
}

static void edit_target_port_name(struct ccm_service *service)
{
    own_port(service)->target_port_name = "http";
}

/* A number as a name is not that number. */
static void edit_target_port_as_name(struct ccm_service *service)
{
    own_port(service)->target_port_name = "8080";
}

static void edit_node_port(struct ccm_service *service)
{
    own_port(service)->node_port = 30081;
}

static void edit_ports(struct ccm_service *service)
{
    obj_port(service, "more", "TCP", 443, "8443", 30443);
}

static void edit_no_ports(struct ccm_service *service)
{
    service->port_count = 0;
}

static void edit_type(struct ccm_service *service)
{
    service->type = "ClusterIP";
}

static void edit_policy(struct ccm_service *service)
{
    service->external_traffic_policy = "Local";
}

static void edit_class(struct ccm_service *service)
{
    service->load_balancer_class = "alibabacloud.com/nlb";
}

static void edit_annotation(struct ccm_service *service)
{
    obj_annotate(&service->meta, P "bandwidth", "46");
}

static void edit_annotation_key(struct ccm_service *service)
{
    obj_annotate(&service->meta, P "bandwidth", NULL);
    obj_annotate(&service->meta, P "bandwidths", "45");
}

static void edit_more_annotations(struct ccm_service *service)
{
    obj_annotate(&service->meta, "example.com/note", "x");
}

static void edit_deletion(struct ccm_service *service)
{
    service->meta.deleted_ms = INT64_C(1704164645000);
}

static void edit_ranges(struct ccm_service *service)
{
    obj_range(service, "10.1.0.0/16");
}

static void edit_no_ranges(struct ccm_service *service)
{
    service->source_range_count = 0;
}

static void test_what_counts(void **state)
{
    static void (*const edits[])(struct ccm_service *) = {
        edit_port_name,
        edit_protocol,
        edit_app_protocol,
        edit_port,
        edit_target_port,
        edit_target_port_name,
        edit_target_port_as_name,
        edit_node_port,
        edit_ports,
        edit_no_ports,
        edit_type,
        edit_policy,
        edit_class,
        edit_annotation,
        edit_annotation_key,
        edit_more_annotations,
        edit_deletion,
        edit_ranges,
        edit_no_ranges,
    };
    char hashes[CCM_ARRAY_LEN(edits) + 1][LBC_HASH_TEXT];

    (void)state;
    hash_of(base_service(), hashes[CCM_ARRAY_LEN(edits)]);
    for (size_t i = 0; i < CCM_ARRAY_LEN(edits); i++) {
        struct ccm_service *service = base_service();

        edits[i](service);
        hash_of(service, hashes[i]);
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(hashes); i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(hashes[i], hashes[j]) == 0) {
                fail_msg("edits %zu and %zu have the same hash", i, j);
            }
        }
    }
}

/* --- what does not count --- */

static void test_what_does_not_count(void **state)
{
    struct ccm_service *service = base_service();
    char before[LBC_HASH_TEXT];
    char after[LBC_HASH_TEXT];

    (void)state;
    hash_of(service, before);
    obj_label(&service->meta, "a", "b");
    obj_finalizer(&service->meta, "example.com/other");
    obj_annotate(&service->meta, LBC_HASH_IGNORED_KEY, "x");
    obj_annotate(&service->meta, P "name", "");
    obj_ingress(service, "192.0.2.1", "");
    service->meta.uid = "another";
    service->meta.resource_version = "2";
    service->publish_not_ready_addresses = 1;
    service->session_affinity = "ClientIP";
    service->load_balancer_ip = "192.0.2.1";
    service->health_check_node_port = 30001;
    hash_of(service, after);
    assert_string_equal(before, after);
}

/* Of members of objects; an object has its annotations sorted. */
static void test_order(void **state)
{
    static const char *const keys[] = { "example.com/b", "a", P "spec", "example.com/a" };
    struct ccm_service *forth = base_service();
    struct ccm_service *back = base_service();
    char before[LBC_HASH_TEXT];
    char after[LBC_HASH_TEXT];

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(keys); i++) {
        obj_annotate(&forth->meta, keys[i], "x");
        obj_annotate(&back->meta, keys[CCM_ARRAY_LEN(keys) - 1 - i], "x");
    }
    hash_of(forth, before);
    hash_of(back, after);
    assert_string_equal(before, after);
}

/* --- the form --- */

/* Bytes that could move from one text to the next, or be taken for a mark between texts. */
static void test_limits(void **state)
{
    static const char *const pairs[][4] = {
        { "a", "bc", NULL, NULL },        { "ab", "c", NULL, NULL },    { "a", "b", "c", "d" },
        { "a", "b+1:c1:d", NULL, NULL },  { "a", "b.0;.", NULL, NULL }, { "a", "1:b", NULL, NULL },
        { "a1:b", "1", NULL, NULL },      { "a", "b\n", NULL, NULL },   { "a", "b", "c", "d." },
        { "a", "b\xC3\xA9", NULL, NULL },
    };
    char hashes[CCM_ARRAY_LEN(pairs)][LBC_HASH_TEXT];

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(pairs); i++) {
        struct ccm_service *service = obj_service();

        obj_annotate(&service->meta, pairs[i][0], pairs[i][1]);
        if (pairs[i][2] != NULL) {
            obj_annotate(&service->meta, pairs[i][2], pairs[i][3]);
        }
        hash_of(service, hashes[i]);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(hashes[i], hashes[j]) == 0) {
                fail_msg("annotations %zu and %zu have the same hash", i, j);
            }
        }
    }
}

/* The same text in two neighbours is not the same Service. */
static void test_neighbours(void **state)
{
    struct ccm_service *one = obj_service();
    struct ccm_service *other = obj_service();
    char before[LBC_HASH_TEXT];
    char after[LBC_HASH_TEXT];

    (void)state;
    one->external_traffic_policy = "Local";
    one->load_balancer_class = "";
    other->external_traffic_policy = "";
    other->load_balancer_class = "Local";
    hash_of(one, before);
    hash_of(other, after);
    assert_string_not_equal(before, after);
}

/* Labels on Services hold these values: another one needs another LBC_HASH_FORM. */
static void test_values(void **state)
{
    struct ccm_service *service = obj_service();
    char text[LBC_HASH_TEXT];

    (void)state;
    obj_port(service, "http", "TCP", 80, "8080", 30080);
    hash_of(service, text);
    assert_string_equal(text, "v2-d5c12691b9c1e72bb8514a24a82f24e7cbfab978ad2a5dc4a2db6e69");
    obj_annotate(&service->meta, P "address-type", "intranet");
    obj_annotate(&service->meta, "k", "line1\nline2\n");
    obj_range(service, "10.0.0.0/8");
    hash_of(service, text);
    assert_string_equal(text, "v2-81a561e3009d195f5aa2d5bdc0689e838291cbde2534063a8b8e79bb");
}

/* A label value: at most 63 of [A-Za-z0-9_.-], with a letter or a digit at both ends. */
static void test_label(void **state)
{
    char text[LBC_HASH_TEXT];
    const size_t len = LBC_HASH_TEXT - 1;

    (void)state;
    hash_of(base_service(), text);
    assert_int_equal(strlen(text), len);
    assert_true(len <= 63);
    assert_true(isalnum((unsigned char)text[0]) && isalnum((unsigned char)text[len - 1]));
    assert_int_equal(
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"), len);
}

/* --- the label beside it --- */

struct label_case {
    const char *label; /* NULL = none, "" = the hash */
    enum lbc_hash_verdict want;
};

static void test_compare(void **state)
{
    static const struct label_case cases[] = {
        { NULL, LBC_HASH_OTHER },
        { "", LBC_HASH_SAME },
        { "v2-00000000000000000000000000000000000000000000000000000000", LBC_HASH_OTHER },
        { "ae0e4bf945da00bae686bdff884d8be29cfcd4ffb747b56f87341e8d", LBC_HASH_FOREIGN },
        { "v3-00000000000000000000000000000000000000000000000000000000", LBC_HASH_FOREIGN },
        { "x", LBC_HASH_FOREIGN },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct ccm_service *service = base_service();
        char hash[LBC_HASH_TEXT];

        hash_of(service, hash);
        obj_label(&service->meta, LBC_HASH_LABEL,
                  ccm_text_equal(cases[i].label, "") ? hash : cases[i].label);
        if (lbc_hash_compare(service, hash) != cases[i].want) {
            fail_msg("label %zu", i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_what_counts, obj_end),
        cmocka_unit_test_teardown(test_what_does_not_count, obj_end),
        cmocka_unit_test_teardown(test_order, obj_end),
        cmocka_unit_test_teardown(test_limits, obj_end),
        cmocka_unit_test_teardown(test_neighbours, obj_end),
        cmocka_unit_test_teardown(test_values, obj_end),
        cmocka_unit_test_teardown(test_label, obj_end),
        cmocka_unit_test_teardown(test_compare, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
