#include "kube/client/exec.h"

#include "util/base64.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define INFO_VARIABLE "KUBERNETES_EXEC_INFO"
#define OUTPUT_MAX    ((size_t)256 * 1024)
#define ERROR_MAX     ((size_t)4096) /* kept of standard error */
#define SLICE_MS      100            /* how soon *stop is seen */
#define REAP_MS       5

extern char **environ;

static void strings_free(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free(list);
}

void kube_exec_free(struct kube_exec *exec)
{
    if (exec != NULL) {
        free(exec->command);
        strings_free(exec->args);
        strings_free(exec->env);
        free(exec->api_version);
        free(exec->info);
        free(exec->hint);
        free(exec);
    }
}

void kube_credential_fini(struct kube_credential *credential)
{
    ccm_secret_fini(&credential->token);
    ccm_secret_fini(&credential->key);
    free(credential->cert);
    *credential = (struct kube_credential){ 0 };
}

int kube_credential_copy(struct kube_credential *to, const struct kube_credential *from)
{
    struct kube_credential copy = { .end_ms = from->end_ms };

    copy.cert = from->cert == NULL ? NULL : strdup(from->cert);
    if ((from->cert != NULL && copy.cert == NULL) ||
        (from->token.hidden != NULL && ccm_secret_set(&copy.token, from->token.hidden) < 0) ||
        (from->key.hidden != NULL && ccm_secret_set(&copy.key, from->key.hidden) < 0)) {
        kube_credential_fini(&copy);
        return -ENOMEM;
    }
    *to = copy;
    return 0;
}

char *kube_exec_find(const char *command)
{
    const char *path = getenv("PATH");

    if (strchr(command, '/') != NULL) {
        return access(command, X_OK) == 0 ? strdup(command) : NULL;
    }
    for (const char *at = path == NULL ? "/bin:/usr/bin" : path; at != NULL;) {
        const size_t len = strcspn(at, ":");
        CCM_CLEANUP(ccm_freep)
        char *file = ccm_text_format("%.*s/%s", (int)len, len == 0 ? "." : at, command);

        if (file != NULL && access(file, X_OK) == 0) {
            return CCM_STEAL(file);
        }
        at = at[len] == ':' ? at + len + 1 : NULL;
    }
    return NULL;
}

/* --- starting it ---------------------------------------------------------------------------- */

static bool is_variable(const char *entry, const char *other)
{
    const size_t len = strcspn(other, "=");

    return strncmp(entry, other, len) == 0 && entry[len] == '=';
}

static bool is_replaced(const struct kube_exec *exec, const char *entry)
{
    for (size_t i = 0; exec->env[i] != NULL; i++) {
        if (is_variable(entry, exec->env[i])) {
            return true;
        }
    }
    return is_variable(entry, INFO_VARIABLE);
}

/* What a program may need to run, reach the network and find its own files. The rest of ours may
 * hold secrets that are none of its business; the kubeconfig can give it more. */
static bool is_inherited(const char *entry)
{
    static const char *const names[] = {
        "ALL_PROXY=", "all_proxy=", "HOME=",     "HTTPS_PROXY=", "HTTP_PROXY=", "LANG=",
        "LC_",        "LOGNAME=",   "NO_PROXY=", "PATH=",        "TZ=",         "SSL_CERT_",
        "TMPDIR=",    "USER=",      "XDG_",      "https_proxy=", "http_proxy=", "no_proxy="
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (ccm_text_starts(entry, names[i])) {
            return true;
        }
    }
    return false;
}

/* Some of ours, then those of the kubeconfig. Only the array is the caller's; `info` is its last
 * entry. NULL on ENOMEM. */
static char **exec_make_environment(const struct kube_exec *exec, char *info)
{
    size_t count = 0;
    size_t len = 0;

    while (environ[count] != NULL) {
        count++;
    }
    for (size_t i = 0; exec->env[i] != NULL; i++) {
        count++;
    }

    char **list = calloc(count + 2, sizeof(*list));

    if (list == NULL) {
        return NULL;
    }
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (is_inherited(environ[i]) && !is_replaced(exec, environ[i])) {
            list[len++] = environ[i];
        }
    }
    for (size_t i = 0; exec->env[i] != NULL; i++) {
        list[len++] = exec->env[i];
    }
    list[len] = info;
    return list;
}

/* The program that runs, and our ends of what it writes. */
struct child {
    pid_t pid; /* 0 = none, or it has been waited for */
    int out;   /* -1 = closed */
    int err;
    int status;
    struct ccm_buf output;
    struct ccm_buf error;
};

static void child_fini(struct child *child)
{
    if (child->pid > 0) {
        (void)kill(-child->pid, SIGKILL); /* all of its group; it may be gone */
        while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR) {
        }
    }
    ccm_closep(&child->out);
    ccm_closep(&child->err);
    if (child->output.data != NULL) {
        ccm_secret_wipe(child->output.data, child->output.len);
    }
    ccm_buf_fini(&child->output);
    ccm_buf_fini(&child->error);
}

/* Our signals are blocked, or ignored: not its. */
static int attributes_init(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;

    (void)sigemptyset(&none); /* cannot fail, nor can the next */
    (void)sigfillset(&all);
    if (posix_spawnattr_init(attributes) != 0) {
        return -ENOMEM;
    }
    (void)posix_spawnattr_setsigmask(attributes, &none); /* valid values, here and below */
    (void)posix_spawnattr_setsigdefault(attributes, &all);
    (void)posix_spawnattr_setpgroup(attributes, 0);
    (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                   POSIX_SPAWN_SETPGROUP);
    return 0;
}

/* out[1] and err[1] are its ends. A positive errno. */
static int spawn_with(const struct kube_exec *exec, char *const *environment, const int out[2],
                      const int err[2], pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    if (attributes_init(&attributes) < 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }

    int r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    }
    if (r == 0) {
        r = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    }
    if (r == 0) {
        r = posix_spawnp(ret, exec->command, &actions, &attributes, exec->args, environment);
    }
    (void)posix_spawnattr_destroy(&attributes); /* initialised, here and below */
    (void)posix_spawn_file_actions_destroy(&actions);
    return r;
}

/* Both ends are closed in every program that is started, but for those that are made its own. */
static int pipe_init(int ends[2])
{
    if (pipe(ends) < 0) {
        return -errno;
    }
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC); /* valid descriptors */
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

static int exec_start(const struct kube_exec *exec, struct child *child, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *info = ccm_text_format(INFO_VARIABLE "=%s", exec->info);
    CCM_CLEANUP(ccm_freep)
    char **environment = info == NULL ? NULL : exec_make_environment(exec, info);
    int out[2] = { -1, -1 };
    int errors[2] = { -1, -1 };
    int r = environment == NULL || pipe_init(out) < 0 || pipe_init(errors) < 0 ? ENOMEM : 0;

    if (r == 0) {
        r = spawn_with(exec, environment, out, errors, &child->pid);
    }
    child->out = out[0];
    child->err = errors[0];
    ccm_closep(&out[1]);
    ccm_closep(&errors[1]);
    if (r == ENOMEM) {
        return ccm_error_nomem(err);
    }
    if (r != 0) {
        child->pid = 0;
        return ccm_error_set(err, -r, CCM_ERROR_AUTH, "cannot be run: %s%s%s", strerror(r),
                             exec->hint[0] == '\0' ? "" : "; ", exec->hint);
    }
    (void)fcntl(child->out, F_SETFL, O_NONBLOCK); /* a valid descriptor, and so is the next */
    (void)fcntl(child->err, F_SETFL, O_NONBLOCK);
    return 0;
}

/* --- waiting for it ------------------------------------------------------------------------- */

/* Take what is there; *fd is closed at its end. What is beyond `max` is read and dropped. */
static void stream_read(int *fd, struct ccm_buf *buf, size_t max)
{
    char bytes[4096];
    ssize_t got;

    while (*fd >= 0 && (got = read(*fd, bytes, sizeof(bytes))) != 0) {
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            if (errno == EAGAIN) {
                return;
            }
            break;
        }
        if (buf->len <= max) {
            ccm_buf_add(buf, bytes, (size_t)got);
        }
    }
    ccm_secret_wipe(bytes, sizeof(bytes));
    ccm_closep(fd);
    *fd = -1;
}

static void child_read(struct child *child)
{
    stream_read(&child->out, &child->output, OUTPUT_MAX);
    stream_read(&child->err, &child->error, ERROR_MAX);
}

/* Whether it has ended. What it has left behind ends with it, and before its number is free. */
static bool child_has_ended(struct child *child)
{
    siginfo_t info = { .si_pid = 0 };

    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        info.si_pid == 0) {
        return false;
    }
    (void)kill(-child->pid, SIGKILL); /* its group; there may be no other process in it */
    while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR) {
    }
    child->pid = 0;
    return true;
}

/* 0 = it has ended. */
static int child_await(struct child *child, int64_t deadline_ms, const atomic_bool *stop)
{
    for (;;) {
        struct pollfd polled[] = { { child->out, POLLIN, 0 }, { child->err, POLLIN, 0 } };
        const int64_t left = deadline_ms - ccm_clock_now_ms();
        const bool silent = child->out < 0 && child->err < 0;
        const int64_t slice = silent ? REAP_MS : SLICE_MS;

        if (atomic_load(stop)) {
            return -ECANCELED;
        }
        if (left <= 0) {
            return -ETIMEDOUT;
        }
        (void)poll(polled, CCM_ARRAY_LEN(polled), /* what comes is seen below */
                   (int)(left < slice ? left : slice));
        child_read(child);
        if (child_has_ended(child)) {
            child_read(child);
            return 0;
        }
    }
}

/* --- what it said --------------------------------------------------------------------------- */

static int exec_refuse(struct ccm_error *err, const char *text)
{
    return ccm_error_set(err, -EACCES, CCM_ERROR_AUTH, "%s", text);
}

/* PEM texts, one base64 less than in a kubeconfig. */
static int credential_read_pair(const cJSON *status, struct kube_credential *ret,
                                struct ccm_error *err)
{
    const char *cert = ccm_json_text(status, "clientCertificateData");
    const char *key = ccm_json_text(status, "clientKeyData");

    if ((cert[0] == '\0') != (key[0] == '\0')) {
        return exec_refuse(err, "clientCertificateData and clientKeyData go together");
    }
    if (cert[0] == '\0') {
        return 0;
    }
    if (strstr(cert, "-----BEGIN ") == NULL || strstr(key, "-----BEGIN ") == NULL) {
        return exec_refuse(err, "clientCertificateData or clientKeyData is no PEM text");
    }
    ret->cert = strdup(cert);
    return ret->cert == NULL || ccm_secret_set(&ret->key, key) < 0 ? ccm_error_nomem(err) : 0;
}

static int credential_read(const struct kube_exec *exec, const cJSON *json,
                           struct kube_credential *ret, struct ccm_error *err)
{
    const cJSON *status = ccm_json_get(json, "status");
    const char *token = ccm_json_text(status, "token");
    const char *end = ccm_json_text(status, "expirationTimestamp");

    if (!ccm_text_equal(ccm_json_str(json, "kind"), "ExecCredential") ||
        !ccm_text_equal(ccm_json_str(json, "apiVersion"), exec->api_version)) {
        return ccm_error_set(err, -EACCES, CCM_ERROR_AUTH,
                             "printed something else than an ExecCredential of %s",
                             exec->api_version);
    }
    if (token[0] == '\0' && ccm_json_get(status, "clientCertificateData") == NULL) {
        return exec_refuse(err, "printed neither a token nor a client certificate");
    }
    if (strpbrk(token, " \t\r\n") != NULL) {
        return exec_refuse(err, "printed a token with blanks or line ends");
    }
    if (end[0] != '\0' && ccm_parse_rfc3339(end, &ret->end_ms) < 0) {
        return exec_refuse(err, "printed an expirationTimestamp that is no time");
    }
    if (token[0] != '\0' && ccm_secret_set(&ret->token, token) < 0) {
        return ccm_error_nomem(err);
    }
    return credential_read_pair(status, ret, err);
}

static int exec_read_output(const struct kube_exec *exec, const struct child *child,
                            struct kube_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_json_wipep) cJSON *json = NULL;
    CCM_CLEANUP(kube_credential_fini) struct kube_credential found = { 0 };

    if (ccm_buf_error(&child->output) < 0) {
        return ccm_error_nomem(err);
    }
    if (child->output.len > OUTPUT_MAX) {
        return exec_refuse(err, "printed more than 256 KiB");
    }
    if (ccm_json_parse(ccm_buf_str(&child->output), child->output.len, &json) < 0) {
        return exec_refuse(err, "printed something that is no JSON");
    }

    const int r = credential_read(exec, json, &found, err);

    if (r == 0) {
        *ret = found;
        found = (struct kube_credential){ 0 };
    }
    return r;
}

/* How it ended, and what it complained about first. */
static int exec_explain_end(const struct child *child, struct ccm_error *err)
{
    const char *said = ccm_buf_str(&child->error);
    const size_t len = strcspn(said, "\r\n");
    const size_t printable = ccm_text_printable(said, len < 200 ? len : 200);
    const char *between = printable == 0 ? "" : ": ";

    if (WIFSIGNALED(child->status)) {
        return ccm_error_set(err, -EACCES, CCM_ERROR_AUTH, "was ended by signal %d%s%.*s",
                             WTERMSIG(child->status), between, (int)printable, said);
    }
    return ccm_error_set(err, -EACCES, CCM_ERROR_AUTH, "ended with exit code %d%s%.*s",
                         WEXITSTATUS(child->status), between, (int)printable, said);
}

static int exec_run_child(const struct kube_exec *exec, int64_t timeout_ms, const atomic_bool *stop,
                          struct kube_credential *ret, struct ccm_error *err)
{
    CCM_CLEANUP(child_fini) struct child child = { .out = -1, .err = -1 };
    int r = exec_start(exec, &child, err);

    if (r < 0) {
        return r;
    }
    r = child_await(&child, ccm_clock_now_ms() + timeout_ms, stop);
    if (r == -ECANCELED) {
        return ccm_error_set(err, r, CCM_ERROR_CANCELLED, "was not waited for");
    }
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "has not ended within %d s",
                             (int)(timeout_ms / 1000));
    }
    if (child.status != 0) {
        return exec_explain_end(&child, err);
    }
    return exec_read_output(exec, &child, ret, err);
}

int kube_exec_run(const struct kube_exec *exec, int64_t timeout_ms, const atomic_bool *stop,
                  struct kube_credential *ret, struct ccm_error *err)
{
    const int r = exec_run_child(exec, timeout_ms, stop, ret, err);

    return r == 0 ? 0 : ccm_error_wrap(err, r, "credential plugin %s", exec->command);
}
