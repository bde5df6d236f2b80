/* Names that objects share: counted, found again, gone with the last of their users. */
#include "kube/object/decode.h"
#include "kube/object/names.h"
#include "util/text.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_counts(void **state)
{
    struct kube_names *names = kube_names_new();
    const char *a = kube_names_intern(names, "node-a");
    const char *b = kube_names_intern(names, "node-b");
    const char *again = kube_names_intern(names, "node-a");

    (void)state;
    assert_ptr_equal(a, again);
    assert_string_equal(b, "node-b");
    assert_int_equal(kube_names_len(names), 2);
    kube_names_drop(names, a);
    assert_string_equal(again, "node-a");
    kube_names_drop(names, again);
    assert_int_equal(kube_names_len(names), 1);
    kube_names_drop(names, b);
    assert_int_equal(kube_names_len(names), 0);
    assert_ptr_equal(kube_names_ref(names), names);
    kube_names_unref(names);
    kube_names_unref(names);
    kube_names_unref(NULL);
}

static int decode_endpoints(struct kube_builder *builder, const char *endpoints,
                            const struct ccm_endpoint_slice **ret)
{
    static const struct kube_decode_kind kind = { .kind = CCM_KIND_ENDPOINT_SLICE };
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;
    char text[1024];

    ccm_text_printf(text, sizeof(text), "{\"metadata\":{\"name\":\"n\"},\"endpoints\":[%s]}",
                    endpoints);
    const int r = kube_decode(builder, &kind, text, strlen(text), &object, &err);

    *ret = (const struct ccm_endpoint_slice *)(const void *)object;
    return r;
}

#define AT(ip, node) "{\"addresses\":[\"" ip "\"],\"nodeName\":\"" node "\"}"

/* Slices have them in common, and may outlive each other and the builder. */
static void test_slices(void **state)
{
    struct kube_builder *builder = kube_builder_new();
    const struct ccm_endpoint_slice *one = NULL;
    const struct ccm_endpoint_slice *two = NULL;

    (void)state;
    assert_int_equal(
        decode_endpoints(builder,
                         AT("10.0.0.1", "a") "," AT("10.0.0.2", "b") "," AT("10.0.0.3", "a"), &one),
        0);
    assert_int_equal(decode_endpoints(builder, AT("10.0.0.4", "a") "," AT("10.0.0.5", ""), &two),
                     0);
    kube_builder_free(builder);
    assert_ptr_equal(one->endpoints[0]->node_name, one->endpoints[2]->node_name);
    assert_ptr_equal(one->endpoints[0]->node_name, two->endpoints[0]->node_name);
    assert_string_equal(two->endpoints[1]->node_name, "");
    kube_object_unref(&one->meta);
    assert_string_equal(two->endpoints[0]->node_name, "a");
    kube_object_unref(&two->meta);
}

/* What was taken for an object that cannot be is given back (else the leak checker complains), and
 * the next object is as ever. */
static void test_broken(void **state)
{
    struct kube_builder *builder = kube_builder_new();
    const struct ccm_endpoint_slice *slice = NULL;

    (void)state;
    assert_int_equal(
        decode_endpoints(builder, AT("10.0.0.1", "a") "," AT("10.0.0.2", "b") ",{}", &slice),
        -EBADMSG);
    assert_null(slice);
    assert_int_equal(decode_endpoints(builder, AT("10.0.0.1", "b"), &slice), 0);
    assert_string_equal(slice->endpoints[0]->node_name, "b");
    kube_object_unref(&slice->meta);
    kube_builder_free(builder);
}

#define ROUNDS 20000

static void *take_and_drop(void *names)
{
    static const char *const texts[] = { "a", "b", "c" };

    for (size_t i = 0; i < ROUNDS; i++) {
        const char *text = texts[i % 3];
        const char *name = kube_names_intern(names, text);

        if (name == NULL || strcmp(name, text) != 0) {
            return names;
        }
        kube_names_drop(names, name);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct kube_names *names = kube_names_new();
    pthread_t threads[3];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_drop, names), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        void *bad = names;

        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    assert_int_equal(kube_names_len(names), 0);
    kube_names_unref(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
