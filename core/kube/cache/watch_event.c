#include "kube/cache/watch_event.h"

#include "util/cleanup.h"
#include "util/json.h"

#include <errno.h>
#include <string.h>

struct cursor {
    const char *at;
    const char *end;
};

static void cursor_skip_blanks(struct cursor *c)
{
    while (c->at < c->end && strchr(" \t\r\n", *c->at) != NULL && *c->at != '\0') {
        c->at++;
    }
}

/* Whether that byte comes next; it is read over. */
static bool cursor_accept(struct cursor *c, char byte)
{
    cursor_skip_blanks(c);
    if (c->at == c->end || *c->at != byte) {
        return false;
    }
    c->at++;
    return true;
}

/* The next value, with the place where it begins; NULL: there is none. */
static cJSON *cursor_read_value(struct cursor *c, const char **ret_begin)
{
    cursor_skip_blanks(c);
    *ret_begin = c->at;
    return cJSON_ParseWithLengthOpts(c->at, (size_t)(c->end - c->at), &c->at, 0);
}

static enum kube_watch_type type_of(const char *name)
{
    static const char *const names[] = {
        [KUBE_WATCH_ADDED] = "ADDED",     [KUBE_WATCH_MODIFIED] = "MODIFIED",
        [KUBE_WATCH_DELETED] = "DELETED", [KUBE_WATCH_BOOKMARK] = "BOOKMARK",
        [KUBE_WATCH_ERROR] = "ERROR",
    };

    for (size_t i = KUBE_WATCH_ADDED; i < CCM_ARRAY_LEN(names); i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum kube_watch_type)i;
        }
    }
    return KUBE_WATCH_UNKNOWN;
}

/* One member. */
static int event_read_member(struct cursor *c, struct kube_watch_event *event, bool *has_type)
{
    const char *begin;
    CCM_CLEANUP(ccm_json_freep) cJSON *name = cursor_read_value(c, &begin);

    if (!cJSON_IsString(name) || !cursor_accept(c, ':')) {
        return -EBADMSG;
    }

    CCM_CLEANUP(ccm_json_freep) cJSON *value = cursor_read_value(c, &begin);

    if (value == NULL) {
        return -EBADMSG;
    }
    if (strcmp(name->valuestring, "type") == 0 && cJSON_IsString(value)) {
        event->type = type_of(value->valuestring);
        *has_type = true;
    } else if (strcmp(name->valuestring, "object") == 0) {
        kube_decode_text_fini(&event->object);
        event->object = (struct kube_decode_text){
            .json = CCM_STEAL(value),
            .text = begin,
            .len = (size_t)(c->at - begin),
        };
    }
    return 0;
}

int kube_watch_event_parse(const char *text, size_t len, struct kube_watch_event *ret)
{
    struct cursor c = { text, text + len };
    bool has_type = false;

    if (!cursor_accept(&c, '{')) {
        return -EBADMSG;
    }
    do {
        const int r = event_read_member(&c, ret, &has_type);

        if (r < 0) {
            return r;
        }
    } while (cursor_accept(&c, ','));
    if (!cursor_accept(&c, '}')) {
        return -EBADMSG;
    }
    cursor_skip_blanks(&c);
    return c.at == c.end && has_type && ret->object.json != NULL ? 0 : -EBADMSG;
}

void kube_watch_event_fini(struct kube_watch_event *event)
{
    kube_decode_text_fini(&event->object);
}
