/* The kubeconfig file: current-context -> context -> cluster and user. */
#include "kube/client/auth.h"
#include "util/base64.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/log.h"
#include "util/text.h"
#include "util/trust.h"
#include "util/yaml.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct ccm_log kube_log = { .part = "kube" };

#define FILES_MAX 32

/* One of the files that are read as one. */
struct source {
    char *path;
    struct ccm_secret text; /* outlives the document */
    struct ccm_yaml yaml;
    struct fy_document *document;
};

struct sources {
    struct source items[FILES_MAX];
    size_t len;
};

/* What is being read. `what` is the entry that the fields below belong to: "users[admin].user";
 * `path` and `root` are of the file in which it was found. */
struct reader {
    const char *path;
    struct kube_auth *auth;
    struct ccm_error *err;
    struct fy_node *root;
    const char *what;
    const struct sources *sources;
    struct fy_node *cluster; /* NULL until it was found */
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
        { "auth-provider", "is not supported; use exec, tokenFile or a client certificate" },
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

/* --- exec ----------------------------------------------------------------------------------- */

/* KUBERNETES_EXEC_INFO: what a plugin is told of us, and with provideClusterInfo of the cluster. */
static char *exec_make_info(const struct reader *in, const char *version, bool with_cluster)
{
    const struct kube_auth *auth = in->auth;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf info = { .max = 2 * KUBE_FILE_MAX };
    CCM_CLEANUP(ccm_secret_fini) struct ccm_secret file = { 0 };
    struct ccm_jsonw w = { .buf = &info };
    const char *pem = auth->ca_data;
    char *text = NULL;

    if (with_cluster && auth->ca_file != NULL &&
        ccm_text_read_file(auth->ca_file, KUBE_FILE_MAX, &file.hidden, NULL) == 0) {
        pem = file.hidden;
    }
    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "kind", "ExecCredential");
    ccm_jsonw_str(&w, "apiVersion", version);
    ccm_jsonw_open(&w, "spec", '{');
    ccm_jsonw_bool(&w, "interactive", false);
    if (with_cluster) {
        ccm_jsonw_open(&w, "cluster", '{');
        ccm_jsonw_str(&w, "server", auth->server);
        if (auth->server_name != NULL) {
            ccm_jsonw_str(&w, "tls-server-name", auth->server_name);
        }
        if (auth->insecure) {
            ccm_jsonw_bool(&w, "insecure-skip-tls-verify", true);
        }
        if (pem != NULL) {
            CCM_CLEANUP(ccm_buf_fini) struct ccm_buf data = { .max = 2 * KUBE_FILE_MAX };

            ccm_base64_encode(&data, pem, strlen(pem));
            ccm_jsonw_str(&w, "certificate-authority-data", ccm_buf_str(&data));
        }
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close_all(&w, "}}");
    return ccm_buf_take(&info, &text) < 0 ? NULL : text;
}

/* Room for so many texts and the NULL at their end. */
static char **texts_alloc(size_t count)
{
    return calloc(count + 1, sizeof(char *));
}

/* A list of texts; `first`, if there is one, stands before it. */
static int read_args(const struct reader *in, struct fy_node *exec, const char *first, char ***ret)
{
    struct fy_node *list = kubeconfig_find_member(exec, "args");
    struct fy_node *item;
    void *cursor = NULL;
    size_t len = 1;

    if (list != NULL && !fy_node_is_sequence(list)) {
        return kubeconfig_fail_at(in, list, "args", "is no list");
    }
    *ret = texts_alloc(1 + (list == NULL ? 0 : (size_t)fy_node_sequence_item_count(list)));
    if (*ret == NULL || ((*ret)[0] = strdup(first)) == NULL) {
        return ccm_error_nomem(in->err);
    }
    while (list != NULL && (item = fy_node_sequence_iterate(list, &cursor)) != NULL) {
        const char *text = fy_node_is_scalar(item) ? fy_node_get_scalar0(item) : NULL;

        if (text == NULL) {
            return kubeconfig_fail_at(in, item, "args", "has an entry that is no plain text");
        }
        (*ret)[len] = strdup(text);
        if ((*ret)[len++] == NULL) {
            return ccm_error_nomem(in->err);
        }
    }
    return 0;
}

/* "NAME=value" of each { name, value }. */
static int read_env(const struct reader *in, struct fy_node *exec, char ***ret)
{
    struct fy_node *list = kubeconfig_find_member(exec, "env");
    struct fy_node *item;
    void *cursor = NULL;
    size_t len = 0;

    if (list != NULL && !fy_node_is_sequence(list)) {
        return kubeconfig_fail_at(in, list, "env", "is no list");
    }
    *ret = texts_alloc(list == NULL ? 0 : (size_t)fy_node_sequence_item_count(list));
    if (*ret == NULL) {
        return ccm_error_nomem(in->err);
    }
    while (list != NULL && (item = fy_node_sequence_iterate(list, &cursor)) != NULL) {
        const char *name = NULL;
        const char *value = NULL;
        int r = read_text(in, item, "name", &name);

        if (r == 0) {
            r = read_text(in, item, "value", &value);
        }
        if (r < 0) {
            return r;
        }
        if (name == NULL || strchr(name, '=') != NULL) {
            return kubeconfig_fail_at(in, item, "env", "has an entry without a usable name");
        }
        (*ret)[len] = ccm_text_format("%s=%s", name, value == NULL ? "" : value);
        if ((*ret)[len++] == NULL) {
            return ccm_error_nomem(in->err);
        }
    }
    return 0;
}

static int read_exec_version(const struct reader *in, struct fy_node *node, char **ret)
{
    const char *version = NULL;
    const char *mode = NULL;
    int r = read_text(in, node, "apiVersion", &version);

    if (r == 0) {
        r = read_text(in, node, "interactiveMode", &mode);
    }
    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(version, KUBE_EXEC_V1) && !ccm_text_equal(version, KUBE_EXEC_V1BETA1)) {
        CCM_CLEANUP(ccm_freep)
        char *text = ccm_text_format("%.80s is not supported; " KUBE_EXEC_V1 " and v1beta1 are",
                                     version == NULL ? "a missing version" : version);

        return kubeconfig_fail_at(in, kubeconfig_find_member(node, "apiVersion"), "apiVersion",
                                  text == NULL ? "is not supported" : text);
    }
    if (ccm_text_equal(mode, "Always")) {
        return kubeconfig_fail_at(in, kubeconfig_find_member(node, "interactiveMode"),
                                  "interactiveMode", "the plugin asks a person, and there is none");
    }
    *ret = strdup(version);
    return *ret == NULL ? ccm_error_nomem(in->err) : 0;
}

/* A bare name is looked for in PATH, any other is relative to the folder of the kubeconfig. */
static int read_exec_command(const struct reader *in, struct fy_node *node, char **ret)
{
    struct fy_node *member = kubeconfig_find_member(node, "command");
    const char *command;
    const char *hint;
    int r = read_text(in, node, "command", &command);

    if (r == 0) {
        r = read_text(in, node, "installHint", &hint);
    }
    if (r < 0) {
        return r;
    }
    if (command == NULL) {
        return kubeconfig_fail_at(in, NULL, "command", "is missing");
    }
    *ret = strchr(command, '/') == NULL ? strdup(command) : kubeconfig_resolve_path(in, command);
    if (*ret == NULL) {
        return ccm_error_nomem(in->err);
    }

    CCM_CLEANUP(ccm_freep) char *file = kube_exec_find(*ret);

    if (file != NULL) {
        struct ccm_error err = CCM_ERROR_INIT;

        r = ccm_trust_check_program(file, &err);
        return r < 0 ? kubeconfig_fail_at(in, member, "command", err.message) : 0;
    }

    CCM_CLEANUP(ccm_freep)
    char *text =
        ccm_text_format("%s: %s%s%.200s", *ret,
                        strchr(*ret, '/') == NULL ? "is not in PATH" : "there is no such program",
                        hint == NULL ? "" : ": ", hint == NULL ? "" : hint);

    return kubeconfig_fail_at(in, member, "command", text == NULL ? "is not there" : text);
}

static int read_exec_parts(const struct reader *in, struct fy_node *node, struct kube_exec *exec)
{
    const char *hint;
    bool with_cluster = false;
    int r = read_exec_version(in, node, &exec->api_version);

    if (r == 0) {
        r = read_exec_command(in, node, &exec->command);
    }
    if (r == 0) {
        r = read_args(in, node, exec->command, &exec->args);
    }
    if (r == 0) {
        r = read_env(in, node, &exec->env);
    }
    if (r == 0) {
        r = read_bool(in, node, "provideClusterInfo", &with_cluster);
    }
    if (r == 0) {
        r = read_text(in, node, "installHint", &hint);
    }
    if (r < 0) {
        return r;
    }
    exec->info = exec_make_info(in, exec->api_version, with_cluster);
    exec->hint = strdup(hint == NULL ? "" : hint);
    return exec->info == NULL || exec->hint == NULL ? ccm_error_nomem(in->err) : 0;
}

static int read_exec(const struct reader *in, struct fy_node *user)
{
    struct fy_node *node = kubeconfig_find_member(user, "exec");
    CCM_CLEANUP(ccm_freep) char *what = ccm_text_format("%s.exec", in->what);
    struct reader inner = *in;

    if (node == NULL) {
        return 0;
    }
    if (!fy_node_is_mapping(node)) {
        return kubeconfig_fail_at(in, node, "exec", "is no mapping");
    }
    if (what == NULL) {
        return ccm_error_nomem(in->err);
    }
    inner.what = what;
    in->auth->exec = calloc(1, sizeof(*in->auth->exec));
    return in->auth->exec == NULL ? ccm_error_nomem(in->err)
                                  : read_exec_parts(&inner, node, in->auth->exec);
}

static int read_user(const struct reader *in, struct fy_node *user)
{
    struct kube_auth *auth = in->auth;
    CCM_CLEANUP(ccm_freep) char *cert_file = NULL;
    CCM_CLEANUP(ccm_freep) char *key_file = NULL;
    int r = refuse_user(in, user);

    if (r == 0) {
        r = read_exec(in, user);
    }
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

    const char *field = auth->exec != NULL           ? ".exec"
                        : auth->token_file != NULL   ? ".tokenFile"
                        : auth->token.hidden != NULL ? ".token"
                        : auth->cert_data != NULL    ? ".client-certificate"
                                                     : NULL;

    auth->credential =
        field == NULL ? strdup("") : ccm_text_format("%s%s in %s", in->what, field, in->path);
    return auth->credential == NULL ? ccm_error_nomem(in->err) : 0;
}

/* The entry called `name` of a list in the present file; *ret NULL = there is none. */
static int find_entry_here(struct reader *in, const char *list, const char *name,
                           struct fy_node **ret)
{
    struct fy_node *entries = kubeconfig_find_member(in->root, list);
    struct fy_node *entry;
    void *cursor = NULL;

    *ret = NULL;
    if (entries == NULL || !fy_node_is_sequence(entries)) {
        return 0;
    }
    while ((entry = fy_node_sequence_iterate(entries, &cursor)) != NULL) {
        const char *text;
        const int r = read_text(in, entry, "name", &text);

        if (r < 0) {
            return r;
        }
        if (text != NULL && strcmp(text, name) == 0) {
            *ret = entry;
            return 0;
        }
    }
    return 0;
}

static void reader_open(struct reader *in, size_t index)
{
    in->path = in->sources->items[index].path;
    in->root = fy_document_root(in->sources->items[index].document);
}

static bool has_list(struct reader *in, const char *list)
{
    for (size_t i = 0; i < in->sources->len; i++) {
        reader_open(in, i);

        struct fy_node *entries = kubeconfig_find_member(in->root, list);

        if (entries != NULL && fy_node_is_sequence(entries)) {
            return true;
        }
    }
    reader_open(in, 0);
    return false;
}

/* The entry called `name` of a list such as contexts, and its inner part. The file that has it is
 * the present one then. */
static int find_entry(struct reader *in, const char *list, const char *name, const char *inner,
                      struct fy_node **ret)
{
    struct fy_node *entry = NULL;

    in->what = "";
    if (!has_list(in, list)) {
        return kubeconfig_fail_at(in, NULL, list, "is missing or is no list");
    }
    for (size_t i = 0; i < in->sources->len && entry == NULL; i++) {
        reader_open(in, i);

        const int r = find_entry_here(in, list, name, &entry);

        if (r < 0) {
            return r;
        }
    }
    if (entry == NULL) {
        reader_open(in, 0);
        return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s: %s: none is named \"%s\"",
                             in->path, list, name);
    }
    *ret = kubeconfig_find_member(entry, inner);
    if (*ret == NULL || !fy_node_is_mapping(*ret)) {
        return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s: %s[%s].%s: is missing",
                             in->path, list, name, inner);
    }
    return 0;
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

/* The name in the first file that says one; NULL = none does. */
static int read_current(struct reader *in, const char **ret)
{
    int r = 0;

    *ret = NULL;
    for (size_t i = 0; i < in->sources->len && r == 0 && *ret == NULL; i++) {
        reader_open(in, i);
        if (!fy_node_is_mapping(in->root)) {
            return ccm_error_set(in->err, -EINVAL, CCM_ERROR_TERMINAL, "%s: is no kubeconfig",
                                 in->path);
        }
        r = read_text(in, in->root, "current-context", ret);
    }
    return r;
}

/* wanted: NULL = the current context. */
static int read_config(struct reader *in, const char *wanted)
{
    struct fy_node *context = NULL;
    const char *name;

    in->what = "";

    int r = read_current(in, &name);

    name = wanted == NULL ? name : wanted;
    if (r == 0 && name == NULL) {
        reader_open(in, 0);
        r = kubeconfig_fail_at(in, NULL, "current-context", "is missing");
    }
    if (r == 0) {
        r = find_entry(in, "contexts", name, "context", &context);
    }

    const char *path = in->path; /* of the context */

    if (r == 0) {
        r = read_part(in, context, name, "cluster", "clusters", read_cluster);
    }
    in->path = path;
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

/* Who can change the file chooses the program that runs as our user, if it names one. */
static int check_owner(const struct sources *sources, const struct kube_auth *auth,
                       struct ccm_error *err)
{
    for (size_t i = 0; i < sources->len; i++) {
        struct ccm_error found = CCM_ERROR_INIT;

        if (ccm_trust_check_file(sources->items[i].path, &found) != -EACCES) {
            continue;
        }
        if (auth->exec != NULL) {
            return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL,
                                 "%s; a kubeconfig with exec decides which program runs",
                                 found.message);
        }
        ccm_log_warn(&kube_log, "%s", found.message);
    }
    return 0;
}

static void warn_about(const char *path, const struct kube_auth *auth)
{
    if (auth->insecure) {
        ccm_log_warn(&kube_log, "%s: the identity of %s is NOT verified (insecure-skip-tls-verify)",
                     path, auth->server);
    }
}

static void sources_freep(struct sources **sources)
{
    for (size_t i = 0; *sources != NULL && i < (*sources)->len; i++) {
        struct source *source = &(*sources)->items[i];

        ccm_yaml_document_freep(&source->document);
        ccm_yaml_fini(&source->yaml);
        ccm_secret_fini(&source->text);
        free(source->path);
    }
    free(*sources);
    *sources = NULL;
}

static int source_parse(struct source *source, struct ccm_error *err)
{
    const char *text = ccm_secret_text(&source->text);

    if (text[strspn(text, " \t\r\n")] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "%s: is empty", source->path);
    }
    /* The parser loops for ever over some characters that YAML forbids. */
    if (ccm_text_printable(text, strlen(text)) != strlen(text)) {
        return ccm_error_set(
            err, -EINVAL, CCM_ERROR_TERMINAL,
            "%s: is no text: it has control characters, or bytes that are no UTF-8", source->path);
    }
    if (ccm_yaml_init(&source->yaml) < 0) {
        return ccm_error_nomem(err);
    }
    source->document = fy_document_build_from_string(&source->yaml.config, text, FY_NT);
    if (source->document == NULL || fy_document_root(source->document) == NULL) {
        return syntax_error(source->path, &source->yaml, err);
    }
    return 0;
}

/* path, of which `len` bytes count, as the next source; optional: unless it does not exist. */
static int sources_add(struct sources *sources, const char *path, size_t len, bool optional,
                       struct ccm_error *err)
{
    struct source *source = &sources->items[sources->len];

    if (sources->len == FILES_MAX) {
        return ccm_error_set(err, -E2BIG, CCM_ERROR_TERMINAL, "more than %d kubeconfig files",
                             FILES_MAX);
    }
    *source = (struct source){ .path = strndup(path, len) };
    if (source->path == NULL) {
        return ccm_error_nomem(err);
    }
    if (optional && access(source->path, F_OK) < 0 && errno == ENOENT) {
        free(CCM_STEAL(source->path));
        return 0;
    }
    sources->len++; /* the caller frees it, however far it came */

    const int r = kube_auth_read_file("kubeconfig", source->path, &source->text.hidden, err);

    return r < 0 ? r : source_parse(source, err);
}

static int read_sources(const struct sources *sources, const char *context, struct kube_auth *ret,
                        struct ccm_error *err)
{
    CCM_CLEANUP(kube_auth_fini) struct kube_auth auth = { 0 };
    struct reader in = { .auth = &auth, .err = err, .sources = sources };
    int r = read_config(&in, context);

    if (r == 0) {
        r = check_owner(sources, &auth, err);
    }
    if (r == 0) {
        warn_about(sources->items[0].path, &auth);
        *ret = auth;
        auth = (struct kube_auth){ 0 };
    }
    return r;
}

int kube_auth_read_place(const struct kube_place *place, struct kube_auth *ret,
                         struct ccm_error *err)
{
    CCM_CLEANUP(sources_freep) struct sources *sources = calloc(1, sizeof(*sources));
    const char *const paths = place->kubeconfig;
    int r = sources == NULL ? ccm_error_nomem(err) : 0;

    if (r == 0 && !place->is_list) {
        r = sources_add(sources, paths, strlen(paths), false, err);
    }
    for (const char *at = place->is_list ? paths : NULL; r == 0 && at != NULL;) {
        const size_t len = strcspn(at, ":");

        r = len == 0 ? 0 : sources_add(sources, at, len, true, err);
        at = at[len] == ':' ? at + len + 1 : NULL;
    }
    if (r == 0 && sources->len == 0) {
        r = ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL, "%s: there is no such kubeconfig",
                          paths);
    }
    return r < 0 ? r : read_sources(sources, place->context, ret, err);
}

int kube_auth_read(const char *path, struct kube_auth *ret, struct ccm_error *err)
{
    const struct kube_place place = { .kubeconfig = path };

    return kube_auth_read_place(&place, ret, err);
}
