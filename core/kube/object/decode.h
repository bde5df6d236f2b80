/*
 * JSON of the API server -> objects of ccm/object.h. Only the fields of those structs are kept.
 *
 * Lenient where servers differ: a member that is absent, null, or a scalar of another type counts
 * as unset. Strict where a guess would lose something: a list or an object that is something else,
 * and a name that cannot be a key fail the whole object, so that a broken answer is never taken for
 * an empty one. Numbers are passed on as they come (cut to +-2^53); their range is for the reader
 * to judge.
 *
 * An object with more of something than the counts below is cut to what can be held, and says so
 * (`too_large` of its head): events can speak of it, and it can be released when it is deleted.
 *
 * Annotations: Services and Pods keep all of theirs; Nodes keep
 * alpha.kubernetes.io/provided-node-ip and what watches ask for; EndpointSlices keep none.
 *
 * Whoever may write a Service decides how large it is, so one that no load balancer belongs to
 * (another type, no finalizer) takes little memory: annotations of more than
 * KUBE_DECODE_BYSTANDER_VALUE bytes are left out, and one that is larger than
 * KUBE_DECODE_BYSTANDER_OBJECT all the same is cut. Of others, values are cut to
 * KUBE_DECODE_SERVICE_VALUE bytes. Where the annotations or the labels take more than
 * KUBE_DECODE_SERVICE_MAP together, or are more than KUBE_DECODE_MAX_PAIRS, keys that the watches
 * declare (`keys`) stay, and the Service is too large only if these do not fit. Keys with a domain
 * of Kubernetes take the room that is left; all others are left out. Short ones come first, so the
 * order in the object decides nothing. One thread at a time per builder.
 */
#ifndef CCM_KUBE_DECODE_H
#define CCM_KUBE_DECODE_H

#include "ccm/plugin.h"
#include "kube/object/object.h"
#include "util/buf.h"
#include "util/json.h"

/* JSON of one object; the server stores at most 1.5 MiB. */
#define KUBE_DECODE_MAX_TEXT ((size_t)3 * 1024 * 1024)
/* Decoded; a raw object may take 4 MiB. */
#define KUBE_DECODE_MAX_OBJECT ((size_t)1024 * 1024)

/* Bytes of a value, and of all labels or all annotations of a Service with their keys: plugins
 * refuse values of more than 16 KiB. */
#define KUBE_DECODE_SERVICE_VALUE ((size_t)16 * 1024 + 4)
#define KUBE_DECODE_SERVICE_MAP   ((size_t)48 * 1024)

#define KUBE_DECODE_BYSTANDER_VALUE  ((size_t)1024)
#define KUBE_DECODE_BYSTANDER_OBJECT ((size_t)16 * 1024)

#define KUBE_DECODE_MAX_PAIRS      4096 /* labels, annotations */
#define KUBE_DECODE_MAX_FINALIZERS 256
#define KUBE_DECODE_MAX_PORTS      1000
#define KUBE_DECODE_MAX_ENDPOINTS  10000
#define KUBE_DECODE_MAX_LIST       1000 /* any other list */

/* What to decode. */
struct kube_decode_kind {
    uint64_t kind; /* CCM_KIND_SERVICE, _ENDPOINT_SLICE, _NODE, _POD or _RAW */
    /* For raw objects that do not say it themselves (elements of a list do not); NULL = "". */
    const char *api_version;
    const char *kind_name;
    bool node_info; /* Nodes keep `info` */
    /* NULL-terminated; their `annotations` and `keys` count where the kind is the same. Borrowed;
     * NULL = none. */
    const struct ccm_watch *const *watches;
};

/* JSON as a tree, and the text it was made of: borrowed, not NUL-terminated. */
struct kube_decode_text {
    cJSON *json;
    const char *text;
    size_t len;
};

/* -EBADMSG (no JSON), -EMSGSIZE: TERMINAL. */
CCM_NODISCARD int kube_decode_parse(const char *text, size_t len, struct kube_decode_text *ret,
                                    struct ccm_error *err);
void kube_decode_text_fini(struct kube_decode_text *text);

/*
 * One object. *ret: one reference, the caller's. err (TERMINAL) names the member, and the key when
 * the object has one: -EBADMSG (no JSON, wrong form), -EMSGSIZE (too many bytes, also when it is
 * cut); -ENOMEM is transient.
 */
CCM_NODISCARD int kube_decode(struct kube_builder *builder, const struct kube_decode_kind *kind,
                              const char *text, size_t len, const struct ccm_object **ret,
                              struct ccm_error *err);

/* The same of a tree, which may be cut. When it fails the object's key is appended to `key` if it
 * could be read, so that the caller can tell which object it was. */
CCM_NODISCARD int kube_decode_parsed(struct kube_builder *builder,
                                     const struct kube_decode_kind *kind,
                                     const struct kube_decode_text *text,
                                     const struct ccm_object **ret, struct ccm_buf *key,
                                     struct ccm_error *err);

#endif
