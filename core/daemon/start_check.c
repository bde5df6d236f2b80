#include "daemon/start_check.h"

#include "kube/client/auth.h"
#include "util/cleanup.h"
#include "util/secret.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)1024 * 1024)

struct start_check {
    const struct config_tree *config;
    size_t errors;
    void (*fn)(void *arg, bool is_error, const char *line);
    void *arg;
};

static void start_add_error(struct start_check *check, const char *label, const char *message)
{
    CCM_CLEANUP(ccm_freep)
    char *place = config_place(check->config, config_line(check->config, NULL, label));
    CCM_CLEANUP(ccm_freep)
    char *text = place == NULL ? NULL : ccm_text_format("%s: %s: %s", place, label, message);

    check->errors++;
    check->fn(check->arg, true, text == NULL ? "out of memory" : text);
}

static void start_check_kubeconfig(struct start_check *check)
{
    const char *path = config_string(check->config, NULL, "kubernetes", "kubeconfig");
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    /* Empty: the service account of a pod, which need not be where the file is looked at. */
    if (path[0] != '\0' && kube_auth_read(path, &auth, &err) < 0) {
        start_add_error(check, "kubernetes.kubeconfig", err.message);
    }
}

/* A file of the admin server. pem: what has to be in it, or NULL. */
static void start_check_file(struct start_check *check, const char *name, const char *pem)
{
    const char *path = config_string(check->config, NULL, "admin", name);
    CCM_CLEANUP(ccm_freep) char *label = ccm_text_format("admin.%s", name);
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 };
    struct ccm_error err = CCM_ERROR_INIT;

    if (path[0] == '\0' || label == NULL) {
        return;
    }

    int r = ccm_text_read_file(path, FILE_MAX_BYTES, &text.hidden, NULL);

    if (r < 0) {
        (void)ccm_error_set(&err, r, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(-r));
    } else if (pem != NULL) {
        r = kube_auth_check_pem(path, ccm_secret_text(&text), pem, &err);
    }
    if (r < 0) {
        start_add_error(check, label, err.message);
    }
}

size_t daemon_start_check(const struct config_tree *config,
                          void (*fn)(void *arg, bool is_error, const char *line), void *arg)
{
    struct start_check check = { .config = config, .fn = fn, .arg = arg };

    start_check_kubeconfig(&check);
    start_check_file(&check, "tls_cert_file", "CERTIFICATE");
    start_check_file(&check, "tls_key_file", "PRIVATE KEY");
    start_check_file(&check, "token_file", NULL);
    return check.errors;
}
