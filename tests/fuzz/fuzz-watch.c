/* A watch stream in chunks: cut into objects, each decoded as one of our kinds. The first byte says
 * which kind and how long the chunks are. */
#include "fuzz.h"

#include "kube/cache/jsonstream.h"
#include "kube/cache/watch_event.h"
#include "util/cleanup.h"

#include <stdlib.h>

struct watch {
    struct kube_builder *builder;
    struct kube_decode_kind kind;
};

static int sink_take_object(void *arg, const char *text, size_t len)
{
    struct watch *watch = arg;
    const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { .max = 1024 };
    CCM_CLEANUP(kube_watch_event_fini) struct kube_watch_event event = { 0 };

    if (kube_watch_event_parse(text, len, &event) < 0) {
        return 0;
    }
    FUZZ_REQUIRE(event.object.text >= text && event.object.len <= len);
    if (kube_decode_parsed(watch->builder, &watch->kind, &event.object, &object, &key, &err) == 0) {
        FUZZ_REQUIRE(object->key[0] != '\0' && object->name[0] != '\0');
        kube_object_unref(object);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct watch watch = { .builder = kube_builder_new() };
    const struct kube_jsonstream_sink sink = { .item = sink_take_object, .arg = &watch };
    CCM_CLEANUP(kube_jsonstream_fini) struct kube_jsonstream stream = { 0 };
    const size_t step = size == 0 ? 1 : (size_t)1 + (data[0] >> 3);
    int r = 0;

    if (watch.builder == NULL || size == 0) {
        kube_builder_free(watch.builder);
        return 0;
    }
    watch.kind.kind = CCM_KIND_SERVICE + (data[0] & 7U) % 5U;
    kube_jsonstream_init(&stream, KUBE_JSONSTREAM_LINES, NULL, 65536, &sink);
    for (size_t at = 1; r == 0 && at < size; at += step) {
        r = kube_jsonstream_feed(&stream, (const char *)data + at,
                                 at + step <= size ? step : size - at);
    }
    FUZZ_REQUIRE(r == 0 || kube_jsonstream_feed(&stream, "{}", 2) == r); /* a failure is final */
    r = kube_jsonstream_finish(&stream);
    FUZZ_REQUIRE(r <= 0);
    kube_builder_free(watch.builder);
    return 0;
}
