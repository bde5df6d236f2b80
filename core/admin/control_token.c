#include "admin/control_token.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_MAX   ((size_t)64 * 1024)
#define TOKEN_MIN   16
#define TOKEN_BYTES 32 /* of one that is made */

static int token_fail_open(const char *path, int code, struct ccm_error *err)
{
    return ccm_error_set(err, -code, CCM_ERROR_TERMINAL, "%s: %s", path, strerror(code));
}

/* What is read is what was looked at, whoever exchanges the file meanwhile. */
static int token_check_file(int file, const char *path, struct ccm_error *err)
{
    struct stat info;

    if (fstat(file, &info) < 0) {
        return token_fail_open(path, errno, err);
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

static int token_write(int file)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[TOKEN_BYTES];
    char text[2 * TOKEN_BYTES + 1];
    ssize_t written = -1;

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return -EIO;
    }
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * TOKEN_BYTES] = '\n';
    written = write(file, text, sizeof(text));
    ccm_secret_wipe((char *)bytes, sizeof(bytes));
    ccm_secret_wipe(text, sizeof(text));
    return written == (ssize_t)sizeof(text) ? 0 : -EIO;
}

int admin_control_token_make(const char *path, struct ccm_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r = file < 0 ? -errno : 0;

    if (r == -EEXIST) {
        return 0;
    }
    if (r == 0) {
        r = token_write(file);
        if (close(file) < 0 || r < 0) {
            r = r < 0 ? r : -EIO;
            (void)unlink(path); /* what is left of it is refused */
        }
    }
    return r == 0 ? 0
                  : ccm_error_set(err, r, CCM_ERROR_TERMINAL, "%s cannot be made: %s", path,
                                  strerror(-r));
}

int admin_control_token_read(const char *path, struct ccm_secret *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_closep) int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t len = 0;
    int r = file < 0 ? token_fail_open(path, errno, err) : token_check_file(file, path, err);

    if (r < 0) {
        return r;
    }
    r = ccm_text_read_open(file, TOKEN_MAX, &ret->hidden, &len);
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
