/* A list answer in chunks: items one by one, the other members, and what the end says. The first
 * byte says which kind and how long the chunks are. */
#include "fuzz.h"

#include "kube/cache/jsonstream.h"
#include "kube/object/decode.h"
#include "util/cleanup.h"

struct list {
    struct kube_builder *builder;
    struct kube_decode_kind kind;
    size_t items;
};

static int sink_take_object(void *arg, const char *text, size_t len)
{
    struct list *list = arg;
    const struct ccm_object *object = NULL;
    struct ccm_error err = CCM_ERROR_INIT;

    list->items++;
    if (kube_decode(list->builder, &list->kind, text, len, &object, &err) == 0) {
        FUZZ_REQUIRE(object->kind == list->kind.kind);
        kube_object_unref(object);
    } else {
        FUZZ_REQUIRE(err.message[0] != '\0');
    }
    return 0;
}

static int skip(void *arg, const char *name, const char *text, size_t len)
{
    (void)arg;
    FUZZ_REQUIRE(strlen(name) < KUBE_JSONSTREAM_NAME);
    return text[0] == '\0' && len > 1 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CCM_CLEANUP(kube_builder_freep) struct kube_builder *builder = kube_builder_new();
    struct list list = { .builder = builder };
    const struct kube_jsonstream_sink sink = { .item = sink_take_object,
                                               .member = skip,
                                               .arg = &list };
    CCM_CLEANUP(kube_jsonstream_fini) struct kube_jsonstream stream = { 0 };
    int r = 0;

    if (builder == NULL || size == 0) {
        return 0;
    }

    const size_t step = (size_t)1 + (data[0] >> 3);

    list.kind.kind = CCM_KIND_SERVICE + (data[0] & 7U) % 5U;
    list.kind.node_info = true;
    kube_jsonstream_init(&stream, KUBE_JSONSTREAM_MEMBERS, "items", 65536, &sink);
    for (size_t at = 1; r == 0 && at < size; at += step) {
        r = kube_jsonstream_feed(&stream, (const char *)data + at,
                                 at + step <= size ? step : size - at);
    }
    if (r < 0) {
        FUZZ_REQUIRE(kube_jsonstream_finish(&stream) < 0); /* a broken list is never complete */
    }
    return 0;
}
