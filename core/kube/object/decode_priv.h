/* Shared by the decoders of this directory; see decode.h. */
#ifndef CCM_KUBE_DECODE_PRIV_H
#define CCM_KUBE_DECODE_PRIV_H

#include "kube/object/decode.h"
#include "util/json.h"

#include <stdbool.h>

/* Sorted members of a map; the array is owned, what it points to is the tree's. */
struct kube_decode_map {
    const cJSON **members;
    size_t count;
};

/* capacity, allocatable, nodeInfo */
#define KUBE_DECODE_NODE_MAPS 3

/* One object on its way from the tree to the builder. Everything here outlives the build. */
struct kube_decode_source {
    const struct kube_decode_kind *kind;
    const cJSON *json;
    const char *text; /* raw objects: the JSON, NUL-terminated */
    const char *key;
    const cJSON **labels; /* sorted members with a text value */
    size_t label_count;
    const cJSON **annotations;
    size_t annotation_count;
    const char *too_large;                                   /* NULL: the object is whole */
    struct kube_decode_map node_info[KUBE_DECODE_NODE_MAPS]; /* of a Node whose info is kept */
    bool bystander;                                          /* see kube_decode_is_bystander() */
};

/* Take out of the tree whatever is beyond the limits of decode.h: of maps and of finalizers stays
 * what controllers go by, of lists their beginning, or nothing where half of one would mislead. Of
 * a bystander all maps and lists go. */
void kube_decode_cut(cJSON *json, const struct kube_decode_kind *kind, bool bystander);

/* Cut long values of a Service's labels and annotations, and maps that are too large, see decode.h.
 * -EMSGSIZE with err: keys that plugins declare do not all fit. -ENOMEM. */
CCM_NODISCARD int kube_decode_cut_service(cJSON *json, const struct kube_decode_kind *kind,
                                          struct ccm_error *err);

/* Whether it is a Service that no load balancer belongs to: of another type, and without a
 * finalizer, which all that made something for it leave there. */
bool kube_decode_is_bystander(const cJSON *json, uint64_t kind);

/* Take long annotations out of a bystander. */
void kube_decode_cut_bystander(cJSON *json);

/* -EBADMSG with "what: problem". */
int kube_decode_set_malformed(struct ccm_error *err, const char *what, const char *problem);

/* The elements of a list member, as ccm_json_get() finds it (NULL: absent or null, which is empty):
 * *ret is the first one or NULL, *ret_count the number. Fails when it is no list, longer than max,
 * or an element is not of `type` (cJSON_Object, cJSON_String). */
CCM_NODISCARD int kube_decode_list(const cJSON *list, int type, size_t max, const cJSON **ret,
                                   size_t *ret_count, struct ccm_error *err);

/* The same for a list of texts, which are put into the object. */
CCM_NODISCARD int kube_decode_texts(struct kube_builder *b, const cJSON *texts, size_t max,
                                    const char *const **ret, uint64_t *ret_count,
                                    struct ccm_error *err);

/* A member that is an object, or NULL in *ret when absent. Fails when it is something else. */
CCM_NODISCARD int kube_decode_object(const cJSON *parent, const char *name, const cJSON **ret,
                                     struct ccm_error *err);

/* status.conditions of a Service or a Pod, put into the object. */
CCM_NODISCARD int kube_decode_conditions(struct kube_builder *b, const cJSON *status,
                                         const struct ccm_condition *const **ret,
                                         uint64_t *ret_count, struct ccm_error *err);

/* The members of a map that hold a text, sorted: *ret is the caller's, its elements the tree's.
 * kind: what is decoded when it is about annotations, else NULL. */
CCM_NODISCARD int kube_decode_sort_map(const cJSON *parent, const char *name,
                                       const struct kube_decode_kind *kind, const cJSON ***ret,
                                       size_t *ret_count, struct ccm_error *err);

/* Put such members into the object; NULL for 0. */
const struct ccm_pair *const *kube_decode_pairs(struct kube_builder *b, const cJSON **members,
                                                size_t count);

/* The head, from metadata. */
CCM_NODISCARD int kube_decode_meta(struct kube_builder *b, const struct kube_decode_source *source,
                                   uint64_t struct_size, struct ccm_object *ret,
                                   struct ccm_error *err);

/* kube_build_fn per kind; the source is a struct kube_decode_source. */
int kube_decode_service(struct kube_builder *b, const void *source, struct ccm_error *err);
int kube_decode_slice(struct kube_builder *b, const void *source, struct ccm_error *err);
int kube_decode_node(struct kube_builder *b, const void *source, struct ccm_error *err);
int kube_decode_pod(struct kube_builder *b, const void *source, struct ccm_error *err);

#endif
