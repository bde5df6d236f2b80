#include "daemon/own_write.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

static void own_write_begin_in(struct daemon_own_write *own, struct kube_reflector *reflector,
                               const char *key)
{
    struct kube_write *write = NULL;

    for (size_t i = 0; i < own->count; i++) {
        if (own->caches[i].reflector == reflector) {
            return; /* one cache may stand for the watches of several plugins */
        }
    }
    if (own->count < DAEMON_OWN_WRITE_CACHES) {
        write = kube_reflector_begin_write(reflector, key);
    }
    if (write != NULL) {
        own->caches[own->count].reflector = reflector;
        own->caches[own->count].write = write;
        own->count++;
    }
}

static bool raw_row_is_about(const struct daemon_raw_store *row,
                             const struct daemon_own_object *object)
{
    return ccm_text_equal(row->watch->api_version, object->api_version) &&
           ccm_text_equal(row->watch->resource, object->resource);
}

void daemon_own_write_begin(struct daemon_own_write *own,
                            const struct daemon_host_services *services,
                            const struct daemon_own_object *object)
{
    const bool scoped = !ccm_text_empty(object->namespace_);
    CCM_CLEANUP(ccm_freep)
    char *key = ccm_text_format("%s%s%s", scoped ? object->namespace_ : "", scoped ? "/" : "",
                                object->name);

    own->count = 0;
    if (key == NULL ||
        (!ccm_text_empty(object->subresource) && !ccm_text_equal(object->subresource, "status"))) {
        return;
    }
    if (object->kind < CCM_KIND_RAW && services->reflectors[object->kind] != NULL) {
        own_write_begin_in(own, services->reflectors[object->kind], key);
    }
    for (size_t i = 0; object->kind == CCM_KIND_RAW && i < services->raw_count; i++) {
        if (raw_row_is_about(&services->raw[i], object)) {
            own_write_begin_in(own, services->raw[i].reflector, key);
        }
    }
}

void daemon_own_write_finish(struct daemon_own_write *own, const struct ccm_http_response *response)
{
    for (size_t i = 0; i < own->count; i++) {
        kube_reflector_end_write(own->caches[i].reflector, own->caches[i].write,
                                 response == NULL ? NULL : response->body,
                                 response == NULL ? 0 : response->body_len);
    }
}
