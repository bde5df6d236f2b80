/*
 * What the simulator shows itself with: certificates in a directory, and a kubeconfig for its
 * clients. Used before threads start. Errors go to standard error, in one line.
 */
#ifndef CCM_KS_IDENTITY_H
#define CCM_KS_IDENTITY_H

#include "util/attr.h"

#include <stdint.h>

/* PEM texts; NULL = none. */
struct ccm_ks_identity {
    char *cert; /* of the server */
    char *key;
    char *ca;          /* clients check the server by it, the server clients */
    char *client_cert; /* for the kubeconfig */
    char *client_key;
};

void ccm_ks_identity_fini(struct ccm_ks_identity *identity);

/*
 * Read tls.crt and tls.key (and ca.crt, client.crt, client.key where there are such) of a
 * directory. Without tls.crt: make a CA, a server certificate for 127.0.0.1, ::1 and localhost, and
 * a client certificate, and write all of them there. 0 or -errno.
 */
CCM_NODISCARD int ccm_ks_identity_load(struct ccm_ks_identity *identity, const char *dir);

/* Write a kubeconfig (mode 0600, in place only when complete). `token` may be "". 0 or -errno. */
CCM_NODISCARD int ccm_ks_identity_write_kubeconfig(const struct ccm_ks_identity *identity,
                                                   const char *path, const char *host,
                                                   uint16_t port, const char *token);

#endif
