#include "kube/client/auth.h"

#include "util/cleanup.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>
#include <sys/stat.h>

static const struct ccm_log kube_log = { .part = "kube" };

void kube_auth_fini(struct kube_auth *auth)
{
    free(auth->server);
    free(auth->credential);
    free(auth->ca_file);
    free(auth->ca_data);
    free(auth->cert_data);
    free(auth->server_name);
    free(auth->token_file);
    ccm_secret_fini(&auth->key_data);
    ccm_secret_fini(&auth->token);
    kube_exec_free(auth->exec);
    *auth = (struct kube_auth){ 0 };
}

int kube_auth_check_pem(const char *what, const char *pem, const char *label, struct ccm_error *err)
{
    const char *begin = strstr(pem, "-----BEGIN ");

    if (begin == NULL || strstr(begin, label) == NULL || strstr(begin, "-----END ") == NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s: no PEM block \"%s\" in it",
                             what, label);
    }
    if (strstr(begin, "ENCRYPTED") != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: the key is encrypted with a passphrase; give it unencrypted",
                             what);
    }
    return 0;
}

int kube_auth_read_file(const char *what, const char *path, char **ret_text, struct ccm_error *err)
{
    const int r = ccm_text_read_file(path, KUBE_FILE_MAX, ret_text, NULL);

    if (r == -EFBIG) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s: %s: larger than 1 MiB", what, path);
    }
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s: %s: %s", what, path, strerror(-r));
    }
    return 0;
}

void kube_auth_warn_mode(const char *what, const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        ccm_log_warn(&kube_log,
                     "%s: holds a %s and is open to other users (mode %03o); chmod 600 it", path,
                     what, (unsigned)(st.st_mode & 0777));
    }
}

static int fill_in_cluster(const char *host, const char *port, const char *folder,
                           struct kube_auth *auth, struct ccm_error *err)
{
    const bool v6 = strchr(host, ':') != NULL;
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret token = { 0 };
    CCM_CLEANUP(ccm_freep) char *ca = NULL;

    auth->server = ccm_text_format("https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "", port);
    auth->token_file = ccm_text_format("%s/token", folder);
    auth->ca_file = ccm_text_format("%s/ca.crt", folder);
    if (auth->server == NULL || auth->token_file == NULL || auth->ca_file == NULL) {
        return ccm_error_nomem(err);
    }
    auth->credential = ccm_text_format("the service account token in %s", auth->token_file);
    if (auth->credential == NULL) {
        return ccm_error_nomem(err);
    }

    int r = kube_auth_read_file("in-cluster: service account token", auth->token_file,
                                &token.hidden, err);

    if (r == 0) {
        r = kube_auth_read_file("in-cluster: authority of the cluster", auth->ca_file, &ca, err);
    }
    if (r < 0) {
        return r;
    }
    return kube_auth_check_pem(auth->ca_file, ca, "CERTIFICATE", err);
}

int kube_auth_in_cluster(const char *host, const char *port, const char *folder,
                         struct kube_auth *ret, struct ccm_error *err)
{
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    uint32_t number;

    if (ccm_text_empty(host) || ccm_text_empty(port)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "option kubernetes.kubeconfig is not set, and this is no pod: "
                             "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
    }
    if (strspn(host, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:-") !=
        strlen(host)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "KUBERNETES_SERVICE_HOST: not a host name or address");
    }
    if (ccm_parse_u32(port, 1, 65535, &number) < 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "KUBERNETES_SERVICE_PORT: not a port number");
    }

    const int r = fill_in_cluster(host, port, folder, &auth, err);

    if (r == 0) {
        *ret = auth;
        auth = (struct kube_auth){ 0 };
    }
    return r;
}
