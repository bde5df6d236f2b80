#include "kube/cache/jsonstream.h"

#include <errno.h>
#include <string.h>

enum state {
    STATE_OPEN,         /* MEMBERS: before the '{' */
    STATE_FIRST_NAME,   /* a name or '}' */
    STATE_NEXT_NAME,    /* a name */
    STATE_NAME,         /* inside the name */
    STATE_COLON,        /* ':' */
    STATE_MEMBER,       /* the member's value begins */
    STATE_AFTER_MEMBER, /* ',' or '}' */
    STATE_FIRST_ITEM,   /* an element or ']' */
    STATE_NEXT_ITEM,    /* an element */
    STATE_AFTER_ITEM,   /* ',' or ']' */
    STATE_VALUE,        /* inside a value that is being collected; LINES: always */
    STATE_DONE,         /* MEMBERS: only blanks may follow */
};

void kube_jsonstream_init(struct kube_jsonstream *s, enum kube_jsonstream_form form,
                          const char *array, size_t max, const struct kube_jsonstream_sink *sink)
{
    memset(s, 0, sizeof(*s));
    s->form = form;
    s->array = array;
    s->sink = sink;
    s->state = form == KUBE_JSONSTREAM_LINES ? STATE_VALUE : STATE_OPEN;
    s->after = STATE_VALUE;
    s->held.max = max;
}

void kube_jsonstream_fini(struct kube_jsonstream *s)
{
    ccm_buf_fini(&s->held);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_scalar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
           c == 'E';
}

static bool open_bracket(struct kube_jsonstream *s, char c)
{
    const uint64_t bit = UINT64_C(1) << (s->depth % 64);

    if (s->scalar || s->depth == KUBE_JSONSTREAM_DEPTH) {
        return false;
    }
    if (c == '[') {
        s->brackets[s->depth / 64] |= bit;
    } else {
        s->brackets[s->depth / 64] &= ~bit;
    }
    s->depth++;
    return true;
}

static bool close_bracket(struct kube_jsonstream *s, char c)
{
    s->depth--;

    const bool square = (s->brackets[s->depth / 64] >> (s->depth % 64) & 1) != 0;

    return square == (c == ']');
}

/* One byte inside a string. True when that ended the string. */
static bool string_byte(struct kube_jsonstream *s, char c)
{
    if (s->escaped) {
        s->escaped = false;
    } else if (c == '\\') {
        s->escaped = true;
    } else if (c == '"') {
        s->in_string = false;
        return true;
    }
    return false;
}

/* What a byte outside of strings does to the value being read. */
enum step { STEP_MORE, STEP_END_AFTER, STEP_END_BEFORE, STEP_BAD };

static enum step value_byte(struct kube_jsonstream *s, char c)
{
    const bool outermost = s->depth == 0;

    switch (c) {
    case '"':
        s->in_string = true;
        return outermost && s->scalar ? STEP_BAD : STEP_MORE;
    case '{':
    case '[':
        return open_bracket(s, c) ? STEP_MORE : STEP_BAD;
    case '}':
    case ']':
        if (outermost) {
            return s->scalar ? STEP_END_BEFORE : STEP_BAD;
        }
        if (!close_bracket(s, c)) {
            return STEP_BAD;
        }
        return s->depth == 0 ? STEP_END_AFTER : STEP_MORE;
    default:
        break;
    }
    if (!outermost) {
        return STEP_MORE; /* the parser of the piece looks at it */
    }
    if (is_scalar(c)) {
        s->scalar = true;
        return STEP_MORE;
    }
    return s->scalar && (c == ',' || is_blank(c)) ? STEP_END_BEFORE : STEP_BAD;
}

/* Length of what belongs to the value in this chunk; *ret_done when the value ends there. */
static int scan_value(struct kube_jsonstream *s, const char *data, size_t len, size_t *ret_used,
                      bool *ret_done)
{
    *ret_done = false;
    for (size_t i = 0; i < len; i++) {
        if (s->in_string) {
            if (string_byte(s, data[i]) && s->depth == 0) {
                *ret_used = i + 1;
                *ret_done = true;
                return 0;
            }
            continue;
        }

        const enum step step = value_byte(s, data[i]);

        if (step == STEP_BAD) {
            return -EBADMSG;
        }
        if (step != STEP_MORE) {
            *ret_used = step == STEP_END_AFTER ? i + 1 : i;
            *ret_done = true;
            return 0;
        }
    }
    *ret_used = len;
    return 0;
}

static int jsonstream_emit_value(struct kube_jsonstream *s, const char *text, size_t len)
{
    s->state = s->after;
    if (s->after != STATE_AFTER_MEMBER) {
        return s->sink->item(s->sink->arg, text, len);
    }
    return s->sink->member == NULL ? 0 : s->sink->member(s->sink->arg, s->name, text, len);
}

static int jsonstream_emit_held(struct kube_jsonstream *s)
{
    const int r = jsonstream_emit_value(s, s->held.data, s->held.len);

    if (s->held.cap > 256 * 1024) {
        ccm_buf_fini(&s->held); /* an unusually large piece shall not stay in memory */
    } else {
        ccm_buf_reset(&s->held);
    }
    return r;
}

/* Consume value bytes; a value that lies in one chunk is handed on without a copy. */
static int feed_value(struct kube_jsonstream *s, const char *data, size_t len, size_t *ret_used)
{
    bool done;
    int r = scan_value(s, data, len, ret_used, &done);

    if (r < 0) {
        return r;
    }
    if (done && s->held.len == 0) {
        return *ret_used > s->held.max ? -EMSGSIZE : jsonstream_emit_value(s, data, *ret_used);
    }
    ccm_buf_add(&s->held, data, *ret_used);
    r = ccm_buf_error(&s->held);
    if (r < 0 || !done) {
        return r;
    }
    return jsonstream_emit_held(s);
}

/* Hand on a line, or hold its beginning. What does not begin as an object is not waited for. */
static int feed_line(struct kube_jsonstream *s, const char *data, size_t len, size_t *ret_used)
{
    const char *end = memchr(data, '\n', len);
    size_t line = end == NULL ? len : (size_t)(end - data);

    *ret_used = end == NULL ? line : line + 1;
    for (; s->held.len == 0 && line > 0 && is_blank(*data); line--) {
        data++;
    }
    if (s->held.len == 0 && line == 0) {
        return 0;
    }
    if (s->held.len == 0 && *data != '{') {
        return -EBADMSG;
    }
    if (s->held.len == 0 && end != NULL) {
        return line > s->held.max ? -EMSGSIZE : jsonstream_emit_value(s, data, line);
    }
    ccm_buf_add(&s->held, data, line);
    if (ccm_buf_error(&s->held) < 0 || end == NULL) {
        return ccm_buf_error(&s->held);
    }
    return jsonstream_emit_held(s);
}

/* The next byte, which is still to be read, begins a value. */
static void begin_value(struct kube_jsonstream *s, enum state after)
{
    s->state = STATE_VALUE;
    s->after = (int)after;
    s->depth = 0;
    s->in_string = false;
    s->escaped = false;
    s->scalar = false;
}

static int name_byte(struct kube_jsonstream *s, char c)
{
    if (string_byte(s, c)) {
        s->name[s->name_len] = '\0';
        s->state = STATE_COLON;
        return 0;
    }
    if (s->name_len + 1 == sizeof(s->name)) {
        return -EBADMSG;
    }
    s->name[s->name_len++] = c;
    return 0;
}

static void begin_name(struct kube_jsonstream *s)
{
    s->state = STATE_NAME;
    s->name_len = 0;
    s->in_string = true;
    s->escaped = false;
}

static int jsonstream_expect_state(struct kube_jsonstream *s, bool matches, enum state next)
{
    if (!matches) {
        return -EBADMSG;
    }
    s->state = (int)next;
    return 0;
}

/* The byte where a member's value begins; 1 when it has to be read again as part of the value. */
static int begin_member(struct kube_jsonstream *s, char c)
{
    if (c == '[' && s->array != NULL && strcmp(s->name, s->array) == 0) {
        const bool twice = s->saw_array;

        s->saw_array = true;
        return jsonstream_expect_state(s, !twice, STATE_FIRST_ITEM);
    }
    begin_value(s, STATE_AFTER_MEMBER);
    return 1;
}

/* One byte between values. 0 = consumed, 1 = it begins a value and is to be read again. */
static int frame_byte(struct kube_jsonstream *s, char c)
{
    if (s->state == STATE_NAME) {
        return name_byte(s, c);
    }
    if (is_blank(c)) {
        return 0;
    }
    switch ((enum state)s->state) {
    case STATE_OPEN:
        return jsonstream_expect_state(s, c == '{', STATE_FIRST_NAME);
    case STATE_FIRST_NAME:
    case STATE_NEXT_NAME:
        if (c == '"') {
            begin_name(s);
            return 0;
        }
        return jsonstream_expect_state(s, c == '}' && s->state == STATE_FIRST_NAME, STATE_DONE);
    case STATE_COLON:
        return jsonstream_expect_state(s, c == ':', STATE_MEMBER);
    case STATE_MEMBER:
        return begin_member(s, c);
    case STATE_AFTER_MEMBER:
        return c == ',' ? jsonstream_expect_state(s, true, STATE_NEXT_NAME)
                        : jsonstream_expect_state(s, c == '}', STATE_DONE);
    case STATE_FIRST_ITEM:
        if (c == ']') {
            return jsonstream_expect_state(s, true, STATE_AFTER_MEMBER);
        }
        begin_value(s, STATE_AFTER_ITEM);
        return 1;
    case STATE_NEXT_ITEM:
        begin_value(s, STATE_AFTER_ITEM);
        return 1;
    case STATE_AFTER_ITEM:
        return c == ',' ? jsonstream_expect_state(s, true, STATE_NEXT_ITEM)
                        : jsonstream_expect_state(s, c == ']', STATE_AFTER_MEMBER);
    case STATE_NAME:
    case STATE_VALUE:
    case STATE_DONE:
        break;
    }
    return -EBADMSG;
}

int kube_jsonstream_feed(struct kube_jsonstream *s, const char *data, size_t len)
{
    size_t i = 0;

    while (s->error == 0 && i < len) {
        int r;

        if (s->state == STATE_VALUE) {
            size_t used = 0;

            r = s->form == KUBE_JSONSTREAM_LINES ? feed_line(s, data + i, len - i, &used)
                                                 : feed_value(s, data + i, len - i, &used);
            i += used;
        } else {
            r = frame_byte(s, data[i]);
            i += r == 0 ? 1 : 0;
        }
        if (r < 0) {
            s->error = r;
        }
    }
    return s->error;
}

/* Whether the line that is held, and whose end is missing, may be complete. */
static bool held_is_closed(const struct kube_jsonstream *s)
{
    size_t len = s->held.len;

    while (len > 0 && is_blank(s->held.data[len - 1])) {
        len--;
    }
    return len > 0 && s->held.data[len - 1] == '}';
}

int kube_jsonstream_finish(struct kube_jsonstream *s)
{
    if (s->error != 0) {
        return s->error;
    }
    if (s->form == KUBE_JSONSTREAM_MEMBERS || s->held.len == 0) {
        return s->state == STATE_DONE || s->form == KUBE_JSONSTREAM_LINES ? 0 : -EBADMSG;
    }
    s->error = held_is_closed(s) ? jsonstream_emit_held(s) : -EBADMSG;
    return s->error;
}
