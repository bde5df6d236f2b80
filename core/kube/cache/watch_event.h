/* One event of a watch: {"type": "ADDED", "object": {...}}. Read in one go. No state. */
#ifndef CCM_KUBE_WATCH_EVENT_H
#define CCM_KUBE_WATCH_EVENT_H

#include "kube/object/decode.h"

enum kube_watch_type {
    KUBE_WATCH_UNKNOWN,
    KUBE_WATCH_ADDED,
    KUBE_WATCH_MODIFIED,
    KUBE_WATCH_DELETED,
    KUBE_WATCH_BOOKMARK,
    KUBE_WATCH_ERROR,
};

struct kube_watch_event {
    enum kube_watch_type type;
    struct kube_decode_text object; /* any JSON value; its text lies in that of the event */
};

/* ret: zeroed; also after a failure the caller ends it. 0; -EBADMSG: no JSON, or type or object is
 * missing. */
CCM_NODISCARD int kube_watch_event_parse(const char *text, size_t len,
                                         struct kube_watch_event *ret);
void kube_watch_event_fini(struct kube_watch_event *event);

#endif
