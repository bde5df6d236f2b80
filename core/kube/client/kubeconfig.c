/* The kubeconfig file: current-context -> context -> cluster and user. */
#include "kube/client/auth.h"
#include "util/base64.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"
#include "util/yaml.h"

#include <string.h>

static const struct ccm_log kube_log = { .part = "kube" };

/* One file being read. `what` is the entry that the fields below belong to: "users[admin].user". */
struct reader {
    const char *path;
    struct kube_auth *auth;
    struct ccm_error *err;
    struct fy_node *root;
    const char *what;
};

/* node (NULL = none) gives the line. */
static int kubeconfig_fail_at(const struct reader *in, struct fy_node *node, const char *field,
                              const char *text)
{
    const int line = node == NULL ? 0 : ccm_yaml_line(node);
    const char *dot = in->what[0] == '\0' ? "" : ".";

    if (line > 0) {
        return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s:%d: %s%s%s: %s", in->path,
                             line, in->what, dot, field, text);
    }
    return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s: %s%s%s: %s", in->path, in->what,
                         dot, field, text);
}

/* Null in one of its spellings; libfyaml only knows the empty one. */
static bool is_null(struct fy_node *node)
{
    const char *text;

    if (node == NULL || fy_node_is_null(node)) {
        return true;
    }
    if (!fy_node_is_scalar(node) || fy_node_get_style(node) != FYNS_PLAIN) {
        return false;
    }
    text = fy_node_get_scalar0(node);
    return text != NULL && (strcmp(text, "~") == 0 || ccm_text_equal_case(text, "null"));
}

static struct fy_node *kubeconfig_find_member(struct fy_node *parent, const char *name)
{
    struct fy_node *node =
        fy_node_is_mapping(parent) ? fy_node_mapping_lookup_by_string(parent, name, FY_NT) : NULL;

    return is_null(node) ? NULL : node;
}

/* Borrowed text of a member; NULL when it is absent, null or empty. */
static int read_text(const struct reader *in, struct fy_node *parent, const char *field,
                     const char **ret)
{
    struct fy_node *node = kubeconfig_find_member(parent, field);
    size_t len = 0;

    *ret = NULL;
    if (node == NULL) {
        return 0;
    }
    if (!fy_node_is_scalar(node) || fy_node_is_alias(node)) {
        return kubeconfig_fail_at(in, node, field, "is not plain text");
    }

    const char *raw = fy_node_get_scalar(node, &len);

    if (raw == NULL || len == 0) {
        return 0;
    }
    if (memchr(raw, '\0', len) != NULL) {
        return kubeconfig_fail_at(in, node, field, "holds a NUL byte");
    }
    *ret = fy_node_get_scalar0(node);
    return *ret == NULL ? ccm_error_nomem(in->err) : 0;
}

static int read_bool(const struct reader *in, struct fy_node *parent, const char *field, bool *ret)
{
    const char *text;
    const int r = read_text(in, parent, field, &text);

    if (r < 0 || text == NULL) {
        return r;
    }
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return kubeconfig_fail_at(in, kubeconfig_find_member(parent, field), field,
                                  "is neither true nor false");
    }
    *ret = text[0] == 't';
    return 0;
}

/* Relative to the folder of the kubeconfig. NULL on ENOMEM. */
static char *kubeconfig_resolve_path(const struct reader *in, const char *file)
{
    const char *slash = strrchr(in->path, '/');

    if (file[0] == '/' || slash == NULL) {
        return strdup(file);
    }
    return ccm_text_format("%.*s/%s", (int)(slash - in->path), in->path, file);
}

/* A path member, resolved; NULL when absent. */
static int read_path(const struct reader *in, struct fy_node *parent, const char *field, char **ret)
{
    const char *text;
    const int r = read_text(in, parent, field, &text);

    *ret = NULL;
    if (r < 0 || text == NULL) {
        return r;
    }
    *ret = kubeconfig_resolve_path(in, text);
    return *ret == NULL ? ccm_error_nomem(in->err) : 0;
}

/* PEM text out of FIELD-data (base64) or of the file that FIELD names; NULL when both are absent.
 */
static int read_pem(const struct reader *in, struct fy_node *parent, const char *field,
                    const char *label, char **ret, char **ret_file)
{
    CCM_CLEANUP(ccm_freep) char *data_field = ccm_text_format("%s-data", field);
    CCM_CLEANUP(ccm_freep) char *what = ccm_text_format("%s: %s.%s", in->path, in->what, field);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf pem = { .max = KUBE_FILE_MAX };
    CCM_CLEANUP(ccm_freep) char *file = NULL;
    const char *data = NULL;

    if (data_field == NULL || what == NULL) {
        return ccm_error_nomem(in->err);
    }

    int r = read_text(in, parent, data_field, &data);

    if (r == 0) {
        r = read_path(in, parent, field, &file);
    }
    if (r < 0 || (data == NULL && file == NULL)) {
        return r;
    }
    if (data != NULL) {
        if (ccm_base64_decode(&pem, data) < 0 || memchr(ccm_buf_str(&pem), '\0', pem.len) != NULL) {
            return kubeconfig_fail_at(in, kubeconfig_find_member(parent, data_field), data_field,
                                      "is not base64 of a PEM text");
        }
        r = ccm_buf_take(&pem, ret) < 0 ? ccm_error_nomem(in->err) : 0;
    } else {
        r = kube_auth_read_file(what, file, ret, in->err);
        *ret_file = r == 0 ? CCM_STEAL(file) : NULL;
    }
    if (r < 0) {
        return r;
    }
    return kube_auth_check_pem(what, *ret, label, in->err);
}

static int check_server(const struct reader *in, struct fy_node *cluster, const char *server)
{
    const char *host = ccm_text_starts(server, "https://")  ? server + strlen("https://")
                       : ccm_text_starts(server, "http://") ? server + strlen("http://")
                                                            : NULL;

    if (host == NULL) {
        return kubeconfig_fail_at(in, kubeconfig_find_member(cluster, "server"), "server",
                                  "does not start with https:// or http://");
    }
    if (host[0] == '\0' || host[0] == '/' || strpbrk(host, "@?#\\ \t\r\n") != NULL) {
        return kubeconfig_fail_at(in, kubeconfig_find_member(cluster, "server"), "server",
                                  "is no URL of the form https://host:port");
    }
    return 0;
}

static int read_server(const struct reader *in, struct fy_node *cluster)
{
    const char *text;
    int r = read_text(in, cluster, "server", &text);

    if (r < 0) {
        return r;
    }
    if (text == NULL) {
        return kubeconfig_fail_at(in, NULL, "server", "is missing");
    }
    r = check_server(in, cluster, text);
    if (r < 0) {
        return r;
    }

    size_t len = strlen(text);

    while (text[len - 1] == '/') {
        len--;
    }
    in->auth->server = ccm_text_format("%.*s", (int)len, text);
    return in->auth->server == NULL ? ccm_error_nomem(in->err) : 0;
}

static int read_cluster(const struct reader *in, struct fy_node *cluster)
{
    struct kube_auth *auth = in->auth;
    CCM_CLEANUP(ccm_freep) char *pem = NULL;
    const char *text;
    int r = read_server(in, cluster);

    if (r < 0) {
        return r;
    }
    if (kubeconfig_find_member(cluster, "proxy-url") != NULL) {
        return kubeconfig_fail_at(in, kubeconfig_find_member(cluster, "proxy-url"), "proxy-url",
                                  "is not supported; set HTTPS_PROXY in the environment");
    }
    r = read_bool(in, cluster, "insecure-skip-tls-verify", &auth->insecure);
    if (r == 0) {
        r = read_text(in, cluster, "tls-server-name", &text);
    }
    if (r < 0) {
        return r;
    }
    if (text != NULL) {
        auth->server_name = strdup(text);
        if (auth->server_name == NULL) {
            return ccm_error_nomem(in->err);
        }
    }
    r = read_pem(in, cluster, "certificate-authority", "CERTIFICATE", &pem, &auth->ca_file);
    if (r < 0) {
        return r;
    }
    if (pem != NULL && auth->insecure) {
        return kubeconfig_fail_at(in, NULL, "insecure-skip-tls-verify",
                                  "contradicts certificate-authority: give one of them");
    }
    /* A file is named to curl, which reads it for each connection: it may be renewed meanwhile. */
    auth->ca_data = auth->ca_file == NULL ? CCM_STEAL(pem) : NULL;
    return 0;
}

static int refuse_user(const struct reader *in, struct fy_node *user)
{
    static const struct {
        const char *field;
        const char *text;
    } unsupported[] = {
        { "exec", "exec plugins are not supported; use tokenFile or a client certificate" },
        { "auth-provider", "is not supported; use tokenFile or a client certificate" },
        { "username", "basic authentication is not supported; use a token" },
        { "password", "basic authentication is not supported; use a token" },
        { "as", "impersonation is not supported" },
        { "as-uid", "impersonation is not supported" },
        { "as-groups", "impersonation is not supported" },
        { "as-user-extra", "impersonation is not supported" },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(unsupported); i++) {
        struct fy_node *node = kubeconfig_find_member(user, unsupported[i].field);

        if (node != NULL) {
            return kubeconfig_fail_at(in, node, unsupported[i].field, unsupported[i].text);
        }
    }
    return 0;
}

static int read_token(const struct reader *in, struct fy_node *user)
{
    CCM_CLEANUP(ccm_freep) char *what = ccm_text_format("%s: %s.tokenFile", in->path, in->what);
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret unused = { 0 };
    const char *text;
    int r = read_text(in, user, "token", &text);

    if (r < 0) {
        return r;
    }
    if (text != NULL && strpbrk(text, " \t\r\n") != NULL) {
        return kubeconfig_fail_at(in, kubeconfig_find_member(user, "token"), "token",
                                  "holds blanks or line ends");
    }
    if (what == NULL || (text != NULL && ccm_secret_set(&in->auth->token, text) < 0)) {
        return ccm_error_nomem(in->err);
    }
    r = read_path(in, user, "tokenFile", &in->auth->token_file);
    if (r < 0 || in->auth->token_file == NULL) {
        return r;
    }
    kube_auth_warn_mode("token", in->auth->token_file);
    return kube_auth_read_file(what, in->auth->token_file, &unused.hidden, in->err);
}

static int read_user(const struct reader *in, struct fy_node *user)
{
    struct kube_auth *auth = in->auth;
    CCM_CLEANUP(ccm_freep) char *cert_file = NULL;
    CCM_CLEANUP(ccm_freep) char *key_file = NULL;
    int r = refuse_user(in, user);

    if (r == 0) {
        r = read_token(in, user);
    }
    if (r == 0) {
        r = read_pem(in, user, "client-certificate", "CERTIFICATE", &auth->cert_data, &cert_file);
    }
    if (r == 0) {
        r = read_pem(in, user, "client-key", "PRIVATE KEY", &auth->key_data.hidden, &key_file);
    }
    if (r < 0) {
        return r;
    }
    if ((auth->cert_data == NULL) != (auth->key_data.hidden == NULL)) {
        return kubeconfig_fail_at(in, NULL,
                                  auth->cert_data == NULL ? "client-certificate" : "client-key",
                                  "is missing: certificate and key go together");
    }
    if (key_file != NULL) {
        kube_auth_warn_mode("private key", key_file);
    } else if (auth->key_data.hidden != NULL) {
        kube_auth_warn_mode("private key", in->path);
    } else if (auth->token.hidden != NULL) {
        kube_auth_warn_mode("token", in->path);
    }

    const char *field = auth->token_file != NULL     ? ".tokenFile"
                        : auth->token.hidden != NULL ? ".token"
                        : auth->cert_data != NULL    ? ".client-certificate"
                                                     : NULL;

    auth->credential =
        field == NULL ? strdup("") : ccm_text_format("%s%s in %s", in->what, field, in->path);
    return auth->credential == NULL ? ccm_error_nomem(in->err) : 0;
}

/* The entry called `name` of a list such as contexts, and its inner part. */
static int find_entry(struct reader *in, const char *list, const char *name, const char *inner,
                      struct fy_node **ret)
{
    struct fy_node *entries = kubeconfig_find_member(in->root, list);
    struct fy_node *entry;
    void *cursor = NULL;

    in->what = "";
    if (entries == NULL || !fy_node_is_sequence(entries)) {
        return kubeconfig_fail_at(in, NULL, list, "is missing or is no list");
    }
    while ((entry = fy_node_sequence_iterate(entries, &cursor)) != NULL) {
        const char *text;
        const int r = read_text(in, entry, "name", &text);

        if (r < 0) {
            return r;
        }
        if (text != NULL && strcmp(text, name) == 0) {
            *ret = kubeconfig_find_member(entry, inner);
            if (*ret == NULL || !fy_node_is_mapping(*ret)) {
                return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL,
                                     "%s: %s[%s].%s: is missing", in->path, list, name, inner);
            }
            return 0;
        }
    }
    return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s: %s: none is named \"%s\"",
                         in->path, list, name);
}

/* Follow a reference out of the context and read what it leads to. */
static int read_part(struct reader *in, struct fy_node *context, const char *context_name,
                     const char *reference, const char *list,
                     int (*read)(const struct reader *in, struct fy_node *node))
{
    CCM_CLEANUP(ccm_freep) char *where = ccm_text_format("contexts[%s].context", context_name);
    CCM_CLEANUP(ccm_freep) char *what = NULL;
    struct fy_node *node = NULL;
    const char *name;

    if (where == NULL) {
        return ccm_error_nomem(in->err);
    }
    in->what = where;

    int r = read_text(in, context, reference, &name);

    if (r == 0 && name == NULL) {
        r = kubeconfig_fail_at(in, NULL, reference, "is missing");
    }
    if (r == 0) {
        r = find_entry(in, list, name, reference, &node);
    }
    in->what = "";
    if (r < 0) {
        return r;
    }
    what = ccm_text_format("%s[%s].%s", list, name, reference);
    if (what == NULL) {
        return ccm_error_nomem(in->err);
    }
    in->what = what;
    r = read(in, node);
    in->what = "";
    return r;
}

static int read_config(struct reader *in)
{
    struct fy_node *context = NULL;
    const char *name;

    in->what = "";
    if (!fy_node_is_mapping(in->root)) {
        return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s: is no kubeconfig",
                             in->path);
    }

    int r = read_text(in, in->root, "current-context", &name);

    if (r == 0 && name == NULL) {
        r = kubeconfig_fail_at(in, NULL, "current-context", "is missing");
    }
    if (r == 0) {
        r = find_entry(in, "contexts", name, "context", &context);
    }
    if (r == 0) {
        r = read_part(in, context, name, "cluster", "clusters", read_cluster);
    }
    if (r == 0) {
        r = read_part(in, context, name, "user", "users", read_user);
    }
    return r;
}

static int syntax_error(const char *path, const struct ccm_yaml *yaml, struct ccm_error *err)
{
    int line;
    const char *text = ccm_yaml_error(yaml, &line);

    if (text == NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s: is not YAML", path);
    }
    return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s:%d: not YAML: %s", path, line, text);
}

static void warn_about(const char *path, const struct kube_auth *auth)
{
    if (auth->insecure) {
        ccm_log_warn(&kube_log, "%s: the identity of %s is NOT verified (insecure-skip-tls-verify)",
                     path, auth->server);
    }
}

int kube_auth_read(const char *path, struct kube_auth *ret, struct ccm_error *err)
{
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret text = { 0 }; /* outlives the document */
    CCM_CLEANUP(ccm_yaml_fini) struct ccm_yaml yaml = { 0 };
    CCM_CLEANUP(ccm_yaml_document_freep) struct fy_document *document = NULL;
    int r = kube_auth_read_file("kubeconfig", path, &text.hidden, err);

    if (r < 0) {
        return r;
    }
    if (ccm_secret_text(&text)[strspn(ccm_secret_text(&text), " \t\r\n")] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s: is empty", path);
    }
    /* The parser loops for ever over some characters that YAML forbids. */
    if (ccm_text_printable(ccm_secret_text(&text), strlen(ccm_secret_text(&text))) !=
        strlen(ccm_secret_text(&text))) {
        return ccm_error_set(
            err, -EINVAL, CCM_ERROR_TERMINAL,
            "%s: is no text: it has control characters, or bytes that are no UTF-8", path);
    }
    if (ccm_yaml_init(&yaml) < 0) {
        return ccm_error_nomem(err);
    }
    document = fy_document_build_from_string(&yaml.config, ccm_secret_text(&text), FY_NT);
    if (document == NULL || fy_document_root(document) == NULL) {
        return syntax_error(path, &yaml, err);
    }

    struct reader in = {
        .path = path,
        .auth = &auth,
        .err = err,
        .root = fy_document_root(document),
    };

    r = read_config(&in);
    if (r == 0) {
        warn_about(path, &auth);
        *ret = auth;
        auth = (struct kube_auth){ 0 };
    }
    return r;
}
