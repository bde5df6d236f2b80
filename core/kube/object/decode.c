#include "kube/object/decode.h"

#include "kube/object/decode_priv.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 253 /* of a name or a namespace, as the API has it */

static int decode_raw(struct kube_builder *b, const void *arg, struct ccm_error *err)
{
    const struct kube_decode_source *source = arg;
    const char *version = ccm_json_str(source->json, "apiVersion");
    const char *kind = ccm_json_str(source->json, "kind");
    struct ccm_raw raw = { 0 };
    const int r = kube_decode_meta(b, source, sizeof(raw), &raw.meta, err);

    if (r < 0) {
        return r;
    }
    raw.api_version = kube_builder_text(b, version != NULL ? version : source->kind->api_version);
    raw.kind_name = kube_builder_text(b, kind != NULL ? kind : source->kind->kind_name);
    raw.json = kube_builder_text(b, source->text);
    kube_builder_root(b, &raw, sizeof(raw));
    return 0;
}

static bool is_annotation_watched(const struct kube_decode_kind *kind, const char *key)
{
    for (const struct ccm_watch *const *w = kind->watches; w != NULL && *w != NULL; w++) {
        const char *const *own = (*w)->kind == kind->kind ? (*w)->annotations : NULL;

        for (; own != NULL && *own != NULL; own++) {
            if (strcmp(*own, key) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a plugin reads the annotation. */
static bool is_annotation_kept(const struct kube_decode_kind *kind, const char *key)
{
    switch (kind->kind) {
    case CCM_KIND_ENDPOINT_SLICE:
        return false;
    case CCM_KIND_NODE:
        return strcmp(key, "alpha.kubernetes.io/provided-node-ip") == 0 ||
               is_annotation_watched(kind, key);
    default:
        return true;
    }
}

static int compare_members(const void *a, const void *b)
{
    const cJSON *const *left = a;
    const cJSON *const *right = b;

    return strcmp((*left)->string, (*right)->string);
}

int kube_decode_sort_map(const cJSON *meta, const char *name, const struct kube_decode_kind *kind,
                         const cJSON ***ret, size_t *ret_count, struct ccm_error *err)
{
    const cJSON *map = NULL;
    CCM_CLEANUP(ccm_freep) const cJSON **members = NULL;
    size_t count = 0;
    size_t cap = 0;
    const int r = kube_decode_object(meta, name, &map, err);

    if (r < 0) {
        return r;
    }
    for (const cJSON *item = map == NULL ? NULL : map->child; item != NULL; item = item->next) {
        if (!cJSON_IsString(item) || (kind != NULL && !is_annotation_kept(kind, item->string))) {
            continue;
        }
        if (count == KUBE_DECODE_MAX_PAIRS) {
            return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL, "%s: more than %d entries",
                                 name, KUBE_DECODE_MAX_PAIRS);
        }
        if (ccm_array_grow(&members, &cap, count + 1, sizeof(const cJSON *)) < 0) {
            return ccm_error_nomem(err);
        }
        members[count++] = item;
    }
    if (count > 1) {
        qsort(members, count, sizeof(const cJSON *), compare_members);
    }
    *ret = CCM_STEAL(members);
    *ret_count = count;
    return 0;
}

/* A block of YAML ends with a line end that is not part of what its author means. */
static void strip_annotations(const cJSON *meta)
{
    const cJSON *map = ccm_json_get(meta, "annotations");

    for (const cJSON *item = ccm_json_members(map); item != NULL; item = item->next) {
        if (cJSON_IsString(item)) {
            ccm_text_strip(item->valuestring);
        }
    }
}

static bool usable_name(const char *name)
{
    return strlen(name) <= NAME_MAX_BYTES && strchr(name, '/') == NULL;
}

static int read_key(const cJSON *meta, struct ccm_buf *key, struct ccm_error *err)
{
    const char *namespace_ = ccm_json_text(meta, "namespace");
    const char *name = ccm_json_text(meta, "name");

    if (name[0] == '\0') {
        return kube_decode_set_malformed(err, "metadata.name", "missing");
    }
    if (!usable_name(name) || !usable_name(namespace_)) {
        return kube_decode_set_malformed(err, "metadata.name", "cannot be a name");
    }
    if (namespace_[0] != '\0') {
        ccm_buf_addf(key, "%s/", namespace_);
    }
    ccm_buf_adds(key, name);
    return ccm_buf_error(key) < 0 ? ccm_error_nomem(err) : 0;
}

/* Maps of a Node's status, in the order of struct ccm_node_info. */
static int decode_sort_node(struct kube_decode_source *source, struct ccm_error *err)
{
    static const char *const names[KUBE_DECODE_NODE_MAPS] = { "capacity", "allocatable",
                                                              "nodeInfo" };
    const cJSON *status = NULL;
    int r = kube_decode_object(source->json, "status", &status, err);

    for (size_t i = 0; r == 0 && i < CCM_ARRAY_LEN(names); i++) {
        struct kube_decode_map *map = &source->node_info[i];

        r = kube_decode_sort_map(status, names[i], NULL, &map->members, &map->count, err);
    }
    return r;
}

static void decode_free_node(struct kube_decode_source *source)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(source->node_info); i++) {
        ccm_freep(&source->node_info[i].members);
        source->node_info[i] = (struct kube_decode_map){ 0 };
    }
}

static int decode_build_object(struct kube_builder *b, struct kube_decode_source *source,
                               const struct ccm_object **ret, struct ccm_error *err)
{
    static const struct {
        kube_build_fn fn;
        size_t max;
    } decoders[] = {
        [CCM_KIND_SERVICE] = { kube_decode_service, KUBE_DECODE_MAX_OBJECT },
        [CCM_KIND_ENDPOINT_SLICE] = { kube_decode_slice, KUBE_DECODE_MAX_OBJECT },
        [CCM_KIND_NODE] = { kube_decode_node, KUBE_DECODE_MAX_OBJECT },
        [CCM_KIND_POD] = { kube_decode_pod, KUBE_DECODE_MAX_OBJECT },
        [CCM_KIND_RAW] = { decode_raw, (size_t)4 * 1024 * 1024 },
    };
    const uint64_t kind = source->kind->kind;
    const cJSON *meta = ccm_json_get(source->json, "metadata");
    CCM_CLEANUP(ccm_freep) const cJSON **labels = NULL;
    CCM_CLEANUP(ccm_freep) const cJSON **annotations = NULL;

    if (kind >= CCM_ARRAY_LEN(decoders) || decoders[kind].fn == NULL) {
        return ccm_error_set(err, -ENOTSUP, CCM_ERROR_BUG, "no decoder for this kind");
    }

    int r = kube_decode_sort_map(meta, "labels", NULL, &labels, &source->label_count, err);

    if (r == 0) {
        r = kube_decode_sort_map(meta, "annotations", source->kind, &annotations,
                                 &source->annotation_count, err);
    }
    if (r < 0) {
        return r;
    }
    source->labels = labels;
    source->annotations = annotations;
    if (kind == CCM_KIND_NODE && source->kind->node_info) {
        r = decode_sort_node(source, err);
    }
    if (r == 0) {
        r = kube_object_build(b, decoders[kind].fn, source,
                              source->bystander ? KUBE_DECODE_BYSTANDER_OBJECT : decoders[kind].max,
                              ret, err);
    }
    decode_free_node(source);
    return r;
}

/* The same for what is within the limits. */
static int build_cut(struct kube_builder *b, struct kube_decode_source *source, cJSON *json,
                     const struct ccm_object **ret, struct ccm_error *err)
{
    char problem[256];

    ccm_text_copy(problem, sizeof(problem), err->message);
    ccm_error_clear(err);
    kube_decode_cut(json, source->kind, source->bystander);
    source->too_large = problem;

    const int r = decode_build_object(b, source, ret, err);

    source->too_large = NULL;
    return r;
}

int kube_decode_parse(const char *text, size_t len, struct kube_decode_text *ret,
                      struct ccm_error *err)
{
    if (len > KUBE_DECODE_MAX_TEXT) {
        return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL, "an object of %zu bytes", len);
    }
    if (ccm_json_parse(text, len, &ret->json) < 0) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TERMINAL, "not a JSON object");
    }
    ret->text = text;
    ret->len = len;
    return 0;
}

void kube_decode_text_fini(struct kube_decode_text *text)
{
    ccm_json_freep(&text->json);
    text->json = NULL;
}

int kube_decode_parsed(struct kube_builder *b, const struct kube_decode_kind *kind,
                       const struct kube_decode_text *text, const struct ccm_object **ret,
                       struct ccm_buf *key, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf own_key = { .max = 2 * NAME_MAX_BYTES + 2 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf raw = { .max = KUBE_DECODE_MAX_TEXT };
    const cJSON *meta = NULL;
    int r;

    if (!cJSON_IsObject(text->json)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TERMINAL, "not a JSON object");
    }
    r = kube_decode_object(text->json, "metadata", &meta, err);
    if (r == 0) {
        r = read_key(meta, &own_key, err);
    }
    if (r < 0) {
        return r;
    }
    if (kind->kind == CCM_KIND_RAW) {
        ccm_buf_add(&raw, text->text, text->len);
        if (ccm_buf_error(&raw) < 0) {
            return ccm_error_nomem(err);
        }
    }

    struct kube_decode_source source = {
        .kind = kind,
        .json = text->json,
        .text = ccm_buf_str(&raw),
        .key = ccm_buf_str(&own_key),
        .bystander = kube_decode_is_bystander(text->json, kind->kind),
    };

    if (source.bystander) {
        kube_decode_cut_bystander(text->json);
    }
    if (kind->kind == CCM_KIND_SERVICE) {
        strip_annotations(meta);
    }

    if (kind->kind == CCM_KIND_SERVICE && !source.bystander) {
        r = kube_decode_cut_service(text->json, kind, err);
    }
    r = r < 0 ? r : decode_build_object(b, &source, ret, err);
    if (r == -EMSGSIZE) {
        r = build_cut(b, &source, text->json, ret, err);
    }
    if (r < 0) {
        ccm_buf_adds(key, source.key);
        return ccm_error_wrap(err, r, "%s", source.key);
    }
    return 0;
}

int kube_decode(struct kube_builder *b, const struct kube_decode_kind *kind, const char *text,
                size_t len, const struct ccm_object **ret, struct ccm_error *err)
{
    CCM_CLEANUP(kube_decode_text_fini) struct kube_decode_text parsed = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { .max = 2 * NAME_MAX_BYTES + 2 };
    const int r = kube_decode_parse(text, len, &parsed, err);

    if (r < 0) {
        return r;
    }
    return kube_decode_parsed(b, kind, &parsed, ret, &key, err);
}
