#include "plugin/trust.h"

#include "util/cleanup.h"
#include "util/text.h"
#include "util/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 32

bool plugin_trust_is_name(const char *text)
{
    size_t len = 0;

    if (text == NULL) {
        return false;
    }
    while (len <= NAME_BYTES && text[len] != '\0') {
        const char c = text[len];

        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-')) {
            return false;
        }
        len++;
    }
    return len > 0 && len <= NAME_BYTES;
}

static int refuse_errno(struct ccm_error *err, const char *path, int error)
{
    if (error == ENOENT || error == ENOTDIR) {
        return ccm_error_set(err, -error, CCM_ERROR_TERMINAL,
                             "%s: no such file: check the plugin's name or path, and `plugin_dir`",
                             path);
    }
    return ccm_error_set(err, -error, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(error));
}

/* A file name of its own: no folder, nothing hidden, .so at the end. */
static bool is_file_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._+-";

    return text[0] != '.' && strnlen(text, NAME_MAX) < NAME_MAX && ccm_text_ends(text, ".so") &&
           text[strspn(text, letters)] == '\0';
}

/* Path as configured, not resolved yet. */
static int candidate_of(const char *spec, const char *plugin_dir, char **ret, struct ccm_error *err)
{
    char *path = NULL;

    if (spec[0] == '/') {
        path = strdup(spec);
    } else if (!plugin_trust_is_name(spec) && !is_file_name(spec)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: neither an absolute path, nor a file name NAME.so in plugin_dir, "
                             "nor a plugin name (a-z, 0-9 and '-', at most %d characters)",
                             spec, NAME_BYTES);
    } else if (plugin_dir == NULL || plugin_dir[0] != '/') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: looked up in plugin_dir \"%s\", which is not an absolute path",
                             spec, plugin_dir == NULL ? "" : plugin_dir);
    } else {
        path = ccm_text_format("%s/%s%s", plugin_dir, spec, is_file_name(spec) ? "" : ".so");
    }
    if (path == NULL) {
        return ccm_error_nomem(err);
    }
    *ret = path;
    return 0;
}

static int steal_fd(int *fd)
{
    const int stolen = *fd;

    *fd = -1;
    return stolen;
}

/* O_NONBLOCK: a pipe in place of the file must not make the start of the daemon wait. */
static int open_file(const char *path, int *ret_fd, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_closep)
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0) {
        return refuse_errno(err, path, errno);
    }
    if (!S_ISREG(st.st_mode)) {
        return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL, "%s: not a regular file%s", path,
                             S_ISDIR(st.st_mode) ? " but a folder: name the .so inside" : "");
    }
    r = ccm_trust_check_stat(path, path, &st, err);
    if (r < 0) {
        return r;
    }
    *ret_fd = steal_fd(&fd);
    return 0;
}

int plugin_trust_open(const char *spec, const char *plugin_dir, char **ret_path, int *ret_fd,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *given = NULL;
    CCM_CLEANUP(ccm_freep) char *path = NULL;
    int r = candidate_of(spec, plugin_dir, &given, err);

    if (r < 0) {
        return r;
    }
    path = realpath(given, NULL);
    if (path == NULL) {
        return errno == ENOMEM ? ccm_error_nomem(err) : refuse_errno(err, given, errno);
    }
    r = ccm_trust_check_folders(given, path, err);
    if (r < 0) {
        return r;
    }
    r = open_file(path, ret_fd, err);
    if (r < 0) {
        return r;
    }
    *ret_path = CCM_STEAL(path);
    return 0;
}

int plugin_trust_same(const char *path, const struct stat *st, struct ccm_error *err)
{
    struct stat now;

    if (stat(path, &now) < 0) {
        return refuse_errno(err, path, errno);
    }
    if (now.st_dev != st->st_dev || now.st_ino != st->st_ino || now.st_size != st->st_size ||
        now.st_mtim.tv_sec != st->st_mtim.tv_sec || now.st_mtim.tv_nsec != st->st_mtim.tv_nsec ||
        now.st_ctim.tv_sec != st->st_ctim.tv_sec || now.st_ctim.tv_nsec != st->st_ctim.tv_nsec) {
        return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL,
                             "%s: replaced or changed while it was being loaded: start again",
                             path);
    }
    return 0;
}
