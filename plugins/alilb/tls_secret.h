/*
 * Secrets of type kubernetes.io/tls: read from the API server, past the caches, so that the right
 * to get those that objects name is enough. What is in one stays out of logs, errors and dumps, and
 * is wiped when it has served. One thread per struct.
 */
#ifndef CCM_ALILB_TLS_SECRET_H
#define CCM_ALILB_TLS_SECRET_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/secret.h"

#define ALILB_CERTIFICATE_NAME   64 /* bytes of a name, with the NUL */
#define ALILB_CERTIFICATE_PREFIX "ccm-"

struct alilb_tls_secret {
    struct ccm_secret certificate; /* PEM, the server's first */
    struct ccm_secret key;         /* PEM */
    const char *why;               /* it cannot be used: a constant for people; NULL = it can */
};

/* Of the object's JSON. 0 or -ENOMEM; the caller finishes *ret, zeroed before, in any case. */
CCM_NODISCARD int alilb_tls_secret_parse(const char *json, struct alilb_tls_secret *ret);

/* Of the Secret "namespace/name". One that does not exist, that may not be read, or whose name no
 * object can have gets `why`. Blocks. 0, or negative with err: nothing is known. The caller
 * finishes *ret in any case. */
CCM_NODISCARD int alilb_tls_secret_fetch(const struct ccm_host *host, const struct ccm_request *req,
                                         const char *key, struct alilb_tls_secret *ret,
                                         struct ccm_error *err);
/* Wipes. A zeroed one is fine. */
void alilb_tls_secret_fini(struct alilb_tls_secret *secret);

/* How its certificate is called in the certificate service: by the mark of who uploads it (struct
 * alilb_call), the Secret and what is in it, so that a renewed one has another name. secret NULL:
 * how all of the Secret begin; key NULL as well: all of the mark. */
void alilb_certificate_name(const char *mark, const char *key,
                            const struct alilb_tls_secret *secret,
                            char ret[static ALILB_CERTIFICATE_NAME]);

#endif
