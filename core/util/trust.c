#include "util/trust.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int trust_fail_errno(struct ccm_error *err, const char *path, int error)
{
    return ccm_error_set(err, -error, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(error));
}

int ccm_trust_check_stat(const char *subject, const char *path, const struct stat *st,
                         struct ccm_error *err)
{
    const bool folder = S_ISDIR(st->st_mode);
    const char *what = folder ? "folder " : "";
    const char *which = folder ? path : "the file";
    const char *who = "others";

    if (st->st_uid != 0 && st->st_uid != geteuid()) {
        return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL,
                             "%s: %s%s belongs to uid %lu, neither to root nor to this process "
                             "(uid %lu): chown root %s",
                             subject, what, which, (unsigned long)st->st_uid,
                             (unsigned long)geteuid(), path);
    }
    if ((st->st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
        (folder && st->st_uid == 0 && (st->st_mode & S_ISVTX) != 0)) {
        return 0;
    }
    if ((st->st_mode & S_IWOTH) == 0) {
        who = "its group";
    }
    /* Such as the volume of a pod, whose mode is not the pod's to choose. */
    return ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL,
                         "%s: %s%s can be written by %s (mode %04o): chmod go-w %s%s", subject,
                         what, which, who, (unsigned)(st->st_mode & 07777), path,
                         folder && st->st_uid != geteuid()
                             ? ", or mount a folder of this volume (subPath) that is not"
                             : "");
}

/* Every folder above the last part of an absolute path, from the root down. */
static int trust_check_parents(const char *subject, const char *path, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *folder = strdup(path);

    if (folder == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; path[i] != '\0'; i++) {
        const size_t end = i == 0 ? 1 : i;
        struct stat st;

        if (path[i] != '/') {
            continue;
        }
        folder[end] = '\0';
        if (stat(folder, &st) < 0) {
            return trust_fail_errno(err, folder, errno);
        }

        const int r = ccm_trust_check_stat(subject, folder, &st, err);

        if (r < 0) {
            return r;
        }
        folder[end] = path[end];
    }
    return 0;
}

/* The folders of the path before its links are followed: who can turn a link can choose the file.
 */
static int trust_check_given(const char *given, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *folder = strdup(given);
    CCM_CLEANUP(ccm_freep) char *real = NULL;
    CCM_CLEANUP(ccm_freep) char *inside = NULL;

    if (folder == NULL) {
        return ccm_error_nomem(err);
    }
    *(strrchr(folder, '/') + 1) = '\0'; /* it has one */
    real = realpath(folder, NULL);
    if (real == NULL) {
        return errno == ENOMEM ? ccm_error_nomem(err) : trust_fail_errno(err, folder, errno);
    }
    inside = ccm_text_format("%s/", real);
    if (inside == NULL) {
        return ccm_error_nomem(err);
    }
    return trust_check_parents(given, inside, err);
}

int ccm_trust_check_folders(const char *given, const char *path, struct ccm_error *err)
{
    const int r = trust_check_given(given, err);

    return r < 0 ? r : trust_check_parents(path, path, err);
}

int ccm_trust_check_file(const char *path, struct ccm_error *err)
{
    struct stat st;

    return stat(path, &st) < 0 ? trust_fail_errno(err, path, errno)
                               : ccm_trust_check_stat(path, path, &st, err);
}

int ccm_trust_check_program(const char *given, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *path = realpath(given, NULL);
    int r = 0;

    if (path == NULL) {
        return errno == ENOMEM ? ccm_error_nomem(err) : trust_fail_errno(err, given, errno);
    }
    r = ccm_trust_check_folders(given, path, err);
    return r < 0 ? r : ccm_trust_check_file(path, err);
}
