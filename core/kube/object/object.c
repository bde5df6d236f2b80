#include "kube/object/object.h"

#include "kube/object/names.h"
#include "util/array.h"
#include "util/cleanup.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What lies in front of each object. Its size keeps the object aligned. */
struct header {
    alignas(max_align_t) atomic_uint refs;
    uint32_t bytes;
    struct kube_names *names; /* where the names of nodes of an EndpointSlice are; else NULL */
};

struct text {
    const char *source;
    uint32_t hash;
    uint32_t len;
    uint32_t offset; /* in the text part of the object */
};

/*
 * First run: node_bytes, root_bytes and the texts are collected. Then the block is allocated, the
 * texts are copied, and the second run only takes addresses. Layout: header, root, nodes, text.
 */
struct kube_builder {
    bool measuring;
    size_t root_bytes;
    size_t node_bytes;
    size_t node_used; /* second run */
    char *root;
    char *nodes;
    char *chars;
    size_t char_bytes;
    struct text *texts;
    size_t text_count;
    size_t text_cap;
    uint32_t *slots; /* hash table: 1 + index into texts, 0 = free; slot_count is a power of two */
    size_t slot_count;
    /* Names of nodes, in the order in which they are asked for; ours until the object has them. */
    struct kube_names *names;
    const char **taken;
    size_t taken_count;
    size_t taken_cap;
    size_t taken_used; /* second run */
    int error;
};

/* Scratch that a giant object left behind is given back, so that the memory follows what is usual.
 */
#define HASH_END   128 /* bytes of a long text at either end */
#define KEEP_TEXTS ((size_t)4096)

static struct header *header_of(const struct ccm_object *object)
{
    return (struct header *)((uintptr_t)object - sizeof(struct header));
}

const struct ccm_object *kube_object_ref(const struct ccm_object *object)
{
    atomic_fetch_add_explicit(&header_of(object)->refs, 1, memory_order_relaxed);
    return object;
}

/* Only EndpointSlices have names. */
static void object_drop_names(const struct ccm_object *object)
{
    struct kube_names *names = header_of(object)->names;
    const struct ccm_endpoint_slice *slice =
        (const struct ccm_endpoint_slice *)(const void *)object;

    for (size_t i = 0; names != NULL && i < slice->endpoint_count; i++) {
        if (slice->endpoints[i]->node_name[0] != '\0') {
            kube_names_drop(names, slice->endpoints[i]->node_name);
        }
    }
    kube_names_unref(names);
}

void kube_object_unref(const struct ccm_object *object)
{
    if (object != NULL &&
        atomic_fetch_sub_explicit(&header_of(object)->refs, 1, memory_order_acq_rel) == 1) {
        object_drop_names(object);
        free(header_of(object));
    }
}

void kube_object_unrefp(const struct ccm_object **object)
{
    kube_object_unref(*object);
}

size_t kube_object_bytes(const struct ccm_object *object)
{
    return header_of(object)->bytes;
}

static void builder_drop_names(struct kube_builder *b)
{
    while (b->taken_count > 0) {
        kube_names_drop(b->names, b->taken[--b->taken_count]);
    }
}

struct kube_builder *kube_builder_new(void)
{
    CCM_CLEANUP(ccm_freep) struct kube_builder *builder = calloc(1, sizeof(*builder));

    if (builder == NULL) {
        return NULL;
    }
    builder->names = kube_names_new();
    return builder->names == NULL ? NULL : CCM_STEAL(builder);
}

void kube_builder_free(struct kube_builder *builder)
{
    if (builder != NULL) {
        builder_drop_names(builder);
        kube_names_unref(builder->names);
        free(builder->taken);
        free(builder->texts);
        free(builder->slots);
        free(builder);
    }
}

void kube_builder_freep(struct kube_builder **builder)
{
    kube_builder_free(*builder);
}

static size_t round_up(size_t bytes)
{
    return (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

/* Lists and list elements hold nothing wider than a pointer or int64_t. */
static size_t round_node(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static uint32_t hash_bytes(uint32_t hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    }
    return hash;
}

/* Of a long one its ends and its length: that few are alike in these and differ. */
static uint32_t hash_text(const char *text, size_t len)
{
    const uint32_t hash = 2166136261U ^ (uint32_t)len;

    return len <= 2 * HASH_END
               ? hash_bytes(hash, text, len)
               : hash_bytes(hash_bytes(hash, text, HASH_END), text + len - HASH_END, HASH_END);
}

static void builder_reset(struct kube_builder *b)
{
    if (b->text_cap > KEEP_TEXTS) {
        free(b->texts);
        free(b->slots);
        b->texts = NULL;
        b->slots = NULL;
        b->text_cap = 0;
        b->slot_count = 0;
    }
    if (b->slots != NULL) {
        memset(b->slots, 0, b->slot_count * sizeof(*b->slots));
    }
    if (b->taken_cap > KEEP_TEXTS) {
        free(b->taken);
        b->taken = NULL;
        b->taken_cap = 0;
    }
    b->taken_used = 0;
    b->measuring = true;
    b->root_bytes = 0;
    b->node_bytes = 0;
    b->node_used = 0;
    b->root = NULL;
    b->nodes = NULL;
    b->chars = NULL;
    b->char_bytes = 0;
    b->text_count = 0;
    b->error = 0;
}

/* The slot where the text is, or belongs. The table is never full. */
static size_t find_slot(const struct kube_builder *b, const char *text, size_t len, uint32_t hash)
{
    size_t i = hash & (b->slot_count - 1);

    while (b->slots[i] != 0) {
        const struct text *known = &b->texts[b->slots[i] - 1];

        if (known->hash == hash && known->len == len && memcmp(known->source, text, len) == 0) {
            break;
        }
        i = (i + 1) & (b->slot_count - 1);
    }
    return i;
}

static int grow_slots(struct kube_builder *b)
{
    const size_t count = b->slot_count == 0 ? 128 : b->slot_count * 2;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (slots == NULL) {
        return -ENOMEM;
    }
    free(b->slots);
    b->slots = slots;
    b->slot_count = count;
    for (size_t i = 0; i < b->text_count; i++) {
        const struct text *text = &b->texts[i];

        b->slots[find_slot(b, text->source, text->len, text->hash)] = (uint32_t)i + 1;
    }
    return 0;
}

static int builder_collect_text(struct kube_builder *b, const char *text, size_t len)
{
    const uint32_t hash = hash_text(text, len);

    if (len >= UINT32_MAX / 2 || b->char_bytes >= UINT32_MAX / 2) {
        return -EMSGSIZE;
    }
    if (b->text_count * 2 >= b->slot_count && grow_slots(b) < 0) {
        return -ENOMEM;
    }

    const size_t slot = find_slot(b, text, len, hash);

    if (b->slots[slot] != 0) {
        return 0;
    }

    const int r = ccm_array_grow(&b->texts, &b->text_cap, b->text_count + 1, sizeof(*b->texts));

    if (r < 0) {
        return r;
    }
    b->texts[b->text_count] = (struct text){
        .source = text,
        .hash = hash,
        .len = (uint32_t)len,
        .offset = (uint32_t)b->char_bytes,
    };
    b->text_count++;
    b->slots[slot] = (uint32_t)b->text_count;
    b->char_bytes += len + 1;
    return 0;
}

const char *kube_builder_text(struct kube_builder *b, const char *text)
{
    const size_t len = text == NULL ? 0 : strlen(text);

    if (len == 0 || b->error < 0) {
        return "";
    }
    if (b->measuring) {
        b->error = builder_collect_text(b, text, len);
        return "";
    }

    const uint32_t found = b->slots[find_slot(b, text, len, hash_text(text, len))];

    if (found == 0) {
        b->error = -EIO; /* the second run said something new */
        return "";
    }
    return b->chars + b->texts[found - 1].offset;
}

static int builder_intern_name(struct kube_builder *b, const char *name)
{
    if (ccm_array_grow(&b->taken, &b->taken_cap, b->taken_count + 1, sizeof(*b->taken)) < 0) {
        return -ENOMEM;
    }
    b->taken[b->taken_count] = kube_names_intern(b->names, name);
    if (b->taken[b->taken_count] == NULL) {
        return -ENOMEM;
    }
    b->taken_count++;
    return 0;
}

const char *kube_builder_node_name(struct kube_builder *b, const char *name)
{
    if (name[0] == '\0' || b->error < 0) {
        return "";
    }
    if (b->measuring) {
        b->error = builder_intern_name(b, name);
        return "";
    }
    if (b->taken_used == b->taken_count || strcmp(b->taken[b->taken_used], name) != 0) {
        b->error = -EIO; /* the second run said something new */
        return "";
    }
    return b->taken[b->taken_used++];
}

/* Room among the nodes; NULL while measuring or when the second run asks for more than the first.
 */
static void *builder_alloc_node(struct kube_builder *b, size_t bytes)
{
    const size_t size = round_node(bytes);

    if (b->error < 0) {
        return NULL;
    }
    if (b->measuring) {
        b->node_bytes += size;
        if (b->node_bytes > UINT32_MAX / 2) {
            b->error = -EMSGSIZE;
        }
        return NULL;
    }
    if (size > b->node_bytes - b->node_used) {
        b->error = -EIO;
        return NULL;
    }

    void *node = b->nodes + b->node_used;

    b->node_used += size;
    return node;
}

void *kube_builder_list(struct kube_builder *b, size_t count)
{
    if (count > UINT32_MAX / sizeof(void *)) {
        b->error = -EMSGSIZE;
        return NULL;
    }
    return count == 0 ? NULL : builder_alloc_node(b, count * sizeof(void *));
}

/* By memcpy: the list is read as an array of pointers to another type than the one stored here. */
static void set_pointer(void *list, size_t i, const void *pointer)
{
    if (list != NULL) {
        memcpy((char *)list + i * sizeof(pointer), &pointer, sizeof(pointer));
    }
}

void kube_builder_put(struct kube_builder *b, void *list, size_t i, const void *item, size_t size)
{
    void *node = builder_alloc_node(b, size);

    if (node != NULL) {
        memcpy(node, item, size);
        set_pointer(list, i, node);
    }
}

void kube_builder_put_text(struct kube_builder *b, void *list, size_t i, const char *text)
{
    set_pointer(list, i, kube_builder_text(b, text));
}

void kube_builder_root(struct kube_builder *b, const void *typed, size_t size)
{
    if (b->measuring) {
        b->root_bytes = round_up(size);
    } else if (round_up(size) == b->root_bytes) {
        memcpy(b->root, typed, size);
    } else {
        b->error = -EIO;
    }
}

static int builder_fail_two_ways(struct ccm_error *err)
{
    return ccm_error_set(err, -EIO, CCM_ERROR_BUG, "an object was described in two ways");
}

/* Run the description once; the sticky failure of the builder counts as its failure. */
static int builder_run_description(struct kube_builder *b, kube_build_fn fn, const void *source,
                                   struct ccm_error *err)
{
    const int r = fn(b, source, err);

    if (r < 0) {
        return r;
    }
    if (b->error == -EMSGSIZE) {
        return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL, "the object is too large");
    }
    if (b->error == -EIO || b->root_bytes == 0) {
        return builder_fail_two_ways(err);
    }
    return b->error < 0 ? ccm_error_nomem(err) : 0;
}

static int builder_build_object(struct kube_builder *b, kube_build_fn fn, const void *source,
                                size_t max_bytes, const struct ccm_object **ret,
                                struct ccm_error *err)
{
    int r = builder_run_description(b, fn, source, err);

    if (r < 0) {
        return r;
    }

    const size_t bytes = sizeof(struct header) + b->root_bytes + b->node_bytes + b->char_bytes;

    if (bytes > max_bytes || bytes > UINT32_MAX) {
        return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL,
                             "the object takes %zu bytes, at most %zu are allowed", bytes,
                             max_bytes);
    }

    CCM_CLEANUP(ccm_freep) struct header *header = calloc(1, bytes);

    if (header == NULL) {
        return ccm_error_nomem(err);
    }
    atomic_init(&header->refs, 1);
    header->bytes = (uint32_t)bytes;
    b->root = (char *)header + sizeof(*header);
    b->nodes = b->root + b->root_bytes;
    b->chars = b->nodes + b->node_bytes;
    for (size_t i = 0; i < b->text_count; i++) {
        memcpy(b->chars + b->texts[i].offset, b->texts[i].source, b->texts[i].len);
    }
    b->measuring = false;
    r = builder_run_description(b, fn, source, err);
    if (r < 0) {
        return r;
    }
    if (b->taken_used < b->taken_count) {
        return builder_fail_two_ways(err);
    }
    if (b->taken_count > 0) {
        header->names = kube_names_ref(b->names);
        b->taken_count = 0; /* they are the object's from here on */
    }
    *ret = (const struct ccm_object *)(const void *)b->root;
    header = NULL; /* owned by the object's reference from here on */
    return 0;
}

int kube_object_build(struct kube_builder *b, kube_build_fn fn, const void *source,
                      size_t max_bytes, const struct ccm_object **ret, struct ccm_error *err)
{
    builder_reset(b);

    const int r = builder_build_object(b, fn, source, max_bytes, ret, err);

    builder_drop_names(b); /* those of an object that was not made */
    return r;
}
