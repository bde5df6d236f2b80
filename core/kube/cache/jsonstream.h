/*
 * Cuts a stream of JSON text into pieces while it arrives, in chunks of any size, without ever
 * holding more than one piece. It only finds where pieces begin and end; each one is to be parsed
 * by whoever gets it. One thread at a time.
 *
 * KUBE_JSONSTREAM_LINES is for a watch: one JSON object per line. No text in JSON holds a line end,
 * so the bytes between two of them are not looked at.
 *
 * KUBE_JSONSTREAM_MEMBERS is for a list: one JSON object, of which the members come one by one, and
 * of one array member the elements. Quotes, brackets and nesting tell where a value ends.
 */
#ifndef CCM_KUBE_JSONSTREAM_H
#define CCM_KUBE_JSONSTREAM_H

#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KUBE_JSONSTREAM_DEPTH 512
#define KUBE_JSONSTREAM_NAME  128

enum kube_jsonstream_form { KUBE_JSONSTREAM_LINES, KUBE_JSONSTREAM_MEMBERS };

/* Who gets the pieces. The text is borrowed for the call and NOT NUL-terminated; of a piece that
 * came in one chunk it points into that chunk. 0, or negative to end the stream with that code. */
struct kube_jsonstream_sink {
    /* LINES: each line but empty ones. MEMBERS: each element of the array member. */
    int (*item)(void *arg, const char *text, size_t len);
    /* MEMBERS: each other member, and the array member too when it is no array (such as null).
     * `name` is as it stands between the quotes. May be NULL. */
    int (*member)(void *arg, const char *name, const char *text, size_t len);
    void *arg;
};

struct kube_jsonstream {
    const struct kube_jsonstream_sink *sink;
    const char *array; /* name of the array member, or NULL */
    enum kube_jsonstream_form form;
    int state;
    int after; /* state that follows the value being read */
    int error; /* sticky */
    bool in_string;
    bool escaped;
    bool scalar;
    bool saw_array;
    unsigned depth;                                /* open brackets inside the value being read */
    uint64_t brackets[KUBE_JSONSTREAM_DEPTH / 64]; /* one bit per open bracket: 1 = '[' */
    char name[KUBE_JSONSTREAM_NAME];
    size_t name_len;
    struct ccm_buf held; /* the part of the value that came in earlier chunks */
};

/* max: most bytes of one piece. `sink` and `array` are borrowed. */
void kube_jsonstream_init(struct kube_jsonstream *stream, enum kube_jsonstream_form form,
                          const char *array, size_t max, const struct kube_jsonstream_sink *sink);

/* Safe on a zeroed struct; for CCM_CLEANUP. */
void kube_jsonstream_fini(struct kube_jsonstream *stream);

/* 0; -EBADMSG (not JSON of that form, nested too deep); -EMSGSIZE (a piece over the limit);
 * -ENOMEM; or what the sink returned. A failure is final: later calls return it again. */
CCM_NODISCARD int kube_jsonstream_feed(struct kube_jsonstream *stream, const char *data,
                                       size_t len);

/* The input is over; a last line may lack its end. 0; -EBADMSG when it ended inside something; what
 * the sink returned; or the earlier failure. */
CCM_NODISCARD int kube_jsonstream_finish(struct kube_jsonstream *stream);

#endif
