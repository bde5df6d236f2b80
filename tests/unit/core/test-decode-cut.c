/* How much of a Service's annotations is kept. */
#include "kube/object/decode.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const keys[] = { "service.example/", NULL };
static const struct ccm_watch watch = { .kind = CCM_KIND_SERVICE, .keys = keys };
static const struct ccm_watch *const watches[] = { &watch, NULL };
static const struct kube_decode_kind service_kind = { .kind = CCM_KIND_SERVICE,
                                                      .watches = watches };

static const struct ccm_object *decode_text(const char *text)
{
    struct kube_builder *builder = kube_builder_new();
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;

    assert_non_null(builder);
    assert_int_equal(kube_decode(builder, &service_kind, text, strlen(text), &object, &err), 0);
    kube_builder_free(builder);
    return object;
}

/* Whoever may write a Service decides how large it is, but not how much memory it takes here. */
static void test_services_that_nobody_serves(void **state)
{
    static const struct {
        const char *head;
        size_t value; /* bytes of annotation a */
        size_t kept;  /* annotations */
    } rows[] = {
        { "\"spec\":{\"type\":\"ClusterIP\"},\"metadata\":{", 1024, 2 },
        { "\"spec\":{\"type\":\"ClusterIP\"},\"metadata\":{", 1025, 1 },
        { "\"metadata\":{", 250000, 1 },
        { "\"metadata\":{\"finalizers\":[\"a/b\"],", 250000, 2 },
        { "\"spec\":{\"type\":\"LoadBalancer\"},\"metadata\":{", 250000, 2 },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_freep) char *value = calloc(1, rows[i].value + 1);
        CCM_CLEANUP(ccm_freep) char *text = NULL;
        const struct ccm_object *object = NULL;

        assert_non_null(value);
        memset(value, 'x', rows[i].value);
        text = ccm_text_format("{%s\"name\":\"n\",\"annotations\":{\"a\":\"%s\",\"b\":\"\"}}}",
                               rows[i].head, value);
        assert_non_null(text);
        object = decode_text(text);
        assert_int_equal(object->annotation_count, rows[i].kept);
        assert_null(object->too_large);
        kube_object_unref(object);
    }
}

/* `count` annotations "KEY0": "xxx", "KEY1": ... of a served Service, and behind them
 * service.example/z. */
static const struct ccm_object *decode_annotations(const char *key, size_t count, size_t len)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = KUBE_DECODE_MAX_TEXT };
    CCM_CLEANUP(ccm_freep) char *value = calloc(1, len + 1);

    assert_non_null(value);
    memset(value, 'x', len);
    ccm_buf_adds(&text, "{\"spec\":{\"type\":\"LoadBalancer\"},\"metadata\":{\"name\":\"n\","
                        "\"annotations\":{");
    for (size_t i = 0; i < count; i++) {
        ccm_buf_addf(&text, "\"%s%zu\":\"%s\",", key, i, value);
    }
    ccm_buf_adds(&text, "\"service.example/z\":\"1\"}}}");
    return decode_text(ccm_buf_str(&text));
}

/* What a served Service keeps of its annotations takes at most 48 KiB, and only those that plugins
 * declare make it too large. These stay, wherever they stand. */
static void test_annotations_of_a_served_service(void **state)
{
    static const struct {
        const char *key;
        size_t count;
        size_t len;
        size_t kept; /* with service.example/z */
        size_t longest;
        bool too_large;
    } rows[] = {
        { "service.example/a", 1, 16384, 2, 16384, false },
        { "service.example/a", 1, 16385, 2, 16385, false },
        { "service.example/a", 1, 255 * 1024, 2, 16388, false }, /* it stays too long */
        { "a", 60, 4096, 1, 0, false },                          /* no controller goes by them */
        { "kubectl.kubernetes.io/a", 60, 4096, 1, 0, false },
        { "example.kubernetes.io/a", 11, 4096, 12, 4096, false },
        { "example.kubernetes.io/a", 60, 4096, 12, 4096, false }, /* as many as there is room for */
        { "service.example/a", 11, 4096, 12, 4096, false },
        { "service.example/a", 60, 4096, 12, 4096, true },
        { "kubernetes.io/a", 4096, 0, 2645, 0, false },
        { "a", 4096, 0, 1, 0, false },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ccm_object *o = decode_annotations(rows[i].key, rows[i].count, rows[i].len);
        size_t longest = 0;

        for (uint64_t n = 0; n < o->annotation_count; n++) {
            const size_t len = strlen(o->annotations[n]->value);

            longest = len > longest && len > 1 ? len : longest;
        }
        assert_int_equal(o->annotation_count, rows[i].kept);
        assert_string_equal(ccm_object_annotation(o, "service.example/z"), "1");
        assert_int_equal(longest, rows[i].longest);
        assert_int_equal(o->too_large != NULL, rows[i].too_large);
        kube_object_unref(o);
    }
}

/* 16,000 bytes each of two annotations of others and, behind them, two that a plugin declares. */
static const struct ccm_object *decode_mix(char other)
{
    char others[16001] = "";
    char own[16001] = "";
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    memset(others, other, sizeof(others) - 1);
    memset(own, 'x', sizeof(own) - 1);
    text = ccm_text_format("{\"spec\":{\"type\":\"LoadBalancer\"},\"metadata\":{\"name\":\"n\","
                           "\"annotations\":{\"a.kubernetes.io/a\":\"%s\","
                           "\"a.kubernetes.io/b\":\"%s\",\"a.kubernetes.io/c\":\"1\","
                           "\"service.example/a\":\"%s\",\"service.example/b\":\"%s\"}}}",
                           own, others, own, own);
    assert_non_null(text);
    return decode_text(text);
}

/* Annotations of others take the room that is left, and a change of one that is left out is no
 * change. */
static void test_own_annotations_come_first(void **state)
{
    static const char *const kept[] = { "a.kubernetes.io/a", "a.kubernetes.io/c",
                                        "service.example/a", "service.example/b" };
    const char others[] = "yz";

    (void)state;
    for (size_t i = 0; others[i] != '\0'; i++) {
        const struct ccm_object *o = decode_mix(others[i]);

        assert_null(o->too_large);
        assert_int_equal(o->annotation_count, CCM_ARRAY_LEN(kept));
        for (size_t n = 0; n < CCM_ARRAY_LEN(kept); n++) {
            assert_string_equal(o->annotations[n]->key, kept[n]);
            assert_null(strchr(o->annotations[n]->value, others[i]));
        }
        kube_object_unref(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_services_that_nobody_serves),
        cmocka_unit_test(test_annotations_of_a_served_service),
        cmocka_unit_test(test_own_annotations_come_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
