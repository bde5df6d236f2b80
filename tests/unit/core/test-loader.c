/*
 * Descriptors, option tables and file forms, each spoilt in one point. What needs real plugin files
 * is in tests/abi/test-abi.c.
 */
#include "plugin/loader.h"
#include "plugin/option.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    (void)host; /* never called */
    (void)ret_self;
    (void)err;
    fail_msg("the loader called create()");
    return 0;
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    (void)self; /* never called */
    (void)req;
    (void)ret;
    (void)err;
    fail_msg("the loader called reconcile()");
    return 0;
}

static void destroy(void *self)
{
    (void)self; /* never called */
    fail_msg("the loader called destroy()");
}

static void map(void *self, const struct ccm_change *change)
{
    (void)self; /* never called */
    (void)change;
    fail_msg("the loader called map()");
}

/* A sound plugin in memory; the tests change one thing. */
struct sample {
    struct ccm_option option;
    struct ccm_option second;
    const struct ccm_option *options[3];
    struct ccm_watch watch;
    struct ccm_watch other;
    const struct ccm_watch *watches[3];
    struct ccm_plugin plugin;
};

static void sample_init(struct sample *s)
{
    *s = (struct sample){
        .option = { .struct_size = sizeof(struct ccm_option),
                    .type = CCM_OPTION_INT,
                    .name = "limit",
                    .fallback = "5",
                    .min = 1,
                    .max = 10,
                    .help = "How many." },
        .second = { .struct_size = sizeof(struct ccm_option),
                    .type = CCM_OPTION_STRING,
                    .group = "alicloud",
                    .name = "region",
                    .help = "Where." },
        .watch = { .struct_size = sizeof(struct ccm_watch), .kind = CCM_KIND_SERVICE, .map = map },
        .other = { .struct_size = sizeof(struct ccm_watch),
                   .kind = CCM_KIND_RAW,
                   .api_version = "v1",
                   .resource = "configmaps",
                   .map = map },
        .plugin = { .abi_major = CCM_ABI_MAJOR,
                    .struct_size = sizeof(struct ccm_plugin),
                    .name = "sample",
                    .flags = CCM_PLUGIN_SERIAL,
                    .create = create,
                    .reconcile = reconcile,
                    .destroy = destroy },
    };
    s->options[0] = &s->option;
    s->options[1] = &s->second;
    s->watches[0] = &s->watch;
    s->watches[1] = &s->other;
    s->plugin.options = s->options;
    s->plugin.watches = s->watches;
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    }
}

static void assert_refused(const struct sample *s, const char *reason)
{
    struct plugin_descriptor descriptor;
    struct ccm_error err = CCM_ERROR_INIT;

    assert_int_equal(plugin_descriptor_init(&descriptor, &s->plugin, &err), -EINVAL);
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    assert_contains(err.message, reason);
}

static void test_sound(void **state)
{
    struct plugin_descriptor descriptor;
    struct ccm_error err = CCM_ERROR_INIT;
    struct sample s;

    (void)state; /* no fixture */
    sample_init(&s);
    assert_int_equal(plugin_descriptor_init(&descriptor, &s.plugin, &err), 0);
    assert_string_equal(descriptor.plugin.name, "sample");
    assert_string_equal(descriptor.plugin.version, "");
    assert_string_equal(descriptor.plugin.summary, "");
    assert_ptr_not_equal(descriptor.plugin.options[0], &s.option);
    assert_string_equal(descriptor.plugin.options[1]->name, "region");
    assert_null(descriptor.plugin.options[2]);
    assert_ptr_equal(descriptor.plugin.watches[0]->map, map);
    assert_string_equal(descriptor.plugin.watches[1]->resource, "configmaps");
    assert_null(descriptor.plugin.watches[2]);
    plugin_descriptor_fini(&descriptor);
    plugin_descriptor_fini(&descriptor);

    s.plugin.options = NULL;
    assert_int_equal(plugin_descriptor_init(&descriptor, &s.plugin, &err), 0);
    assert_null(descriptor.plugin.options[0]);
    plugin_descriptor_fini(&descriptor);
}

/* "Not set" is allowed for a text of which the values are listed. */
static void test_listed_text_without_default(void **state)
{
    static const char *const fallbacks[] = { NULL, "", "a" };

    (void)state; /* no fixture */
    for (size_t i = 0; i < CCM_ARRAY_LEN(fallbacks); i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct sample s;

        sample_init(&s);
        s.second.values = "a|b";
        s.second.fallback = fallbacks[i];
        assert_int_equal(plugin_option_check(&s.second, &err), 0);
        s.second.fallback = "c";
        assert_int_equal(plugin_option_check(&s.second, &err), -EINVAL);
        assert_contains(err.message,
                        "option alicloud.region: its default: \"c\" is not one of a|b");
    }
}

/* A descriptor that ends where that of 1.0 ends, right before memory that must not be read. */
static void test_reads_no_further_than_told(void **state)
{
    struct plugin_descriptor descriptor;
    struct ccm_error err = CCM_ERROR_INIT;
    struct sample s;

    (void)state; /* no fixture */
    sample_init(&s);

    CCM_CLEANUP(ccm_freep) struct ccm_plugin *small = malloc(PLUGIN_SIZE_1_0);
    CCM_CLEANUP(ccm_freep) struct ccm_option *option = malloc(PLUGIN_OPTION_SIZE_1_0);
    CCM_CLEANUP(ccm_freep) struct ccm_watch *watch = malloc(PLUGIN_WATCH_SIZE_1_0);

    s.plugin.struct_size = (uint32_t)PLUGIN_SIZE_1_0;
    s.option.struct_size = PLUGIN_OPTION_SIZE_1_0;
    s.watch.struct_size = PLUGIN_WATCH_SIZE_1_0;
    memcpy(option, &s.option, PLUGIN_OPTION_SIZE_1_0);
    memcpy(watch, &s.watch, PLUGIN_WATCH_SIZE_1_0);
    memcpy(small, &s.plugin, PLUGIN_SIZE_1_0);
    s.options[0] = option;
    s.watches[0] = watch;
    assert_int_equal(plugin_descriptor_init(&descriptor, small, &err), 0);
    plugin_descriptor_fini(&descriptor);

    /* Another major: only the first two members mean anything. */
    CCM_CLEANUP(ccm_freep) uint32_t *head = calloc(2, sizeof(*head));

    head[0] = CCM_ABI_MAJOR + 1;
    head[1] = 4096;
    assert_int_equal(
        plugin_descriptor_init(&descriptor, (const struct ccm_plugin *)(void *)head, &err),
        -EINVAL);
    assert_contains(err.message, "built for plugin ABI 2");
}

/* Entries of a later minor: what is on top of ours is left where it is. */
static void test_larger_entries(void **state)
{
    struct {
        struct ccm_option today;
        char later[4096];
    } option;
    struct {
        struct ccm_watch today;
        char later[4096];
    } watch;
    struct plugin_descriptor descriptor;
    struct ccm_error err = CCM_ERROR_INIT;
    struct sample s;

    (void)state; /* no fixture */
    sample_init(&s);
    memset(&option, 0xff, sizeof(option));
    memset(&watch, 0xff, sizeof(watch));
    option.today = s.second;
    option.today.struct_size = sizeof(option);
    watch.today = s.other;
    watch.today.struct_size = sizeof(watch);
    s.options[1] = &option.today;
    s.watches[1] = &watch.today;
    assert_int_equal(plugin_descriptor_init(&descriptor, &s.plugin, &err), 0);
    assert_string_equal(descriptor.plugin.options[1]->name, "region");
    assert_string_equal(descriptor.plugin.watches[1]->resource, "configmaps");
    plugin_descriptor_fini(&descriptor);
}

#define ASSERT_SPOILT(member, value, reason)                                                       \
    do {                                                                                           \
        struct sample spoilt_;                                                                     \
                                                                                                   \
        sample_init(&spoilt_);                                                                     \
        spoilt_.member = (value);                                                                  \
        assert_refused(&spoilt_, reason);                                                          \
    } while (0)

static const char *const with_empty[] = { "good", "", NULL };

static void test_bad_descriptors(void **state)
{
    (void)state; /* no fixture */
    ASSERT_SPOILT(plugin.abi_major, 0, "built for plugin ABI 0, this ccmd has ABI 1");
    ASSERT_SPOILT(plugin.struct_size, 0, "its descriptor has 0 bytes");
    ASSERT_SPOILT(plugin.struct_size, (uint32_t)PLUGIN_SIZE_1_0 - 1, "ABI 1.0 has 120");
    ASSERT_SPOILT(plugin.name, NULL, "its name \"\" is not");
    ASSERT_SPOILT(plugin.name, "", "its name \"\" is not");
    ASSERT_SPOILT(plugin.name, "CLB", "its name \"CLB\" is not");
    ASSERT_SPOILT(plugin.flags, 4, "its flags 0x4 are not known");
    ASSERT_SPOILT(plugin.flags, UINT64_MAX, "its flags 0xfffffffffffffffc are not known");
    ASSERT_SPOILT(plugin.create, NULL, "lacks .create");
    ASSERT_SPOILT(plugin.reconcile, NULL, "lacks .reconcile");
    ASSERT_SPOILT(plugin.destroy, NULL, "lacks .destroy");
    ASSERT_SPOILT(plugin.watches, NULL, "it watches nothing");
    ASSERT_SPOILT(plugin.metrics, with_empty, ".metrics needs a NULL at its end");
    ASSERT_SPOILT(watch.annotations, with_empty, "watch 1: .annotations and .keys need a NULL");
    ASSERT_SPOILT(watch.keys, with_empty, "watch 1: .annotations and .keys need a NULL");
    ASSERT_SPOILT(watches[0], NULL, "it watches nothing");
}

static void test_bad_watches(void **state)
{
    (void)state; /* no fixture */
    ASSERT_SPOILT(watch.struct_size, 0, "watch 1: set .struct_size");
    ASSERT_SPOILT(watch.map, NULL, "watch 1: lacks .map");
    ASSERT_SPOILT(watch.kind, 0, "watch 1: its kind is not known");
    ASSERT_SPOILT(watch.kind, 6, "watch 1: its kind is not known");
    ASSERT_SPOILT(watch.kind, CCM_KIND_POD, "watch 1: Pods cannot be watched");
    ASSERT_SPOILT(watch.flags, CCM_WATCH_NODE_INFO, "watch 1: CCM_WATCH_NODE_INFO is for Nodes");
    ASSERT_SPOILT(watch.resource, "services", "watch 1: .api_version, .resource, selectors,");
    ASSERT_SPOILT(watch.namespace_, "default", "are for raw kinds only");
    ASSERT_SPOILT(watch.label_selector, "a=b", "are for raw kinds only");
    ASSERT_SPOILT(watch.field_selector, "a=b", "are for raw kinds only");
    ASSERT_SPOILT(watch.flags, CCM_WATCH_OPTIONAL, "are for raw kinds only");
    ASSERT_SPOILT(watch.flags, UINT64_C(8), "watch 1: its flags are not known");
    ASSERT_SPOILT(other.namespace_, "a/b", "watch 2: .namespace_ is no name");
    ASSERT_SPOILT(other.api_version, NULL, "watch 2: a raw kind needs .api_version");
    ASSERT_SPOILT(other.api_version, "/v1", "watch 2: a raw kind needs .api_version");
    ASSERT_SPOILT(other.resource, "", "watch 2: a raw kind needs .resource");
    ASSERT_SPOILT(other.resource, "a/b", "watch 2: a raw kind needs .resource");
    ASSERT_SPOILT(other.resource, "a?b", "watch 2: a raw kind needs .resource");
    ASSERT_SPOILT(watches[1], spoilt_.watches[0], "watch 2: the same kind is watched already");
}

#define ASSERT_BAD_INDEX(reason, ...)                                                              \
    do {                                                                                           \
        const struct ccm_index index_ = { __VA_ARGS__ };                                           \
        const struct ccm_index *const indexes_[] = { &good_index, &index_, NULL };                 \
                                                                                                   \
        ASSERT_SPOILT(other.indexes, indexes_, reason);                                            \
    } while (0)

#define INDEX_SIZE .struct_size = sizeof(struct ccm_index)

static void test_bad_indexes(void **state)
{
    static const struct ccm_index good_index = { INDEX_SIZE, .name = "good", .path = "spec.x" };
    static const struct ccm_index *const many[] = { &good_index, &good_index, &good_index,
                                                    &good_index, &good_index, NULL };
    static const char needs[] = "watch 2: an index needs .struct_size, .name, and either";

    (void)state; /* no fixture */
    ASSERT_BAD_INDEX(needs, .name = "x", .path = "spec.x");
    ASSERT_BAD_INDEX(needs, INDEX_SIZE, .path = "spec.x");
    ASSERT_BAD_INDEX(needs, INDEX_SIZE, .name = "x");
    ASSERT_BAD_INDEX(needs, INDEX_SIZE, .name = "x", .path = "spec.x", .label = "x");
    ASSERT_BAD_INDEX("flags of its index", INDEX_SIZE, .name = "x", .label = "x", .flags = 2);
    ASSERT_BAD_INDEX("the same name", INDEX_SIZE, .name = "good", .label = "x");
    ASSERT_SPOILT(other.indexes, many, "the same name");
}

static void test_bad_rights(void **state)
{
    const struct ccm_right rows[] = {
        { sizeof(struct ccm_right), NULL, "buckets", "get", NULL, NULL },
        { sizeof(struct ccm_right), "v1", "Buckets", "get", NULL, NULL },
        { sizeof(struct ccm_right), "v1", "buckets", "", NULL, NULL },
        { sizeof(struct ccm_right), "v1", "buckets", "get]", NULL, NULL },
        { sizeof(struct ccm_right), "v1", "buckets", "get", "a b", NULL },
        { sizeof(struct ccm_right), "v1", "buckets", "get", NULL, "\"" },
        { 8, "v1", "buckets", "get", NULL, NULL },
    };

    (void)state; /* no fixture */
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ccm_right *const rights[] = { &rows[i], NULL };

        ASSERT_SPOILT(plugin.rights, rights, "right 1: it needs .struct_size");
    }
}

static void test_bad_options(void **state)
{
    (void)state; /* no fixture */
    ASSERT_SPOILT(option.struct_size, 8, "option 1 of its table: set .struct_size");
    ASSERT_SPOILT(option.name, NULL, "option \"\": a name is");
    ASSERT_SPOILT(option.name, "a..b", "option \"a..b\": a name is");
    ASSERT_SPOILT(option.name, "a.", "option \"a.\": a name is");
    ASSERT_SPOILT(option.name, "1a", "option \"1a\": a name is");
    ASSERT_SPOILT(option.name, "Limit", "option \"Limit\": a name is");
    ASSERT_SPOILT(second.group, "", "option region: group \"\": a name is");
    ASSERT_SPOILT(second.group, "a.b", "option region: group \"a.b\": a name is");
    ASSERT_SPOILT(option.type, 0, "option limit: this ccmd does not know its type");
    ASSERT_SPOILT(option.type, 6, "option limit: this ccmd does not know its type");
    ASSERT_SPOILT(option.flags, 8, "option limit: this ccmd does not know one of its flags");
    ASSERT_SPOILT(option.flags, CCM_OPTION_REQUIRED, "option limit: required, and yet");
    ASSERT_SPOILT(option.help, "", "option limit: no help text");
    ASSERT_SPOILT(option.min, 11, "option limit: min is greater than max");
    ASSERT_SPOILT(option.fallback, "11", "option limit: its default: 11 is not in 1..10");
    ASSERT_SPOILT(option.fallback, "5s", "option limit: its default: \"5s\" is not a number");
    ASSERT_SPOILT(option.fallback, NULL, "option limit: its default: 0 is not in 1..10");
    ASSERT_SPOILT(option.fallback, "", "option limit: its default: \"\" is not a number");
    ASSERT_SPOILT(option.values, "1|2", "option limit: values is for texts only");
    ASSERT_SPOILT(second.min, 1, "option alicloud.region: min and max are for numbers");
    ASSERT_SPOILT(option.pattern, "a", "option limit: pattern is an extended regular expression");
    ASSERT_SPOILT(second.pattern, "a(", "option alicloud.region: pattern is an extended");
    ASSERT_SPOILT(option.unless, "a", "option limit: unless is for texts with a pattern");
    ASSERT_SPOILT(second.values, "a||b", "option alicloud.region: values has an empty part");
    ASSERT_SPOILT(second.values, "", "option alicloud.region: values has an empty part");
    ASSERT_SPOILT(options[1], spoilt_.options[0], "option limit is listed twice");
}

static void test_number_without_range(void **state)
{
    struct sample s;

    (void)state; /* no fixture */
    sample_init(&s);
    s.option.min = 0;
    s.option.max = 0;
    assert_refused(&s, "option limit: a number needs a range");
}

static void test_tables_without_end(void **state)
{
    enum { MANY = 300 };
    static const struct ccm_option *options[MANY];
    static const struct ccm_watch *watches[MANY];
    struct sample s;

    (void)state; /* no fixture */
    sample_init(&s);
    for (size_t i = 0; i < MANY; i++) {
        options[i] = &s.option;
        watches[i] = &s.watch;
    }
    s.plugin.options = options;
    assert_refused(&s, "its option table has no end");
    s.plugin.options = NULL;
    s.plugin.watches = watches;
    assert_refused(&s, "its table of watches has no end");
}

static void test_values(void **state)
{
    static const struct {
        uint64_t type;
        const char *values;
        const char *text;
        const char *reason; /* NULL = valid */
    } rows[] = {
        { CCM_OPTION_INT, NULL, "-3", NULL },
        { CCM_OPTION_INT, NULL, "7", NULL },
        { CCM_OPTION_INT, NULL, "8", "8 is not in -3..7" },
        { CCM_OPTION_INT, NULL, "-4", "-4 is not in -3..7" },
        { CCM_OPTION_INT, NULL, "99999999999999999999", "99999999999999999999 is not" },
        { CCM_OPTION_INT, NULL, "", "\"\" is not a number" },
        { CCM_OPTION_INT, NULL, "0x1", "\"0x1\" is not a number" },
        { CCM_OPTION_BOOL, NULL, "true", NULL },
        { CCM_OPTION_BOOL, NULL, "yes", "\"yes\" is neither true nor false" },
        { CCM_OPTION_STRING, NULL, "", NULL },
        { CCM_OPTION_STRING, NULL, "anything at all", NULL },
        { CCM_OPTION_STRING, "vpc|internet", "internet", NULL },
        { CCM_OPTION_STRING, "vpc|internet", "inter", "\"inter\" is not one of vpc|internet" },
        { CCM_OPTION_STRING, "vpc|internet", "vpc|internet", "is not one of" },
        { CCM_OPTION_STRINGS, NULL, "", NULL },
        { CCM_OPTION_STRINGS, NULL, "a,b", NULL },
        { CCM_OPTION_STRINGS, NULL, "a,,b", "\"a,,b\" has an empty part" },
        { CCM_OPTION_STRINGS, NULL, "a,", "\"a,\" has an empty part" },
        { CCM_OPTION_PATH, NULL, "", NULL },
        { CCM_OPTION_PATH, NULL, "/etc/ccmd", NULL },
        { CCM_OPTION_PATH, NULL, "etc", "\"etc\" is not an absolute path" },
    };

    (void)state; /* no fixture */
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        const struct ccm_option option = { .struct_size = sizeof(option),
                                           .type = rows[i].type,
                                           .min = -3,
                                           .max = 7,
                                           .values = rows[i].values };
        struct ccm_error err = CCM_ERROR_INIT;
        const int r = plugin_option_check_value(&option, rows[i].text, &err);

        assert_int_equal(r, rows[i].reason == NULL ? 0 : -EINVAL);
        assert_contains(err.message, rows[i].reason == NULL ? "" : rows[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_listed_text_without_default),
        cmocka_unit_test(test_reads_no_further_than_told),
        cmocka_unit_test(test_larger_entries),
        cmocka_unit_test(test_bad_descriptors),
        cmocka_unit_test(test_bad_watches),
        cmocka_unit_test(test_bad_indexes),
        cmocka_unit_test(test_bad_rights),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_number_without_range),
        cmocka_unit_test(test_tables_without_end),
        cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
