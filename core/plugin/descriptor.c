#include "plugin/descriptor.h"

#include "plugin/option.h"
#include "plugin/trust.h"
#include "util/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* A table without its closing NULL must not lead far. */
#define MAX_OPTIONS 256
#define MAX_WATCHES 32
#define MAX_RIGHTS  256
#define MAX_TEXTS   64
#define MAX_INDEXES 4 /* KUBE_STORE_INDEXES */

#define KNOWN_FLAGS       (CCM_PLUGIN_SERIAL | CCM_PLUGIN_PLANS)
#define KNOWN_WATCH_FLAGS (CCM_WATCH_ALL_SLICES | CCM_WATCH_OPTIONAL | CCM_WATCH_NODE_INFO)

static_assert(sizeof(void *) != 8 || PLUGIN_SIZE_1_0 == 120, "ABI 1.0 is frozen");
static_assert(sizeof(void *) != 8 || PLUGIN_OPTION_SIZE_1_0 == 80, "ABI 1.0 is frozen");
static_assert(sizeof(void *) != 8 || PLUGIN_WATCH_SIZE_1_0 == 48, "ABI 1.0 is frozen");

const char *plugin_descriptor_kind_name(uint64_t kind)
{
    static const char *const names[] = { "?", "Service", "EndpointSlice", "Node", "Pod", "raw" };

    return kind < CCM_ARRAY_LEN(names) ? names[kind] : names[0];
}

static bool watch_same_text(const char *a, const char *b)
{
    return ccm_text_equal(a == NULL ? "" : a, b == NULL ? "" : b);
}

bool plugin_watch_is_same(const struct ccm_watch *a, const struct ccm_watch *b)
{
    return a->kind == b->kind && watch_same_text(a->api_version, b->api_version) &&
           watch_same_text(a->resource, b->resource) &&
           watch_same_text(a->namespace_, b->namespace_) &&
           watch_same_text(a->label_selector, b->label_selector) &&
           watch_same_text(a->field_selector, b->field_selector);
}

/* Whether a list of texts, which may be NULL, ends, and has no empty one. */
static bool is_text_list(const char *const *texts)
{
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++) {
        if (i == MAX_TEXTS || texts[i][0] == '\0') {
            return false;
        }
    }
    return true;
}

static int descriptor_refuse(struct ccm_error *err, const char *reason)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s", reason);
}

/* The first two members, which are the same in every major, decide whether the others are read. */
static int check_abi(const struct ccm_plugin *theirs, struct ccm_error *err)
{
    if (theirs->abi_major != CCM_ABI_MAJOR) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "built for plugin ABI %" PRIu32
                             ", this ccmd has ABI %u: build it with "
                             "the headers of this version",
                             theirs->abi_major, CCM_ABI_MAJOR);
    }
    if (theirs->struct_size < PLUGIN_SIZE_1_0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "its descriptor has %" PRIu32 " bytes, ABI 1.0 has %zu: set "
                             ".struct_size = sizeof(struct ccm_plugin)",
                             theirs->struct_size, PLUGIN_SIZE_1_0);
    }
    return 0;
}

static int check_members(const struct ccm_plugin *plugin, struct ccm_error *err)
{
    if (!plugin_trust_is_name(plugin->name)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "its name \"%.40s\" is not [a-z0-9-]{1,32}",
                             plugin->name == NULL ? "" : plugin->name);
    }
    if ((plugin->flags & ~KNOWN_FLAGS) != 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "its flags 0x%" PRIx64 " are not known to this ccmd: it needs a newer "
                             "one",
                             plugin->flags & ~KNOWN_FLAGS);
    }
    if (plugin->create == NULL) {
        return descriptor_refuse(err, "its descriptor lacks .create");
    }
    if (plugin->reconcile == NULL) {
        return descriptor_refuse(err, "its descriptor lacks .reconcile");
    }
    if (plugin->destroy == NULL) {
        return descriptor_refuse(err, "its descriptor lacks .destroy");
    }
    if (plugin->watches == NULL || plugin->watches[0] == NULL) {
        return descriptor_refuse(
            err, "it watches nothing: its descriptor needs one of .watches at least");
    }
    return is_text_list(plugin->metrics)
               ? 0
               : descriptor_refuse(err, ".metrics needs a NULL at its end, and no empty text");
}

static int check_twice(const struct ccm_option *const *list, size_t count,
                       const struct ccm_option *option, struct ccm_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (ccm_text_equal(list[i]->name, option->name) &&
            ccm_text_equal(list[i]->group, option->group)) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "option %s is listed twice",
                                 option->name);
        }
    }
    return 0;
}

static int check_unless(const struct ccm_option *const *list, size_t count,
                        const struct ccm_option *option, struct ccm_error *err)
{
    for (size_t i = 0; option->unless != NULL && i < count; i++) {
        if (list[i]->type == CCM_OPTION_BOOL && ccm_text_equal(list[i]->name, option->unless) &&
            ccm_text_equal(list[i]->group, option->group)) {
            return 0;
        }
    }
    return option->unless == NULL
               ? 0
               : ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                               "option %s: unless: no switch called %.80s stands before it",
                               option->name, option->unless);
}

static int copy_options(struct plugin_descriptor *d, struct ccm_error *err)
{
    const struct ccm_option *const *theirs = d->plugin.options;
    size_t count = 0;

    while (theirs != NULL && theirs[count] != NULL) {
        if (++count > MAX_OPTIONS) {
            return descriptor_refuse(err, "its option table has no end: close it with NULL");
        }
    }
    d->options = calloc(count + 1, sizeof(*d->options));
    d->option_list = calloc(count + 1, sizeof(const struct ccm_option *));
    if (d->options == NULL || d->option_list == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t size = (size_t)theirs[i]->struct_size;
        int r;

        if (size < PLUGIN_OPTION_SIZE_1_0) {
            return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                                 "option %zu of its table: set .struct_size = sizeof(struct "
                                 "ccm_option)",
                                 i + 1);
        }
        memcpy(&d->options[i], theirs[i], size < sizeof(*d->options) ? size : sizeof(*d->options));
        r = plugin_option_check(&d->options[i], err);
        if (r < 0) {
            return r;
        }
        r = check_twice(d->option_list, i, &d->options[i], err);
        if (r == 0) {
            r = check_unless(d->option_list, i, &d->options[i], err);
        }
        if (r < 0) {
            return r;
        }
        d->option_list[i] = &d->options[i];
    }
    d->plugin.options = d->option_list;
    return 0;
}

static int refuse_watch(struct ccm_error *err, size_t index, const char *reason)
{
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "watch %zu: %s", index + 1, reason);
}

static bool is_path_text(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-/";

    return !ccm_text_empty(text) && text[0] != '/' && text[strspn(text, letters)] == '\0';
}

/* Whether it says nothing that is for raw kinds alone. */
static bool is_plain_watch(const struct ccm_watch *watch)
{
    return watch->api_version == NULL && watch->resource == NULL && watch->namespace_ == NULL &&
           watch->label_selector == NULL && watch->field_selector == NULL &&
           watch->indexes == NULL && (watch->flags & CCM_WATCH_OPTIONAL) == 0;
}

static int check_indexes(const struct ccm_watch *watch, size_t index, struct ccm_error *err)
{
    for (size_t i = 0; watch->indexes != NULL && watch->indexes[i] != NULL; i++) {
        const struct ccm_index *own = watch->indexes[i];

        if (i == MAX_INDEXES) {
            return refuse_watch(err, index, "it has more than 4 indexes, or no NULL behind them");
        }
        if (own->struct_size < sizeof(*own) || ccm_text_empty(own->name) ||
            ccm_text_empty(own->label) == ccm_text_empty(own->path)) {
            return refuse_watch(err, index,
                                "an index needs .struct_size, .name, and either .label or .path");
        }
        if ((own->flags & ~CCM_INDEX_NAMESPACED) != 0) {
            return refuse_watch(
                err, index, "flags of its index are not known to this ccmd: it needs a newer one");
        }
        for (size_t k = 0; k < i; k++) {
            if (ccm_text_equal(watch->indexes[k]->name, own->name)) {
                return refuse_watch(err, index, "two of its indexes have the same name");
            }
        }
    }
    return 0;
}

static int check_watch(const struct ccm_watch *watch, size_t index, struct ccm_error *err)
{
    if (watch->map == NULL) {
        return refuse_watch(err, index, "lacks .map");
    }
    if ((watch->flags & ~KNOWN_WATCH_FLAGS) != 0) {
        return refuse_watch(err, index,
                            "its flags are not known to this ccmd: it needs a newer one");
    }
    if (watch->kind == CCM_KIND_POD) {
        return refuse_watch(err, index, "Pods cannot be watched");
    }
    if (watch->kind < CCM_KIND_SERVICE || watch->kind > CCM_KIND_RAW) {
        return refuse_watch(err, index, "its kind is not known to this ccmd");
    }
    if ((watch->flags & CCM_WATCH_NODE_INFO) != 0 && watch->kind != CCM_KIND_NODE) {
        return refuse_watch(err, index, "CCM_WATCH_NODE_INFO is for Nodes only");
    }
    if (!is_text_list(watch->annotations) || !is_text_list(watch->keys)) {
        return refuse_watch(err, index,
                            ".annotations and .keys need a NULL at their end, and no empty text");
    }
    if (watch->kind != CCM_KIND_RAW) {
        return is_plain_watch(watch)
                   ? 0
                   : refuse_watch(err, index,
                                  ".api_version, .resource, selectors, .indexes and "
                                  "CCM_WATCH_OPTIONAL are for raw kinds only");
    }
    if (!is_path_text(watch->api_version)) {
        return refuse_watch(err, index, "a raw kind needs .api_version, such as \"apps/v1\"");
    }
    if (!is_path_text(watch->resource) || strchr(watch->resource, '/') != NULL) {
        return refuse_watch(err, index, "a raw kind needs .resource, such as \"deployments\"");
    }
    if (!ccm_text_empty(watch->namespace_) &&
        (!is_path_text(watch->namespace_) || strpbrk(watch->namespace_, "/.") != NULL)) {
        return refuse_watch(err, index, ".namespace_ is no name of a namespace");
    }
    return check_indexes(watch, index, err);
}

static int copy_one_watch(struct plugin_descriptor *d, const struct ccm_watch *theirs, size_t index,
                          struct ccm_error *err)
{
    const size_t size = (size_t)theirs->struct_size;
    struct ccm_watch *ours = &d->watches[index];
    int r;

    if (size < PLUGIN_WATCH_SIZE_1_0) {
        return refuse_watch(err, index, "set .struct_size = sizeof(struct ccm_watch)");
    }
    memcpy(ours, theirs, size < sizeof(*ours) ? size : sizeof(*ours));
    r = check_watch(ours, index, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < index; i++) {
        if (plugin_watch_is_same(&d->watches[i], ours)) {
            return refuse_watch(err, index, "the same kind is watched already");
        }
    }
    d->watch_list[index] = ours;
    return 0;
}

static int copy_watches(struct plugin_descriptor *d, struct ccm_error *err)
{
    const struct ccm_watch *const *theirs = d->plugin.watches;
    size_t count = 0;

    while (theirs[count] != NULL) {
        if (++count > MAX_WATCHES) {
            return descriptor_refuse(err, "its table of watches has no end: close it with NULL");
        }
    }
    d->watches = calloc(count, sizeof(*d->watches));
    d->watch_list = calloc(count + 1, sizeof(const struct ccm_watch *));
    if (d->watches == NULL || d->watch_list == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        const int r = copy_one_watch(d, theirs[i], i, err);

        if (r < 0) {
            return r;
        }
    }
    d->plugin.watches = d->watch_list;
    return 0;
}

static bool is_name_text(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-:";

    return ccm_text_empty(text) || text[strspn(text, letters)] == '\0';
}

static int check_rights(const struct ccm_plugin *plugin, struct ccm_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz, ";

    for (size_t i = 0; plugin->rights != NULL && plugin->rights[i] != NULL; i++) {
        const struct ccm_right *right = plugin->rights[i];

        if (i == MAX_RIGHTS) {
            return descriptor_refuse(err, "its table of rights has no end: close it with NULL");
        }
        if (right->struct_size < sizeof(*right) || !is_path_text(right->api_version) ||
            !is_path_text(right->resource) || ccm_text_empty(right->verbs) ||
            right->verbs[strspn(right->verbs, letters)] != '\0' ||
            !is_name_text(right->namespace_) || !is_name_text(right->name)) {
            return ccm_error_set(
                err, -EINVAL, CCM_ERROR_TERMINAL,
                "right %zu: it needs .struct_size, .api_version, .resource and "
                ".verbs, such as \"example.com/v1\", \"buckets/status\", \"patch\"",
                i + 1);
        }
    }
    return 0;
}

static int descriptor_copy_plugin(struct plugin_descriptor *d, const struct ccm_plugin *theirs,
                                  struct ccm_error *err)
{
    int r = check_abi(theirs, err);

    if (r < 0) {
        return r;
    }
    memcpy(&d->plugin, theirs,
           theirs->struct_size < sizeof(d->plugin) ? theirs->struct_size : sizeof(d->plugin));
    r = check_members(&d->plugin, err);
    if (r < 0) {
        return r;
    }
    if (d->plugin.version == NULL) {
        d->plugin.version = "";
    }
    if (d->plugin.summary == NULL) {
        d->plugin.summary = "";
    }
    r = check_rights(&d->plugin, err);
    if (r < 0) {
        return r;
    }
    r = copy_options(d, err);
    if (r < 0) {
        return r;
    }
    return copy_watches(d, err);
}

int plugin_descriptor_init(struct plugin_descriptor *descriptor, const struct ccm_plugin *theirs,
                           struct ccm_error *err)
{
    int r;

    memset(descriptor, 0, sizeof(*descriptor));
    r = descriptor_copy_plugin(descriptor, theirs, err);
    if (r < 0) {
        plugin_descriptor_fini(descriptor);
    }
    return r;
}

void plugin_descriptor_fini(struct plugin_descriptor *descriptor)
{
    free(descriptor->options);
    free(descriptor->option_list);
    free(descriptor->watches);
    free(descriptor->watch_list);
    memset(descriptor, 0, sizeof(*descriptor));
}
