/*
 * How to reach the API server and who we are there: read from a kubeconfig or from the files that a
 * pod gets. Plain data; one thread at a time. Tokens in files have a life of their own: token.h.
 */
#ifndef CCM_KUBE_AUTH_H
#define CCM_KUBE_AUTH_H

#include "ccm/error.h"
#include "kube/client/exec.h"
#include "kube/client/place.h"
#include "util/attr.h"
#include "util/secret.h"

#include <stdbool.h>

#define KUBE_FILE_MAX ((size_t)1024 * 1024)

struct kube_auth {
    char *server;     /* "https://host:port/prefix", no slash at the end */
    char *credential; /* what an operator checks when it is refused: "users[admin].user.token in
                         FILE"; "" = none is given */
    char *ca_file;    /* NULL members are not set */
    char *ca_data;    /* PEM */
    char *cert_data;  /* PEM, with key_data */
    struct ccm_secret key_data;
    char *server_name;
    bool insecure;
    char *token_file; /* wins over token */
    struct ccm_secret token;
    struct kube_exec *exec; /* a program that says who we are; wins over all that is above */
};

/* Safe on a zeroed one. */
void kube_auth_fini(struct kube_auth *auth);

/*
 * Read a kubeconfig (see client.h for what is understood). Files it names are relative to its
 * folder. Files with secrets that others can read are logged as a warning. 0, or negative with err
 * (CCM_ERROR_TERMINAL, names file and line or field) and *ret untouched.
 */
CCM_NODISCARD int kube_auth_read(const char *path, struct kube_auth *ret, struct ccm_error *err);

/* The same of a context, or of several files that are read as one, as kubectl does: the first that
 * has a value or a name wins, one that does not exist is passed over. */
CCM_NODISCARD int kube_auth_read_place(const struct kube_place *place, struct kube_auth *ret,
                                       struct ccm_error *err);

/* The service account of a pod: host and port as the environment gives them (NULL = not set),
 * folder with `token` and `ca.crt`. Returns as above. */
CCM_NODISCARD int kube_auth_in_cluster(const char *host, const char *port, const char *folder,
                                       struct kube_auth *ret, struct ccm_error *err);

/* Pieces that both ways use. `what` names the field in messages. All set err. */

/* Certificates (label "CERTIFICATE") or an unencrypted private key ("PRIVATE KEY"). */
CCM_NODISCARD int kube_auth_check_pem(const char *what, const char *pem, const char *label,
                                      struct ccm_error *err);

/* A small text file; the caller frees. */
CCM_NODISCARD int kube_auth_read_file(const char *what, const char *path, char **ret_text,
                                      struct ccm_error *err);

/* Log a warning when group or others may read the file, which holds `what`. */
void kube_auth_warn_mode(const char *what, const char *path);

#endif
