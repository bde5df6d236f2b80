#include "kube/client/token.h"

#include "kube/client/auth.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <string.h>
#include <sys/stat.h>

#define CHECK_EVERY_MS 10000
#define TOKEN_MAX      ((size_t)64 * 1024)

static const struct ccm_log kube_log = { .part = "kube" };

int kube_token_init(struct kube_token *token, char *file, struct ccm_secret *text)
{
    *token = (struct kube_token){ .checked_ms = INT64_MIN / 2 };
    if (pthread_mutex_init(&token->lock, NULL) != 0) {
        return -ENOMEM;
    }
    token->file = file;
    token->text = *text;
    text->hidden = NULL;
    return 0;
}

void kube_token_fini(struct kube_token *token)
{
    ccm_secret_fini(&token->text);
    free(token->file);
    token->file = NULL;
    ccm_lock_fini(&token->lock);
}

static void read_locked(struct kube_token *token)
{
    struct ccm_secret fresh = { 0 };
    const int r = ccm_text_read_file(token->file, TOKEN_MAX, &fresh.hidden, NULL);

    if (r < 0) {
        ccm_log_warn(&kube_log, "%s: the token cannot be read, keeping the old one: %s",
                     token->file, strerror(-r));
        return;
    }

    size_t len = strlen(fresh.hidden);

    while (len > 0 && strchr(" \t\r\n", fresh.hidden[len - 1]) != NULL) {
        fresh.hidden[--len] = '\0';
    }
    if (len == 0 || strpbrk(fresh.hidden, " \t\r\n") != NULL) {
        ccm_log_warn(&kube_log, "%s: holds no token, keeping the old one", token->file);
        ccm_secret_fini(&fresh);
        return;
    }
    ccm_secret_fini(&token->text);
    token->text = fresh;
}

/* Whether the file is another one than at the last reading; takes note of it. */
static bool changed_locked(struct kube_token *token)
{
    struct stat st;

    if (stat(token->file, &st) < 0) {
        return true; /* the reading tells what is wrong */
    }

    const bool same = token->text.hidden != NULL && st.st_size == token->size &&
                      st.st_ino == token->inode && st.st_mtim.tv_sec == token->changed.tv_sec &&
                      st.st_mtim.tv_nsec == token->changed.tv_nsec;

    token->size = st.st_size;
    token->inode = st.st_ino;
    token->changed = st.st_mtim;
    return !same;
}

static int copy_locked(const struct kube_token *token, struct ccm_secret *ret)
{
    if (token->text.hidden == NULL) {
        return 0;
    }
    return ccm_secret_set(ret, ccm_secret_text(&token->text)) < 0 ? -ENOMEM : 0;
}

int kube_token_get(struct kube_token *token, int64_t now_ms, struct ccm_secret *ret)
{
    ccm_lock(&token->lock);
    if (token->file != NULL && now_ms - token->checked_ms >= CHECK_EVERY_MS) {
        token->checked_ms = now_ms;
        if (changed_locked(token)) {
            read_locked(token);
        }
    }

    const int r = copy_locked(token, ret);

    ccm_unlock(&token->lock);
    return r;
}

bool kube_token_renew(struct kube_token *token, int64_t now_ms, const struct ccm_secret *old)
{
    ccm_lock(&token->lock);
    if (token->file != NULL && strcmp(ccm_secret_text(&token->text), ccm_secret_text(old)) == 0) {
        token->checked_ms = now_ms;
        (void)changed_locked(token); /* read in any case */
        read_locked(token);
    }

    const bool other = strcmp(ccm_secret_text(&token->text), ccm_secret_text(old)) != 0;

    ccm_unlock(&token->lock);
    return other;
}
