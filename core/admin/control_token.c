#include "admin/control_token.h"

#include "util/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_MAX ((size_t)64 * 1024)
#define TOKEN_MIN 16

static int token_check_file(const char *path, struct ccm_error *err)
{
    struct stat info;

    if (stat(path, &info) < 0) {
        const int code = errno;

        return ccm_error_set(err, -code, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(code));
    }
    if (!S_ISREG(info.st_mode) || (info.st_uid != 0 && info.st_uid != geteuid()) ||
        (info.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "%s: must be a file of root or of the user of ccmd that nobody else "
                             "may read or write: chmod 600",
                             path);
    }
    return 0;
}

int admin_control_token_read(const char *path, struct ccm_secret *ret, struct ccm_error *err)
{
    size_t len = 0;
    int r = token_check_file(path, err);

    if (r < 0) {
        return r;
    }
    r = ccm_text_read_file(path, TOKEN_MAX, &ret->hidden, &len);
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(-r));
    }
    while (len > 0 && strchr(" \t\r\n", ret->hidden[len - 1]) != NULL) {
        ret->hidden[--len] = '\0';
    }
    if (len < TOKEN_MIN || strlen(ret->hidden) != len) {
        ccm_secret_fini(ret);
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "%s: holds no token of %d bytes or more", path, TOKEN_MIN);
    }
    return 0;
}
