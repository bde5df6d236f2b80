/* Certificates of Secrets that nobody has any more; uploads.h. */
#include "alilb/uploads_own.h"
#include "lbc/instance.h"
#include "lbc/keys.h"
#include "util/cleanup.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool name_is_held_locked(const struct alilb_uploads *uploads, const char *name)
{
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;

    while (ccm_strmap_next(uploads->holders, &cursor, &key, &value)) {
        if (lbc_texts_has(value, name)) {
            return true;
        }
    }
    return false;
}

/* Prefix of the certificates of each Secret -> a value where this process has read the Secret. */
static int prefixes_add_locked(const struct alilb_uploads *uploads, const char *mark,
                               struct ccm_strmap *to)
{
    static char yes[] = "";
    char prefix[ALILB_CERTIFICATE_NAME];
    const char *key = NULL;
    void *cursor = NULL;
    void *value = NULL;
    int r = 0;

    while (r == 0 && ccm_strmap_next(uploads->secrets, &cursor, &key, &value)) {
        alilb_certificate_name(mark, key, NULL, prefix);
        r = ccm_strmap_set(to, prefix, ((const struct alilb_upload *)value)->known ? yes : NULL);
    }
    return r;
}

/* All have the same length. */
static void name_cut_prefix(const char *name, char ret[static ALILB_CERTIFICATE_NAME])
{
    alilb_certificate_name("", "", NULL, ret);
    ccm_text_copy(ret, strlen(ret) + 1, name);
}

/* What has been seen counts only as long as one API server answers. */
static bool name_is_due_locked(struct alilb_uploads *uploads, const struct ccm_host *host,
                               const struct ccm_removal_rule *rule, const char *name)
{
    const int64_t *first = ccm_strmap_get(uploads->unused, name);
    const int64_t now = host->now_ms(host);
    int64_t *made = NULL;

    if (first != NULL) {
        return now >= ccm_removal_due_ms(rule, *first, uploads->since_ms);
    }
    made = malloc(sizeof(*made));
    if (made != NULL) {
        *made = now;
        if (ccm_strmap_set(uploads->unused, name, made) < 0) {
            free(made); /* it is noticed at the next look */
        }
    }
    return false;
}

static void unused_check_locked(struct alilb_uploads *uploads, const struct ccm_host *host)
{
    const int64_t since = ccm_removal_server_since(host);
    struct ccm_strmap *empty = NULL;

    if (since == uploads->since_ms) {
        return;
    }
    empty = ccm_strmap_new(free);
    if (empty != NULL) { /* else it is done the next time */
        ccm_strmap_free(uploads->unused);
        uploads->unused = empty;
        uploads->since_ms = since;
    }
}

/* Whether it may be deleted by what is known of its Secret: not while that could not be read. */
static bool name_may_go_locked(struct alilb_uploads *uploads, const struct ccm_host *host,
                               const struct ccm_strmap *prefixes,
                               const struct ccm_removal_rule *left_over, const char *name)
{
    char prefix[ALILB_CERTIFICATE_NAME];

    name_cut_prefix(name, prefix);
    return ccm_strmap_has(prefixes, prefix)
               ? ccm_strmap_get(prefixes, prefix) != NULL
               : left_over != NULL && name_is_due_locked(uploads, host, left_over, name);
}

static int unused_find(struct alilb_uploads *uploads, struct alilb_call *call,
                       const struct ccm_removal_rule *left_over, struct lbc_texts *ret,
                       struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts names = { 0 };
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *prefixes = ccm_strmap_new(NULL);
    char prefix[ALILB_CERTIFICATE_NAME];
    int r = 0;

    if (prefixes == NULL) {
        return ccm_error_nomem(err);
    }
    if (left_over != NULL && ccm_removal_server_since(call->host) == 0) {
        return 0; /* who answers now is not known */
    }
    alilb_certificate_name(call->mark, NULL, NULL, prefix);
    r = alilb_certificates_names(uploads->certificates, call, prefix, left_over == NULL, &names,
                                 err);
    if (r < 0) {
        return r;
    }
    ccm_lock(&uploads->lock);
    if (left_over != NULL) {
        unused_check_locked(uploads, call->host);
    }
    r = prefixes_add_locked(uploads, call->mark, prefixes);
    for (size_t i = 0; r == 0 && i < names.len; i++) {
        const char *name = names.items[i];

        if (name_is_held_locked(uploads, name)) {
            ccm_strmap_del(uploads->unused, name);
        } else if (name_may_go_locked(uploads, call->host, prefixes, left_over, name)) {
            r = lbc_texts_put(ret, name);
        }
    }
    ccm_unlock(&uploads->lock);
    return r < 0 ? ccm_error_nomem(err) : 0;
}

static bool name_is_of(const char *name, const char *mark, const struct lbc_texts *secrets)
{
    char prefix[ALILB_CERTIFICATE_NAME];
    bool is = false;

    for (size_t i = 0; !is && i < secrets->len; i++) {
        alilb_certificate_name(mark, secrets->items[i], NULL, prefix);
        is = ccm_text_starts(name, prefix);
    }
    return is;
}

/* 0, or negative: some stay, and are retried. */
static int unused_remove(struct alilb_uploads *uploads, struct alilb_call *call,
                         const struct ccm_removal_rule *left_over,
                         const struct alilb_uploads_owner *owner)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts unused = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts secrets = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts unsure = { 0 };
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts wanted = { 0 };
    bool more = false;
    const struct ccm_host *host = call->host;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = unused_find(uploads, call, left_over, &unused, &err);

    if (r < 0) {
        host->log(host, CCM_LEVEL_WARN, call->object, "%s", err.message);
    }
    if (r < 0 || unused.len == 0) {
        return r;
    }
    r = owner->wanted(owner->arg, &secrets, &unsure, &more);
    r = r < 0 ? r : alilb_uploads_put_names(uploads, &secrets, &wanted);
    if (r < 0 || (left_over != NULL && (more || wanted.len == 0))) {
        return r; /* with nothing in use these are not the objects that the certificates belong to
                   */
    }
    for (size_t i = 0; i < unused.len; i++) {
        if (!lbc_texts_has(&wanted, unused.items[i]) &&
            !name_is_of(unused.items[i], call->mark, &unsure) &&
            alilb_certificates_remove(uploads->certificates, call, unused.items[i], &err) < 0) {
            host->log(host, CCM_LEVEL_WARN, call->object, "certificate %s stays for now: %s",
                      unused.items[i], err.message);
            r = -EAGAIN;
        }
    }
    return r;
}

int alilb_uploads_collect(struct alilb_uploads *uploads, struct alilb_call *call,
                          const struct alilb_uploads_owner *owner)
{
    bool changed = false;
    int r = 0;

    ccm_lock(&uploads->lock);
    changed = uploads->changed;
    uploads->changed = false;
    ccm_unlock(&uploads->lock);
    r = changed ? unused_remove(uploads, call, NULL, owner) : 0;
    if (r < 0) {
        ccm_lock(&uploads->lock);
        uploads->changed = true;
        ccm_unlock(&uploads->lock);
    }
    return r;
}

void alilb_uploads_collect_left_over(struct alilb_uploads *uploads, struct alilb_call *call,
                                     const struct alilb_uploads_owner *owner)
{
    const struct ccm_host *host = call->host;
    struct ccm_removal_rule rule = { 0 };

    if (alilb_uploads_are_on(host) && host->option_int(host, NULL, lbc_opt_audit.name) != 0 &&
        host->option_int(host, NULL, lbc_opt_orphan_cleanup.name) != 0 &&
        strcmp(call->cluster_id, LBC_CLUSTER_UNNAMED) != 0) {
        ccm_removal_rule_read(&rule, host);
        (void)unused_remove(uploads, call, &rule, owner); /* the next call retries what stays */
    }
}
