/*
 * Credential plugins of kubeconfigs (users[].user.exec): a program that prints an ExecCredential,
 * client.authentication.k8s.io/v1 or v1beta1, with a bearer token, a client certificate, or both.
 * Here is one run of it; who keeps what it said is exec_token.h. No state; every thread.
 */
#ifndef CCM_KUBE_EXEC_H
#define CCM_KUBE_EXEC_H

#include "ccm/error.h"
#include "util/attr.h"
#include "util/secret.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define KUBE_EXEC_V1      "client.authentication.k8s.io/v1"
#define KUBE_EXEC_V1BETA1 "client.authentication.k8s.io/v1beta1"

/* What the kubeconfig says; heap throughout. */
struct kube_exec {
    char *command;     /* a path, or a name to look for in PATH */
    char **args;       /* the command first; NULL-terminated */
    char **env;        /* "NAME=value"; NULL-terminated */
    char *api_version; /* one of the two */
    char *info;        /* JSON, given as KUBERNETES_EXEC_INFO */
    char *hint;        /* how to install it; "" = not said */
};

/* NULL is fine. */
void kube_exec_free(struct kube_exec *exec);

/* Whom requests speak for. */
struct kube_credential {
    struct ccm_secret token; /* empty = none */
    char *cert;              /* PEM; NULL = none */
    struct ccm_secret key;   /* goes with it */
    int64_t end_ms;          /* wall clock; 0 = until the server refuses it */
};

/* Safe on a zeroed one. */
void kube_credential_fini(struct kube_credential *credential);
/* 0 or -ENOMEM, *to untouched. */
CCM_NODISCARD int kube_credential_copy(struct kube_credential *to,
                                       const struct kube_credential *from);

/* Where the program is, as execvp(3) would find it, with a slash in it; to be freed. NULL: nowhere,
 * or out of memory. */
char *kube_exec_find(const char *command);

/*
 * Run the program without terminal, with our environment and what the kubeconfig adds, and read
 * what it prints. It is killed, with all processes of its group, after timeout_ms, or soon after
 * *stop is set. 0 and *ret; -ETIMEDOUT (transient); -ECANCELED; else CCM_ERROR_AUTH: it is not
 * there, ended with another code than 0 (the first line of its standard error is in the message),
 * or what it printed is no credential. Nothing secret is in err. Blocks.
 */
CCM_NODISCARD int kube_exec_run(const struct kube_exec *exec, int64_t timeout_ms,
                                const atomic_bool *stop, struct kube_credential *ret,
                                struct ccm_error *err);

#endif
