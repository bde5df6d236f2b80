#include "kube/occurrence.h"

#include "util/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REPLACED 3 /* bytes of the character that stands for a byte that is no UTF-8 */

#define TEXT(member, most)                                                                         \
    {                                                                                              \
        offsetof(struct kube_occurrence, member), most                                             \
    }

/* The texts, and how many bytes of each a server takes. */
static const struct {
    size_t offset;
    size_t max;
} texts[] = {
    TEXT(api_version, SIZE_MAX),
    TEXT(kind, SIZE_MAX),
    TEXT(namespace_, SIZE_MAX),
    TEXT(name, SIZE_MAX),
    TEXT(uid, SIZE_MAX),
    TEXT(resource_version, SIZE_MAX),
    TEXT(component, KUBE_EVENT_REASON_MAX),
    TEXT(reason, KUBE_EVENT_REASON_MAX),
    TEXT(message, KUBE_EVENT_TEXT_MAX),
    TEXT(topic, KUBE_EVENT_REASON_MAX),
    TEXT(cause, KUBE_EVENT_TEXT_MAX),
};

static const char **occurrence_text(struct kube_occurrence *occurrence, size_t i)
{
    return (const char **)(void *)((char *)occurrence + texts[i].offset);
}

void kube_occurrence_fini(struct kube_occurrence *occurrence)
{
    free(occurrence->texts);
    *occurrence = (struct kube_occurrence){ 0 };
}

static void occurrence_find_kind(const struct ccm_object *object, const char **ret_version,
                                 const char **ret_kind)
{
    *ret_version = "v1";
    *ret_kind = "";
    switch (object->kind) {
    case CCM_KIND_SERVICE:
        *ret_kind = "Service";
        break;
    case CCM_KIND_NODE:
        *ret_kind = "Node";
        break;
    case CCM_KIND_POD:
        *ret_kind = "Pod";
        break;
    case CCM_KIND_ENDPOINT_SLICE:
        *ret_version = "discovery.k8s.io/v1";
        *ret_kind = "EndpointSlice";
        break;
    case CCM_KIND_RAW:
        *ret_version = ((const struct ccm_raw *)object)->api_version;
        *ret_kind = ((const struct ccm_raw *)object)->kind_name;
        break;
    default:
        *ret_version = "";
        break;
    }
}

/* How much of the text takes at most max bytes once it is written: what is no UTF-8 is longer then.
 * Whoever made it may have cut it within a character; that is left out. */
static size_t occurrence_cut_text(const char *text, size_t max)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t written = 0;
    size_t len = 0;
    size_t good = 0;

    while (p[len] != '\0') {
        const size_t n = ccm_text_utf8_len(p + len);

        written += n == 0 ? REPLACED : n;
        if (written > max) {
            break;
        }
        len += n == 0 ? 1 : n;
        good = n == 0 ? good : len;
    }
    return good;
}

int kube_occurrence_make(const struct ccm_event *event, struct kube_occurrence *ret)
{
    const struct ccm_object *object = event->object;
    const bool lasts = event->struct_size > offsetof(struct ccm_event, after_ms);
    struct kube_occurrence said = {
        .namespace_ = object->namespace_,
        .name = object->name,
        .uid = object->uid,
        .resource_version = object->resource_version,
        .component = event->component,
        .reason = event->reason,
        .message = event->message,
        .topic = lasts ? event->topic : NULL,
        .cause = lasts ? event->cause : NULL,
        .after_ms = lasts ? event->after_ms : 0,
        .object_kind = object->kind,
        .warning = event->warning != 0,
    };

    occurrence_find_kind(object, &said.api_version, &said.kind);
    return kube_occurrence_copy(&said, ret);
}

int kube_occurrence_copy(const struct kube_occurrence *from, struct kube_occurrence *ret)
{
    size_t lens[CCM_ARRAY_LEN(texts)];
    size_t bytes = 0;
    char *next;

    *ret = *from;
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        const char *text = *occurrence_text(ret, i);

        lens[i] = text == NULL               ? 0
                  : texts[i].max == SIZE_MAX ? strlen(text)
                                             : occurrence_cut_text(text, texts[i].max);
        bytes += lens[i] + 1;
    }
    next = calloc(1, bytes);
    if (next == NULL) {
        *ret = (struct kube_occurrence){ 0 };
        return -ENOMEM;
    }
    ret->texts = next;
    for (size_t i = 0; i < CCM_ARRAY_LEN(texts); i++) {
        const char **text = occurrence_text(ret, i);

        if (lens[i] > 0) {
            memcpy(next, *text, lens[i]);
        }
        *text = next;
        next += lens[i] + 1;
    }
    return 0;
}

bool kube_occurrence_lasts(const struct kube_occurrence *occurrence)
{
    return !ccm_text_empty(occurrence->topic);
}

const char *kube_occurrence_cause(const struct kube_occurrence *occurrence)
{
    return kube_occurrence_lasts(occurrence) && !ccm_text_empty(occurrence->cause)
               ? occurrence->cause
               : occurrence->message;
}
