/* Indexes of raw objects: what they say, what they cost, and memory that runs out while they are
 * worked out. */
#include "kube/cache/store.h"
#include "kube/object/decode.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct kube_decode_kind kind = { .kind = CCM_KIND_RAW, .api_version = "v1" };
static const struct ccm_index by_path = { .struct_size = sizeof(by_path),
                                          .name = "path",
                                          .path = "spec.names" };
static const struct kube_index index_by_path = { .name = "path",
                                                 .fn = kube_index_raw,
                                                 .raw = &by_path };

struct world {
    struct kube_builder *builder;
    struct kube_store *store;
};

static int fixture_begin(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return -1;
    }
    w->builder = kube_builder_new();
    w->store = kube_store_new(&index_by_path, 1);
    *state = w;
    return w->builder == NULL || w->store == NULL ? -1 : 0;
}

static int fixture_end(void **state)
{
    struct world *w = *state;

    kube_store_free(w->store);
    kube_builder_free(w->builder);
    free(w);
    return 0;
}

/* --- memory of the JSON tree ---------------------------------------------------------------- */

static size_t tree_nodes;  /* allocations for trees so far */
static bool tree_is_short; /* no memory for any other */

static void *tree_malloc(size_t size)
{
    tree_nodes++;
    return tree_is_short ? NULL : malloc(size);
}

static void tree_watch(bool on)
{
    cJSON_Hooks hooks = { tree_malloc, free };

    cJSON_InitHooks(on ? &hooks : NULL);
    tree_nodes = 0;
    tree_is_short = false;
}

/* --- objects -------------------------------------------------------------------------------- */

/* "d/a" with these names, as JSON. The caller owns the reference. */
static const struct ccm_object *raw_build(struct world *w, const char *version, const char *names)
{
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"uid\":\"u\","
                                 "\"resourceVersion\":\"%s\"},\"spec\":{\"names\":%s}}",
                                 version, names);
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;

    assert_non_null(text);
    assert_int_equal(kube_decode(w->builder, &kind, text, strlen(text), &object, &err), 0);
    return object;
}

static int world_put_object(struct world *w, const char *version, const char *names)
{
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = raw_build(w, version, names);

    return kube_store_put(w->store, object, NULL, NULL);
}

/* How many are found by this value, with what version. */
static void world_expect_found(struct world *w, const char *value, size_t count,
                               const char *version)
{
    const struct ccm_object *const *found = NULL;
    size_t got = 0;

    assert_int_equal(kube_store_list(w->store, "path", value, &found, &got), 0);
    assert_int_equal(got, count);
    for (size_t i = 0; i < got; i++) {
        assert_string_equal(found[i]->resource_version, version);
    }
    kube_store_list_free(found, got);
}

/* --- tests ---------------------------------------------------------------------------------- */

static void test_values(void **state)
{
    static const struct {
        const char *names;
        const char *value;
        size_t count;
    } rows[] = {
        { "\"x\"", "x", 1 },
        { "[\"x\",\"y\"]", "y", 1 },
        { "[\"x\",\"x\"]", "x", 1 },
        { "[\"x\",\"y\",\"x\"]", "x", 1 },
        { "[[\"x\"],7,true]", "7", 1 },
        { "[[\"x\"],7,true]", "true", 1 },
        { "{\"x\":1}", "x", 0 },
        { "null", "null", 0 },
        { "\"\"", "", 0 },
        { "[\"x\",null,\"\",\"y\"]", "y", 1 },
    };
    struct world *w = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_freep) char *version = ccm_text_format("%zu", i + 1);

        assert_int_equal(world_put_object(w, version, rows[i].names), 0);
        world_expect_found(w, rows[i].value, rows[i].count, version);
    }
    kube_store_delete(w->store, "d/a", NULL, NULL);
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        world_expect_found(w, rows[i].value, 0, "");
    }
}

/* An object that goes is in no list any more, memory or not: whoever lists would get a dead one. */
static void test_no_memory_when_it_goes(void **state)
{
    struct world *w = *state;

    assert_int_equal(world_put_object(w, "1", "[\"x\",\"x\",\"y\"]"), 0);
    tree_watch(true);
    tree_is_short = true;
    kube_store_delete(w->store, "d/a", NULL, NULL);
    tree_watch(false);
    assert_int_equal(kube_store_len(w->store), 0);
    world_expect_found(w, "x", 0, "");
    world_expect_found(w, "y", 0, "");
}

/* It is taken with its values, or not at all: one that no index knows looks as if it were not
 * there. */
static void test_no_memory_when_it_comes(void **state)
{
    struct world *w = *state;
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *next = NULL;

    assert_int_equal(world_put_object(w, "1", "[\"x\"]"), 0);
    next = raw_build(w, "2", "[\"y\"]");
    tree_watch(true);
    tree_is_short = true;
    const int r = kube_store_put(w->store, next, NULL, NULL);

    tree_watch(false);
    assert_int_equal(r, -ENOMEM);
    world_expect_found(w, "x", 1, "1");
    world_expect_found(w, "y", 0, "");
    assert_int_equal(kube_store_put(w->store, next, NULL, NULL), 0);
    world_expect_found(w, "x", 0, "");
    world_expect_found(w, "y", 1, "2");
}

/* Anybody may write an object of a megabyte with a list of sixty names: it is read once. */
static void test_it_is_read_once(void **state)
{
    struct world *w = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 4096 };
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;

    for (int i = 0; i < 60; i++) {
        ccm_buf_addf(&names, "%s\"n%d\"", i == 0 ? "[" : ",", i);
    }
    ccm_buf_addc(&names, ']');
    tree_watch(true);
    object = raw_build(w, "1", ccm_buf_str(&names));
    const size_t once = tree_nodes;

    tree_watch(true);
    assert_int_equal(kube_store_put(w->store, object, NULL, NULL), 0);
    assert_in_range(tree_nodes, 1, once);
    tree_watch(true);
    kube_store_delete(w->store, "d/a", NULL, NULL);
    assert_in_range(tree_nodes, 1, once);
    tree_watch(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_values, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_no_memory_when_it_goes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_no_memory_when_it_comes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_it_is_read_once, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
