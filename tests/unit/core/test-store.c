#include "kube/cache/store.h"

#include "kube/object/decode.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct kube_decode_kind slice_kind = { .kind = CCM_KIND_ENDPOINT_SLICE };

/* A slice "d/<name>" of a Service ("" = none). The caller owns the reference. */
static const struct ccm_object *slice_build(struct kube_builder *builder, const char *name,
                                            const char *uid, const char *version,
                                            const char *service)
{
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\",\"uid\":\"%"
                                 "s\",\"resourceVersion\":\"%s\","
                                 "\"labels\":{\"kubernetes.io/service-name\":\"%s\"}}}",
                                 name, uid, version, service);
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;

    if (text == NULL || kube_decode(builder, &slice_kind, text, strlen(text), &object, &err) < 0) {
        return NULL;
    }
    return object;
}

struct world {
    struct kube_builder *builder;
    struct kube_store *store;
    struct ccm_buf told; /* changes as text */
    bool store_was_behind;
};

/* "+a:1 " "~a:1>2 " "-a:2 ", "!a:2 " when it is just missing */
static void on_change(void *arg, const struct ccm_change *change)
{
    struct world *w = arg;
    const struct ccm_object *before = change->before;
    const struct ccm_object *after = change->after;

    switch (change->type) {
    case CCM_CHANGE_ADDED:
        ccm_buf_addf(&w->told, "+%s:%s ", after->name, after->resource_version);
        break;
    case CCM_CHANGE_UPDATED:
        ccm_buf_addf(&w->told, "~%s:%s>%s ", after->name, before->resource_version,
                     after->resource_version);
        break;
    default:
        ccm_buf_addf(&w->told, "%s%s:%s ", change->flags == CCM_CHANGE_MISSING ? "!" : "-",
                     before->name, before->resource_version);
        break;
    }
    if (after != NULL) {
        CCM_CLEANUP(kube_object_unrefp)
        const struct ccm_object *held = kube_store_get(w->store, after->key);

        w->store_was_behind = w->store_was_behind || held != after;
    }
}

static int fixture_begin(void **state)
{
    struct world *w = calloc(1, sizeof(*w));

    if (w == NULL) {
        return -1;
    }
    w->builder = kube_builder_new();
    w->store = kube_store_new(&kube_index_service, 1);
    *state = w;
    return w->builder == NULL || w->store == NULL ? -1 : 0;
}

static int fixture_end(void **state)
{
    struct world *w = *state;

    kube_store_free(w->store);
    kube_builder_free(w->builder);
    ccm_buf_fini(&w->told);
    free(w);
    return 0;
}

static void put(struct world *w, const char *name, const char *uid, const char *version,
                const char *service)
{
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = slice_build(w->builder, name, uid, version, service);

    assert_non_null(object);
    assert_int_equal(kube_store_put(w->store, object, on_change, w), 0);
}

static void stage(struct world *w, struct kube_stage *next, const char *name, const char *uid,
                  const char *version, const char *service)
{
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = slice_build(w->builder, name, uid, version, service);

    assert_non_null(object);
    assert_int_equal(kube_stage_put(next, object), 0);
}

static void expect_told(struct world *w, const char *text)
{
    assert_string_equal(ccm_buf_str(&w->told), text);
    assert_false(w->store_was_behind);
    ccm_buf_reset(&w->told);
}

/* Names in the index, sorted, as text. */
static void expect_index(struct world *w, const char *service, const char *names)
{
    const struct ccm_object *const *objects;
    size_t count;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 0 };

    assert_int_equal(kube_store_list(w->store, "service", service, &objects, &count), 0);
    for (char c = 'a'; c <= 'z'; c++) {
        for (size_t i = 0; i < count; i++) {
            if (objects[i]->name[0] == c) {
                ccm_buf_addc(&text, c);
            }
        }
    }
    assert_int_equal(text.len, count);
    assert_string_equal(ccm_buf_str(&text), names);
    kube_store_list_free(objects, count);
}

static void test_put_and_delete(void **state)
{
    struct world *w = *state;

    put(w, "a", "u1", "1", "web");
    expect_told(w, "+a:1 ");
    put(w, "a", "u1", "1", "web");
    expect_told(w, "");
    put(w, "a", "u1", "2", "web");
    expect_told(w, "~a:1>2 ");
    put(w, "a", "u2", "3", "web");
    expect_told(w, "-a:2 +a:3 ");
    put(w, "a", "u2", "", "web"); /* no version: never taken for the same */
    put(w, "a", "u2", "", "web");
    expect_told(w, "~a:3> ~a:> ");
    assert_int_equal(kube_store_len(w->store), 1);
    kube_store_delete(w->store, "d/a", on_change, w);
    kube_store_delete(w->store, "d/a", on_change, w);
    expect_told(w, "-a: ");
    assert_int_equal(kube_store_len(w->store), 0);
    assert_null(kube_store_get(w->store, "d/a"));
}

/* A slice with more ports than are read. */
static const struct ccm_object *large_slice(struct world *w, const char *name)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;

    ccm_buf_addf(&text, "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\"},\"ports\":[{}", name);
    for (size_t i = 0; i < KUBE_DECODE_MAX_PORTS; i++) {
        ccm_buf_adds(&text, ",{}");
    }
    ccm_buf_adds(&text, "]}");
    assert_int_equal(
        kube_decode(w->builder, &slice_kind, ccm_buf_str(&text), text.len, &object, &err), 0);
    return object;
}

static void test_too_large_ones_are_counted(void **state)
{
    struct world *w = *state;
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *large = large_slice(w, "a");
    CCM_CLEANUP(kube_stage_freep) struct kube_stage *stage = NULL;

    for (int i = 0; i < 2; i++) { /* twice under one key is one */
        assert_int_equal(kube_store_put(w->store, large, on_change, w), 0);
        assert_int_equal(kube_store_too_large(w->store), 1);
    }
    put(w, "a", "u1", "1", "web");
    assert_int_equal(kube_store_too_large(w->store), 0);
    assert_int_equal(kube_store_put(w->store, large, on_change, w), 0);
    kube_store_delete(w->store, "d/a", on_change, w);
    assert_int_equal(kube_store_too_large(w->store), 0);
    stage = kube_stage_new(w->store, false);
    assert_int_equal(kube_stage_put(stage, large), 0);
    kube_store_commit(w->store, CCM_STEAL(stage), on_change, w);
    assert_int_equal(kube_store_too_large(w->store), 1);
}

static void test_references_outlive_the_store(void **state)
{
    struct world *w = *state;
    const struct ccm_object *const *objects;
    size_t count;

    put(w, "a", "u1", "1", "web");

    const struct ccm_object *held = kube_store_get(w->store, "d/a");

    assert_int_equal(kube_store_list(w->store, NULL, NULL, &objects, &count), 0);
    assert_int_equal(count, 1);
    put(w, "a", "u1", "2", "web");
    kube_store_delete(w->store, "d/a", NULL, NULL);
    kube_store_free(w->store);
    w->store = NULL;
    assert_string_equal(held->resource_version, "1");
    assert_string_equal(objects[0]->key, "d/a");
    kube_object_unref(held);
    kube_store_list_free(objects, count);
}

static void test_index(void **state)
{
    struct world *w = *state;
    const struct ccm_object *const *objects;
    size_t count;

    put(w, "a", "u", "1", "web");
    put(w, "b", "u", "1", "web");
    put(w, "c", "u", "1", "db");
    put(w, "e", "u", "1", "");
    expect_index(w, "d/web", "ab");
    expect_index(w, "d/db", "c");
    expect_index(w, "d/", "");
    expect_index(w, "other/web", "");
    put(w, "a", "u", "2", "db"); /* moves */
    expect_index(w, "d/web", "b");
    expect_index(w, "d/db", "ac");
    put(w, "b", "u", "2", ""); /* leaves */
    expect_index(w, "d/web", "");
    put(w, "c", "u", "2", "db"); /* stays, in a new version */
    expect_index(w, "d/db", "ac");
    kube_store_delete(w->store, "d/a", NULL, NULL);
    expect_index(w, "d/db", "c");
    assert_int_equal(kube_store_list(w->store, "colour", "red", &objects, &count), -ENOTSUP);
    assert_int_equal(kube_store_list(w->store, "service", NULL, &objects, &count), -ENOTSUP);
}

/* Nodes are found by what others know them by: instance, and addresses in their usual form. */
static void test_servers(void **state)
{
    static const struct kube_decode_kind kind = { .kind = CCM_KIND_NODE };
    static const char first[] =
        "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u\",\"resourceVersion\":\"1\"},\"spec\":{"
        "\"providerID\":\"alicloud://cn-hangzhou.i-1\"},\"status\":{\"addresses\":["
        "{\"type\":\"InternalIP\",\"address\":\"10.1.0.11\"},"
        "{\"type\":\"Hostname\",\"address\":\"n1\"},"
        "{\"type\":\"InternalIP\",\"address\":\"FD00:0::11\"}]}}";
    static const char second[] =
        "{\"metadata\":{\"name\":\"n1\",\"uid\":\"u\",\"resourceVersion\":\"2\"},\"spec\":{"
        "\"providerID\":\"aws:///zone/i-2\"}}";
    static const struct {
        const char *server;
        size_t before;
        size_t after;
    } rows[] = { { "i-1", 1, 0 }, { "10.1.0.11", 1, 0 }, { "fd00::11", 1, 0 },
                 { "n1", 0, 0 },  { "i-2", 0, 1 },       { "10.1.0.1", 0, 0 } };
    const struct world *w = *state;
    CCM_CLEANUP(kube_store_freep) struct kube_store *nodes = kube_store_new(&kube_index_server, 1);

    for (int version = 0; version < 2; version++) {
        CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *node = NULL;
        struct ccm_error err = CCM_ERROR_INIT;
        const char *text = version == 0 ? first : second;

        assert_int_equal(kube_decode(w->builder, &kind, text, strlen(text), &node, &err), 0);
        assert_int_equal(kube_store_put(nodes, node, NULL, NULL), 0);
        for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
            const struct ccm_object *const *found = NULL;
            size_t count = 0;

            assert_int_equal(kube_store_list(nodes, "server", rows[i].server, &found, &count), 0);
            assert_int_equal(count, version == 0 ? rows[i].before : rows[i].after);
            kube_store_list_free(found, count);
        }
    }
    kube_store_delete(nodes, "n1", NULL, NULL);
    assert_int_equal(kube_store_len(nodes), 0);
}

static void test_commit_tells_exactly_the_differences(void **state)
{
    struct world *w = *state;

    put(w, "a", "u", "1", "web");
    put(w, "b", "u", "1", "web");
    put(w, "c", "u", "1", "web");
    put(w, "e", "u", "1", "db");
    ccm_buf_reset(&w->told);

    const struct ccm_object *same = kube_store_get(w->store, "d/a");
    struct kube_stage *next = kube_stage_new(w->store, false);

    stage(w, next, "f", "u", "5", "db");
    stage(w, next, "a", "u", "1", "web");
    stage(w, next, "b", "u", "2", "db");
    stage(w, next, "c", "u9", "1", "web"); /* deleted and made again while nobody looked */
    assert_int_equal(kube_stage_len(next), 4);
    expect_told(w, "");
    expect_index(w, "d/web", "abc");
    kube_store_commit(w->store, next, on_change, w);
    expect_told(w, "+f:5 ~b:1>2 -c:1 +c:1 !e:1 ");
    expect_index(w, "d/web", "ac");
    expect_index(w, "d/db", "bf");

    /* An unchanged object is shared, not held twice. */
    const struct ccm_object *now = kube_store_get(w->store, "d/a");

    assert_ptr_equal(now, same);
    kube_object_unref(now);
    kube_object_unref(same);
    kube_store_commit(w->store, kube_stage_new(w->store, false), on_change, w);
    expect_told(w, "!f:5 !a:1 !b:2 !c:1 ");
    assert_int_equal(kube_store_len(w->store), 0);
    expect_index(w, "d/db", "");
}

/* Another server may have used a version a second time. */
static void test_list_of_another_server(void **state)
{
    struct world *w = *state;

    put(w, "a", "u", "1", "web");
    put(w, "b", "u", "1", "web");
    ccm_buf_reset(&w->told);

    struct kube_stage *next = kube_stage_new(w->store, true);

    stage(w, next, "a", "u", "1", "db");
    assert_int_equal(kube_stage_keep(next, "d/b"), 0);
    kube_store_commit(w->store, next, on_change, w);
    expect_told(w, "~a:1>1 ");
    expect_index(w, "d/web", "b");
    expect_index(w, "d/db", "a");
}

static void test_stage_edits(void **state)
{
    struct world *w = *state;

    put(w, "a", "u", "1", "web");
    put(w, "b", "u", "1", "web");
    ccm_buf_reset(&w->told);

    struct kube_stage *next = kube_stage_new(w->store, false);

    stage(w, next, "c", "u", "1", "web");
    stage(w, next, "c", "u", "2", "db"); /* twice in one list: the later one counts */
    stage(w, next, "e", "u", "1", "web");
    kube_stage_delete(next, "d/e");
    kube_stage_delete(next, "d/never");
    assert_int_equal(kube_stage_keep(next, "d/a"), 0);
    assert_int_equal(kube_stage_keep(next, "d/never"), 0);
    stage(w, next, "a", "u", "1", "web"); /* the same object again */
    kube_store_commit(w->store, next, on_change, w);
    expect_told(w, "+c:2 !b:1 ");
    expect_index(w, "d/web", "a");
    expect_index(w, "d/db", "c");
    next = kube_stage_new(w->store, false);
    stage(w, next, "z", "u", "1", "web");
    kube_stage_free(next); /* a list that failed leaves no trace */
    expect_told(w, "");
    expect_index(w, "d/web", "a");
}

/* Steps with what readers see after each: the version of "a", "-" = it is not there. "1" to "9":
 * the watch shows that version, with "'" behind it that of another object of the same name; "l1" a
 * list does, "l-" a list has none; "d" it is deleted; "b" and "B" two writers begin, "e2" and "E2"
 * are answered with that version, "f" fails; the reflector looks at 1 s ("s"),
 * 30.999 s ("t"), 31 s ("T") and 61 s ("U"). */
static const struct own_case {
    const char *name;
    const char *steps;
    const char *seen;
    const char *told;
} own_cases[] = {
    { "shown at once", "1 b e2 2", "1 1 2 2", "+a:1 ~a:1>2 " },
    { "older events are hidden, and reported", "1 b e3 2 3 4", "1 1 3 3 3 4",
      "+a:1 ~a:1>2 ~a:2>3 ~a:3>4 " },
    { "the watch was faster", "1 b 2 e2 3", "1 1 2 2 3", "+a:1 ~a:1>2 ~a:2>3 " },
    { "the watch was much faster", "1 b 2 3 e2", "1 1 2 3 3", "+a:1 ~a:1>2 ~a:2>3 " },
    { "it changed nothing", "1 b e1 2", "1 1 1 2", "+a:1 ~a:1>2 " },
    { "it changed nothing, another process did", "1 b 2 e1", "1 1 2 2", "+a:1 ~a:1>2 " },
    { "the second write changed nothing", "1 b e2 b e2 2", "1 1 2 2 2 2", "+a:1 ~a:1>2 " },
    { "two writes before the watch shows one", "1 b e2 b e3 2 3", "1 1 2 2 3 3 3",
      "+a:1 ~a:1>2 ~a:2>3 " },
    { "two writers", "1 b B e2 E3 2 3", "1 1 1 2 3 3 3", "+a:1 ~a:1>2 ~a:2>3 " },
    { "two writers, the later answer first", "1 b B E3 e2 2 3", "1 1 1 3 2 2 3",
      "+a:1 ~a:1>2 ~a:2>3 " },
    { "two writers, one answer late", "1 b B E3 2 e2 3", "1 1 1 3 3 3 3", "+a:1 ~a:1>2 ~a:2>3 " },
    { "a lost answer", "1 b f 2", "1 1 1 2", "+a:1 ~a:1>2 " },
    { "deleted after it", "1 b e2 d", "1 1 2 -", "+a:1 -a:1 " },
    { "deleted meanwhile", "1 b d e2", "1 1 - -", "+a:1 -a:1 " },
    { "another one has the name meanwhile", "1 b d 5' e2", "1 1 - 5 5", "+a:1 -a:1 +a:5 " },
    { "another one has the name after it", "1 b e2 5'", "1 1 2 5", "+a:1 -a:1 +a:5 " },
    { "answered for another one of the name", "1 b e5'", "1 1 1", "+a:1 " },
    { "an older list", "1 b e2 l1 2", "1 1 2 1 2", "+a:1 ~a:1>2 " },
    { "a later list", "1 b e2 l3", "1 1 2 3", "+a:1 ~a:1>3 " },
    { "a later list meanwhile", "1 b l3 e2", "1 1 3 3", "+a:1 ~a:1>3 " },
    { "a list without it", "1 b e2 l-", "1 1 2 -", "+a:1 !a:1 " },
    { "it never comes", "1 b e9 2 s t 3 T", "1 1 9 9 9 9 9 3", "+a:1 ~a:1>2 ~a:2>3 ~a:9>3 " },
    { "the watch says nothing", "1 b e2 T 2", "1 1 2 2 2", "+a:1 ~a:1>2 " },
    { "the watch says nothing for long, and then all", "1 b e3 T 2 T 3", "1 1 3 3 3 3 3",
      "+a:1 ~a:1>2 ~a:2>3 " },
    { "the watch says nothing for long, and then not that", "1 b e9 T 2 T U", "1 1 9 9 9 9 2",
      "+a:1 ~a:1>2 ~a:9>2 " },
    { "not held", "b e1 1", "- - 1", "+a:1 " },
};

/* The object with the version, and "'" behind it when it is another one. */
static const struct ccm_object *own_build(struct world *w, const char *step)
{
    const char version[] = { step[0], '\0' };
    const struct ccm_object *object =
        slice_build(w->builder, "a", step[1] == '\'' ? "u2" : "u1", version, "web");

    assert_non_null(object);
    return object;
}

static void own_list(struct world *w, const char *step)
{
    struct kube_stage *next = kube_stage_new(w->store, false);

    assert_non_null(next);
    if (step[0] != '-') {
        CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = own_build(w, step);

        assert_int_equal(kube_stage_put(next, object), 0);
    }
    kube_store_commit(w->store, next, on_change, w);
}

static void own_answer(struct world *w, struct kube_write **write, const char *step)
{
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = own_build(w, step);

    kube_store_end_write(w->store, *write, object, 30000);
    *write = NULL;
}

static void own_step(struct world *w, struct kube_write *writes[static 2], const char *step)
{
    CCM_CLEANUP(kube_object_unrefp) const struct ccm_object *object = NULL;

    switch (step[0]) {
    case 'b':
    case 'B':
        writes[step[0] == 'B'] = kube_store_begin_write(w->store, "d/a");
        break;
    case 'e':
    case 'E':
        own_answer(w, &writes[step[0] == 'E'], step + 1);
        break;
    case 'f':
        kube_store_end_write(w->store, writes[0], NULL, 30000);
        writes[0] = NULL;
        break;
    case 'd':
        kube_store_delete(w->store, "d/a", on_change, w);
        break;
    case 'l':
        own_list(w, step + 1);
        break;
    case 's':
    case 't':
    case 'T':
    case 'U':
        kube_store_expire_writes(w->store,
                                 step[0] == 's'   ? 1000
                                 : step[0] == 't' ? 30999
                                 : step[0] == 'T' ? 31000
                                                  : 61000,
                                 on_change, w);
        break;
    default:
        object = own_build(w, step);
        assert_int_equal(kube_store_put(w->store, object, on_change, w), 0);
        break;
    }
}

static void own_see(struct world *w, struct ccm_buf *seen)
{
    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *object = kube_store_get(w->store, "d/a");
    const struct ccm_object *const *all;
    size_t count;

    ccm_buf_addf(seen, "%s%s", seen->len == 0 ? "" : " ",
                 object == NULL ? "-" : object->resource_version);
    for (int i = 0; i < 2; i++) { /* lists say the same */
        assert_int_equal(
            kube_store_list(w->store, i == 0 ? NULL : "service", "d/web", &all, &count), 0);
        assert_int_equal(count, object == NULL ? 0 : 1);
        assert_true(count == 0 || all[0] == object);
        kube_store_list_free(all, count);
    }
}

static void test_own_writes(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < CCM_ARRAY_LEN(own_cases); i++) {
        const struct own_case *c = &own_cases[i];
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf seen = { .max = 0 };
        struct kube_write *writes[2] = { NULL, NULL };

        for (const char *step = c->steps; step != NULL; step = strchr(step, ' ')) {
            step += step[0] == ' ' ? 1 : 0;
            own_step(w, writes, step);
            own_see(w, &seen);
        }
        if (strcmp(ccm_buf_str(&seen), c->seen) != 0 ||
            strcmp(ccm_buf_str(&w->told), c->told) != 0) {
            print_error("%s: seen %s, told %s\n", c->name, ccm_buf_str(&seen),
                        ccm_buf_str(&w->told));
            fail();
        }
        kube_store_delete(w->store, "d/a", NULL, NULL);
        ccm_buf_reset(&w->told);
    }
}

/* When the reflector has to come back. */
static void test_own_writes_are_due(void **state)
{
    struct world *w = *state;
    struct kube_write *writes[2] = { NULL, NULL };

    own_step(w, writes, "1");
    own_step(w, writes, "b");
    own_step(w, writes, "e3");
    assert_true(kube_store_writes_due(w->store) == INT64_MAX); /* it hides nothing */
    own_step(w, writes, "2");
    assert_int_equal(kube_store_writes_due(w->store), 0); /* now */
    own_step(w, writes, "s");
    assert_int_equal(kube_store_writes_due(w->store), 31000);
    own_step(w, writes, "3");
    assert_true(kube_store_writes_due(w->store) == INT64_MAX);
    own_step(w, writes, "b"); /* one that never ends is freed with the store */
}

static void test_too_many_indexes(void **state)
{
    const struct kube_index many[KUBE_STORE_INDEXES + 1] = { kube_index_service };

    (void)state;
    assert_null(kube_store_new(many, CCM_ARRAY_LEN(many)));
    kube_store_free(NULL);
}

/* Readers against a writer. Each commit holds ten slices of one version: a reader must never see
 * two versions. */

#define READERS 4
#define ROUNDS  300
#define SLICES  10

struct race {
    struct kube_store *store;
    atomic_bool done;
    atomic_int mixtures;
    atomic_int reads;
};

static void *reader_main(void *arg)
{
    struct race *race = arg;

    while (!atomic_load(&race->done)) {
        const struct ccm_object *const *objects;
        size_t count;

        if (kube_store_list(race->store, "service", "d/web", &objects, &count) < 0) {
            continue;
        }
        for (size_t i = 1; i < count; i++) {
            if (strcmp(objects[i]->resource_version, objects[0]->resource_version) != 0) {
                atomic_fetch_add(&race->mixtures, 1);
            }
        }
        if (count != 0 && count != SLICES) {
            atomic_fetch_add(&race->mixtures, 1);
        }
        kube_store_list_free(objects, count);
        kube_object_unref(kube_store_get(race->store, "d/s3"));
        atomic_fetch_add(&race->reads, 1);
    }
    return NULL;
}

static void test_readers_see_whole_lists(void **state)
{
    struct world *w = *state;
    struct race race = { .store = w->store };
    pthread_t readers[READERS];

    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, reader_main, &race), 0);
    }
    for (int round = 0; round < ROUNDS || atomic_load(&race.reads) < 100; round++) {
        struct kube_stage *next = kube_stage_new(w->store, false);

        for (int i = 0; round % 7 != 0 && i < SLICES; i++) {
            char name[8] = { 's', (char)('0' + i), '\0' };
            CCM_CLEANUP(ccm_freep) char *version = ccm_text_format("%d", round);

            stage(w, next, name, "u", version, "web");
        }
        kube_store_commit(w->store, next, NULL, NULL);
        put(w, "other", "u", "1", "db");
        kube_store_delete(w->store, "d/other", NULL, NULL);
    }
    atomic_store(&race.done, true);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&race.mixtures), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_put_and_delete, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_servers, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_too_large_ones_are_counted, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_references_outlive_the_store, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_index, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_commit_tells_exactly_the_differences, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_stage_edits, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_own_writes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_list_of_another_server, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_own_writes_are_due, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_too_many_indexes, fixture_begin, fixture_end),
        cmocka_unit_test_setup_teardown(test_readers_see_whole_lists, fixture_begin, fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
