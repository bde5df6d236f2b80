/*
 * A write to an object of the API server, as the caches of all plugins see it: each cache that
 * holds the object shows the answer from finish() on. On the stack of the thread that writes.
 */
#ifndef CCM_DAEMON_OWN_WRITE_H
#define CCM_DAEMON_OWN_WRITE_H

#include "daemon/host.h"

#define DAEMON_OWN_WRITE_CACHES 8 /* further ones learn of the write from their watches */

struct daemon_own_write {
    struct {
        struct kube_reflector *reflector;
        struct kube_write *write;
    } caches[DAEMON_OWN_WRITE_CACHES];
    size_t count;
};

/* What is written. */
struct daemon_own_object {
    uint64_t kind;
    const char *api_version; /* of CCM_KIND_RAW */
    const char *resource;    /* of CCM_KIND_RAW */
    const char *namespace_;  /* NULL or "" = none */
    const char *name;
    const char *subresource; /* another one than "status" is not answered with the object */
};

/* Right before the request. Without memory the caches learn of the write from their watches. */
void daemon_own_write_begin(struct daemon_own_write *own,
                            const struct daemon_host_services *services,
                            const struct daemon_own_object *object);
/* The answer; NULL = the write failed. To be called once after begin(). */
void daemon_own_write_finish(struct daemon_own_write *own,
                             const struct ccm_http_response *response);

#endif
