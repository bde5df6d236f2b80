#include "alicloud/credential/raw.h"

#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE ((size_t)64 * 1024)
#define MAX_TEXT 16384 /* of a key, secret or token */

void ali_raw_credential_fini(struct ali_raw_credential *raw)
{
    free(raw->key_id);
    ccm_secret_fini(&raw->secret);
    ccm_secret_fini(&raw->token);
    *raw = (struct ali_raw_credential){ 0 };
}

/* Keys and tokens go into headers and parameters: visible ASCII, bounded. */
static bool text_ok(const char *text)
{
    const size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return false;
        }
    }
    return len <= MAX_TEXT;
}

int ali_raw_credential_keep(const char *what, const char *key_id, const char *secret,
                            const char *token, struct ali_raw_credential *ret,
                            struct ccm_error *err)
{
    if (ccm_text_empty(key_id) || ccm_text_empty(secret)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_AUTH,
                             "credentials: %s: access key id or secret is missing", what);
    }
    if (!text_ok(key_id) || !text_ok(secret) || (token != NULL && !text_ok(token))) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_AUTH,
                             "credentials: %s: blanks, line ends or strange characters in key, "
                             "secret or token",
                             what);
    }
    ret->key_id = strdup(key_id);
    if (ret->key_id == NULL || ccm_secret_set(&ret->secret, secret) < 0 ||
        (!ccm_text_empty(token) && ccm_secret_set(&ret->token, token) < 0)) {
        ali_raw_credential_fini(ret);
        return ccm_error_nomem(err);
    }
    return 0;
}

int ali_raw_credential_keep_end(const char *what, const char *end, const struct ali_ctx *ctx,
                                struct ali_raw_credential *ret, struct ccm_error *err)
{
    int64_t end_ms = 0;

    if (ccm_text_empty(end)) {
        return 0;
    }
    if (ccm_parse_rfc3339(end, &end_ms) < 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_AUTH,
                             "credentials: %s: expiration is no time such as "
                             "2026-01-02T03:04:05Z",
                             what);
    }
    ret->life_ms = end_ms - ctx->host->wall_ms(ctx->host);
    if (ret->life_ms > ALI_CREDENTIAL_EARLY_MS) {
        return 0;
    }
    /* The same words on each try: who has told a problem does not tell it again. */
    return ccm_error_set(err, -ESTALE, CCM_ERROR_TRANSIENT,
                         ret->life_ms > 0 ? "credentials: %s: ends too soon, at %.40s"
                                          : "credentials: %s: expired at %.40s by the clock of "
                                            "this machine, which may be wrong",
                         what, end);
}

int ali_raw_credential_from_json(const char *what, const struct ali_credential_names *names,
                                 const cJSON *json, const struct ali_ctx *ctx,
                                 struct ali_raw_credential *ret, struct ccm_error *err)
{
    const int r = ali_raw_credential_keep(what, ccm_json_str(json, names->key_id),
                                          ccm_json_str(json, names->secret),
                                          ccm_json_str(json, names->token), ret, err);

    return r < 0 ? r
                 : ali_raw_credential_keep_end(what, ccm_json_str(json, names->end), ctx, ret, err);
}

int ali_credential_file_state(const char *path, struct ali_file_state *ret)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        return -errno;
    }
    *ret = (struct ali_file_state){
        .changed_s = st.st_mtim.tv_sec,
        .changed_ns = st.st_mtim.tv_nsec,
        .size = st.st_size,
        .inode = (uint64_t)st.st_ino,
    };
    return 0;
}

bool ali_credential_file_same(const struct ali_file_state *a, const struct ali_file_state *b)
{
    return a->changed_s == b->changed_s && a->changed_ns == b->changed_ns && a->size == b->size &&
           a->inode == b->inode;
}

int ali_secret_read_file(const char *path, size_t max, struct ccm_secret *ret)
{
    CCM_CLEANUP(ccm_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 1;

    if (fd < 0) {
        return -errno;
    }
    ret->hidden = calloc(1, max + 1);
    if (ret->hidden == NULL) {
        return -ENOMEM;
    }
    while (n != 0 && len < max) {
        n = read(fd, ret->hidden + len, max - len);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        len += n < 0 ? 0 : (size_t)n;
    }
    return len == max ? -EFBIG : 0;
}

/* Others may not write it: they would choose whose account we act in. That others may read it is
 * how mounted cluster secrets look, so that is only told. */
static int check_mode(const char *path, const struct ali_ctx *ctx, struct ccm_error *err)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        const int r = -errno;

        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "credentials: %s: %s", path,
                             strerror(-r));
    }
    if (!S_ISREG(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_AUTH,
                             "credentials: %s: must be a regular file that only its owner may "
                             "write (mode %03o)",
                             path, (unsigned int)(st.st_mode & 0777));
    }
    if ((st.st_mode & S_IROTH) != 0) {
        ctx->host->log(ctx->host, CCM_LEVEL_WARN, NULL,
                       "credentials: %s: everybody on this machine may read it", path);
    }
    return 0;
}

int ali_credential_read_file(const char *path, const struct ali_ctx *ctx,
                             struct ali_file_state *ret_state, struct ccm_secret *ret_text,
                             struct ccm_error *err)
{
    int r = check_mode(path, ctx, err);

    if (r < 0) {
        return r;
    }
    /* The state before the read: a change in between is seen at the next look. */
    r = ali_credential_file_state(path, ret_state);
    if (r == 0) {
        r = ali_secret_read_file(path, MAX_FILE, ret_text);
    }
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "credentials: %s: %s", path,
                             strerror(-r));
    }
    return 0;
}
