#include "kube/occurrence.h"

#include "util/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REPLACED 3 /* bytes of the character that stands for a byte that is no UTF-8 */

void kube_occurrence_fini(struct kube_occurrence *occurrence)
{
    free(occurrence->api_version);
    free(occurrence->kind);
    free(occurrence->namespace_);
    free(occurrence->name);
    free(occurrence->uid);
    free(occurrence->resource_version);
    free(occurrence->component);
    free(occurrence->reason);
    free(occurrence->message);
    free(occurrence->topic);
    free(occurrence->cause);
    *occurrence = (struct kube_occurrence){ 0 };
}

static char *occurrence_dup_text(const char *text)
{
    return strdup(text == NULL ? "" : text);
}

static bool occurrence_is_complete(const struct kube_occurrence *o)
{
    return o->api_version != NULL && o->kind != NULL && o->namespace_ != NULL && o->name != NULL &&
           o->uid != NULL && o->resource_version != NULL && o->component != NULL &&
           o->reason != NULL && o->message != NULL && o->topic != NULL && o->cause != NULL;
}

static int occurrence_end(struct kube_occurrence *occurrence)
{
    if (occurrence_is_complete(occurrence)) {
        return 0;
    }
    kube_occurrence_fini(occurrence);
    return -ENOMEM;
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

static char *occurrence_dup_cut(const char *text, size_t max)
{
    return text == NULL ? strdup("") : strndup(text, occurrence_cut_text(text, max));
}

int kube_occurrence_make(const struct ccm_event *event, struct kube_occurrence *ret)
{
    const struct ccm_object *object = event->object;
    const bool lasts = event->struct_size > offsetof(struct ccm_event, after_ms);
    const char *version;
    const char *kind;

    occurrence_find_kind(object, &version, &kind);
    *ret = (struct kube_occurrence){
        .api_version = occurrence_dup_text(version),
        .kind = occurrence_dup_text(kind),
        .namespace_ = occurrence_dup_text(object->namespace_),
        .name = occurrence_dup_text(object->name),
        .uid = occurrence_dup_text(object->uid),
        .resource_version = occurrence_dup_text(object->resource_version),
        .component = occurrence_dup_cut(event->component, KUBE_EVENT_REASON_MAX),
        .reason = occurrence_dup_cut(event->reason, KUBE_EVENT_REASON_MAX),
        .message = occurrence_dup_cut(event->message, KUBE_EVENT_TEXT_MAX),
        .topic = occurrence_dup_cut(lasts ? event->topic : NULL, KUBE_EVENT_REASON_MAX),
        .cause = occurrence_dup_cut(lasts ? event->cause : NULL, KUBE_EVENT_TEXT_MAX),
        .after_ms = lasts ? event->after_ms : 0,
        .object_kind = object->kind,
        .warning = event->warning != 0,
    };
    return occurrence_end(ret);
}

int kube_occurrence_copy(const struct kube_occurrence *from, struct kube_occurrence *ret)
{
    *ret = (struct kube_occurrence){
        .api_version = occurrence_dup_text(from->api_version),
        .kind = occurrence_dup_text(from->kind),
        .namespace_ = occurrence_dup_text(from->namespace_),
        .name = occurrence_dup_text(from->name),
        .uid = occurrence_dup_text(from->uid),
        .resource_version = occurrence_dup_text(from->resource_version),
        .component = occurrence_dup_text(from->component),
        .reason = occurrence_dup_text(from->reason),
        .message = occurrence_dup_text(from->message),
        .topic = occurrence_dup_text(from->topic),
        .cause = occurrence_dup_text(from->cause),
        .after_ms = from->after_ms,
        .object_kind = from->object_kind,
        .warning = from->warning,
    };
    return occurrence_end(ret);
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
