/* What the decoders of all kinds share: metadata, lists, conditions. */
#include "kube/object/decode_priv.h"
#include "util/parse.h"

#include <errno.h>

int kube_decode_set_malformed(struct ccm_error *err, const char *what, const char *problem)
{
    return ccm_error_set(err, -EBADMSG, CCM_ERROR_TERMINAL, "%s: %s", what, problem);
}

int kube_decode_object(const cJSON *parent, const char *name, const cJSON **ret,
                       struct ccm_error *err)
{
    const cJSON *item = ccm_json_get(parent, name);

    if (item != NULL && !cJSON_IsObject(item)) {
        return kube_decode_set_malformed(err, name, "is not an object");
    }
    *ret = item;
    return 0;
}

int kube_decode_list(const cJSON *list, int type, size_t max, const cJSON **ret, size_t *ret_count,
                     struct ccm_error *err)
{
    const cJSON *first = list == NULL ? NULL : list->child;
    size_t count = 0;

    if (list != NULL && !cJSON_IsArray(list)) {
        return kube_decode_set_malformed(err, list->string, "is not a list");
    }
    for (const cJSON *item = first; item != NULL; item = item->next) {
        if ((item->type & 0xFF) != type) {
            return kube_decode_set_malformed(err, list->string, "has an element of the wrong type");
        }
        if (++count > max) {
            return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL, "%s: more than %zu elements",
                                 list->string, max);
        }
    }
    *ret = first;
    *ret_count = count;
    return 0;
}

int kube_decode_texts(struct kube_builder *b, const cJSON *texts, size_t max,
                      const char *const **ret, uint64_t *ret_count, struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(texts, cJSON_String, max, &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        kube_builder_put_text(b, list, i, item->valuestring);
    }
    *ret = list;
    *ret_count = count;
    return 0;
}

int kube_decode_conditions(struct kube_builder *b, const cJSON *status,
                           const struct ccm_condition *const **ret, uint64_t *ret_count,
                           struct ccm_error *err)
{
    const cJSON *item = NULL;
    size_t count = 0;
    const int r = kube_decode_list(ccm_json_get(status, "conditions"), cJSON_Object,
                                   KUBE_DECODE_MAX_LIST, &item, &count, err);

    if (r < 0) {
        return r;
    }

    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++, item = item->next) {
        const struct ccm_condition condition = {
            .type = kube_builder_text(b, ccm_json_text(item, "type")),
            .status = kube_builder_text(b, ccm_json_text(item, "status")),
            .reason = kube_builder_text(b, ccm_json_text(item, "reason")),
            .message = kube_builder_text(b, ccm_json_text(item, "message")),
            .observed_generation = ccm_json_i64(item, "observedGeneration", 0),
        };

        kube_builder_put(b, list, i, &condition, sizeof(condition));
    }
    *ret = list;
    *ret_count = count;
    return 0;
}

const struct ccm_pair *const *kube_decode_pairs(struct kube_builder *b, const cJSON **members,
                                                size_t count)
{
    void *list = kube_builder_list(b, count);

    for (size_t i = 0; i < count; i++) {
        const struct ccm_pair pair = {
            .key = kube_builder_text(b, members[i]->string),
            .value = kube_builder_text(b, members[i]->valuestring),
        };

        kube_builder_put(b, list, i, &pair, sizeof(pair));
    }
    return list;
}

/* Milliseconds of a time member; 0 when it is absent or no time. */
static int64_t time_ms(const cJSON *parent, const char *name)
{
    int64_t ms;

    return ccm_parse_rfc3339(ccm_json_text(parent, name), &ms) < 0 ? 0 : ms;
}

int kube_decode_meta(struct kube_builder *b, const struct kube_decode_source *source,
                     uint64_t struct_size, struct ccm_object *ret, struct ccm_error *err)
{
    const cJSON *meta = ccm_json_get(source->json, "metadata");

    *ret = (struct ccm_object){
        .struct_size = struct_size,
        .kind = source->kind->kind,
        .key = kube_builder_text(b, source->key),
        .namespace_ = kube_builder_text(b, ccm_json_text(meta, "namespace")),
        .name = kube_builder_text(b, ccm_json_text(meta, "name")),
        .uid = kube_builder_text(b, ccm_json_text(meta, "uid")),
        .resource_version = kube_builder_text(b, ccm_json_text(meta, "resourceVersion")),
        .generation = ccm_json_i64(meta, "generation", 0),
        .created_ms = time_ms(meta, "creationTimestamp"),
        .deleted_ms = time_ms(meta, "deletionTimestamp"),
        .labels = kube_decode_pairs(b, source->labels, source->label_count),
        .label_count = source->label_count,
        .annotations = kube_decode_pairs(b, source->annotations, source->annotation_count),
        .annotation_count = source->annotation_count,
        .too_large = source->too_large == NULL ? NULL : kube_builder_text(b, source->too_large),
    };
    if (ret->deleted_ms == 0 && ccm_json_get(meta, "deletionTimestamp") != NULL) {
        ret->deleted_ms = 1; /* unreadable, but it is being deleted */
    }
    return kube_decode_texts(b, ccm_json_get(meta, "finalizers"), KUBE_DECODE_MAX_FINALIZERS,
                             &ret->finalizers, &ret->finalizer_count, err);
}
