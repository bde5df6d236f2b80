#include "pass.h"

#include "service/candidate.h"
#include "service/marks.h"
#include "service/object.h"
#include "service/reuse.h"
#include "service/taken.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define POLL_MS 10000 /* then doubling, 32 times as long at most */

/* --- before any write --- */

/* What an earlier process left at the Service. */
static int look_back(struct ccm_pass *pass, struct ccm_error *err)
{
    if (ccm_hash_service(pass->service, pass->hash) < 0) {
        return ccm_error_nomem(err);
    }
    pass->known =
        ccm_text_equal(ccm_object_label(&pass->service->meta, CCM_HASH_LABEL), pass->hash);
    pass->returning = pass->known && !pass->entry->advised;
    return 0;
}

/* They are told at the end of the pass, before whatever else went wrong. */
static void join_refused(struct ccm_pass *pass)
{
    CCM_CLEANUP(ccm_problems_fini) struct ccm_problems others = pass->problems;

    pass->problems = (struct ccm_problems)CCM_PROBLEMS_INIT;
    ccm_problems_join(&pass->problems, &pass->refused.problems);
    ccm_problems_join(&pass->problems, &others);
}

/* Whether it ends here: it would be for creation alone, or it is about the load balancer itself. */
static bool is_refused(const struct ccm_pass *pass)
{
    return pass->refused.problems.count > 0 &&
           (ccm_refusals_decide(&pass->refused, CCM_DECIDES_ALL) ||
            !ccm_object_has_finalizer(&pass->service->meta, pass->life.finalizer));
}

/* What it asks for is not known as a whole: nothing is changed until it is smaller. */
static int check_size(struct ccm_pass *pass, struct ccm_error *err)
{
    if (pass->service->meta.too_large == NULL) {
        return 0;
    }
    const int r = ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL,
                                "the Service is too large (%s): its load balancer stays as it is",
                                pass->service->meta.too_large);

    return ccm_pass_fail(pass, CCM_PASS_SYNC_FAILED, CCM_PASS_SYNC_WHAT, r, err);
}

/* What cannot be told without those ids either. */
static int refuse_along(struct ccm_refusals *refused, const struct ccm_anno *row,
                        const struct ccm_error *err)
{
    const char *cursor = row->along;
    const char *piece = NULL;
    size_t len = 0;
    int r = ccm_refusals_add(refused, row->name, err);

    while (r == 0 && cursor != NULL && ccm_parse_piece(&cursor, '|', &piece, &len)) {
        char suffix[CCM_ANNO_KEY_MAX];

        (void)snprintf(suffix, sizeof(suffix), "%.*s", (int)len, piece); /* rows are short */
        r = ccm_refusals_add(refused, suffix, err);
    }
    return r;
}

/* Ids of the account that are not for this namespace. */
static int refuse_ids(struct ccm_pass *pass)
{
    const struct ccm_lint_rules *rules = pass->lbc->ops->rules;
    const struct ccm_allow allow = ccm_pass_allow(pass);
    int r = 0;

    for (size_t i = 0; r == 0 && i < rules->annotations->count; i++) {
        const struct ccm_anno *row = &rules->annotations->rows[i];
        struct ccm_error err = CCM_ERROR_INIT;

        if (ccm_allow_check_row(&allow, row, &pass->service->meta, &err) < 0 &&
            ccm_lint_counts(rules, pass->service, row)) {
            r = refuse_along(&pass->refused, row, &err);
        }
    }
    return r;
}

static int check_manifest(struct ccm_pass *pass, struct ccm_error *err)
{
    const struct ccm_lbc *lbc = pass->lbc;
    struct ccm_refusals *refused = &pass->refused;
    int r = ccm_refusals_collect(refused, lbc->ops->rules, pass->service, lbc->loose);

    if (r == 0) {
        r = ccm_reuse_check_option(pass, err);
        r = r < 0 && r != -ENOMEM ? ccm_refusals_add(refused, "id", err) : r;
    }
    r = r < 0 ? r : refuse_ids(pass);
    if (r == 0 && lbc->ops->refuse != NULL) {
        r = lbc->ops->refuse(lbc, refused);
    }
    r = r < 0 ? r : ccm_refusals_shorten(refused);
    pass->view = r == 0 ? ccm_refusals_view(refused) : NULL;
    if (pass->view == NULL) {
        return ccm_error_nomem(err);
    }
    ccm_pass_advise_manifest(pass);
    if (!is_refused(pass)) {
        return 0;
    }
    join_refused(pass);
    (void)ccm_pass_fail_all(pass, CCM_PASS_SYNC_FAILED, CCM_PASS_SYNC_WHAT, err); /* always fails */
    return -EINVAL;
}

static bool needs_mark(const struct ccm_pass *pass)
{
    const struct ccm_lbc_ops *ops = pass->lbc->ops;

    return ops->needs_mark != NULL && ops->needs_mark(pass->lbc, pass->service);
}

/* The label for what could be lost sight of. */
static int mark_extra(struct ccm_pass *pass, bool *ret_gone, struct ccm_error *err)
{
    if (!needs_mark(pass)) {
        return 0;
    }
    const int r = ccm_life_mark(&pass->life, pass->req, pass->service, err);

    *ret_gone = r < 0 && err->kind == CCM_ERROR_NOT_FOUND;
    if (*ret_gone) {
        ccm_error_clear(err);
        return 0;
    }
    return r < 0 ? ccm_pass_fail_kube(pass, "FailedUpdateStatus",
                                      "Error updating labels of the Service", r, err)
                 : 0;
}

/* *ret_gone: deleted meanwhile, and nothing was made yet. */
static int mark(struct ccm_pass *pass, bool *ret_gone, struct ccm_error *err)
{
    const int r = ccm_life_add_finalizer(&pass->life, pass->req, pass->service, err);

    *ret_gone = r < 0 && err->kind == CCM_ERROR_NOT_FOUND;
    if (*ret_gone) {
        ccm_error_clear(err);
        return 0;
    }
    return r < 0 ? ccm_pass_fail_kube(pass, "FailedAddFinalizer", "Error adding finalizer", r, err)
                 : mark_extra(pass, ret_gone, err);
}

/* --- the product's part, with all it needs --- */

static int take_snapshot(struct ccm_pass *pass, struct ccm_error *err)
{
    const struct ccm_host *host = pass->lbc->host;

    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &pass->nodes, &pass->node_count) < 0 ||
        host->list(host, CCM_KIND_ENDPOINT_SLICE, "service", pass->service->meta.key, &pass->slices,
                   &pass->slice_count) < 0) {
        return ccm_error_nomem(err);
    }
    return 0;
}

static void drop_snapshot(struct ccm_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;

    host->release_list(host, pass->nodes, pass->node_count);
    host->release_list(host, pass->slices, pass->slice_count);
    pass->nodes = NULL;
    pass->slices = NULL;
}

static int sync(struct ccm_pass *pass, struct ccm_error *err)
{
    if (ccm_readiness_look(&pass->readiness, pass->slices, pass->slice_count, &pass->entry->told) <
        0) {
        return ccm_error_nomem(err);
    }
    const int r = pass->lbc->ops->sync(pass, err);

    if (r < 0) {
        join_refused(pass);
    }
    return r < 0 ? ccm_pass_fail(pass, CCM_PASS_SYNC_FAILED, CCM_PASS_SYNC_WHAT, r, err) : 0;
}

/* --- what everybody is told --- */

/* Pods whose readiness waits for us; those that are not so far are looked at again, since no change
 * of a slice will announce them. */
static int tell_pods(struct ccm_pass *pass, struct ccm_error *err)
{
    uint32_t *polls = &pass->entry->polls;
    const int r = ccm_readiness_tell(&pass->readiness, ccm_buf_str(&pass->invalid), err);

    if (r < 0) {
        return ccm_pass_fail_kube(pass, "FailedUpdateReadinessGate",
                                  "Error updating pod readiness gates for service", r, err);
    }
    ccm_pass_say(pass, true, "FailedUpdateReadinessGate", "", "");
    *polls = pass->readiness.waiting ? *polls + 1 : 0;
    if (pass->readiness.waiting) {
        pass->requeue_ms = (uint64_t)POLL_MS << (*polls > 5 ? 5 : *polls - 1);
    }
    return 0;
}

/* The Service has gone or ceased to be ours since the pass began: the next one is due already, and
 * nobody needs to know that this one was in its way. */
static bool is_outdated(const struct ccm_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct ccm_object *now = host->get(host, CCM_KIND_SERVICE, pass->service->meta.key);
    const bool outdated = now == NULL || !ccm_text_equal(now->uid, pass->service->meta.uid) ||
                          ccm_pass_is_unwanted(pass->lbc, (const struct ccm_service *)now);

    if (now != NULL) {
        host->release(host, now);
    }
    return outdated;
}

/*
 * What the Service is to remember of additional tags: those that are wanted; before a complete
 * success also those that may still be there. NULL = what it remembers stays.
 */
static const char *remember_tags(struct ccm_pass *pass, bool complete,
                                 char ret[static CCM_MARKS_TEXT])
{
    const struct ccm_entry *entry = pass->entry;

    if (entry->reused || (!complete && !entry->applied_known)) {
        return NULL;
    }
    const int r = ccm_marks_format(pass->service->meta.uid, pass->lbc->ops->tags(pass->model),
                                   complete ? NULL : &entry->applied, ret);

    return r == 0 || (r == -E2BIG && complete) ? ret : NULL;
}

/* Address and id as soon as one port serves; the hash only after a complete success. */
static int publish(struct ccm_pass *pass, struct ccm_error *err)
{
    struct ccm_life_state state = { .ip_mode = pass->lbc->ip_mode };
    char tags[CCM_MARKS_TEXT];
    bool written = false;

    if (!pass->lbc->ops->publish(pass, &state)) {
        if (pass->dry && pass->problems.count == 0) {
            ccm_buf_adds(&pass->steps, "set labels and status of the Service\n");
        }
        return 0;
    }
    if (ccm_look_is_hearsay(pass)) {
        pass->hearsay = true;
        return 0;
    }
    const bool complete = pass->problems.count == 0 && pass->refused.problems.count == 0;

    state.hash = complete ? pass->hash : NULL;
    state.tags = remember_tags(pass, complete, tags);
    if (needs_mark(pass) && state.extra != NULL && state.extra[0] == '\0') {
        state.extra = NULL; /* the next pass may make it */
    }

    const int r = ccm_life_publish(&pass->life, pass->req, pass->service, &state, &written, err);

    if (r < 0 && is_outdated(pass)) {
        err->kind = CCM_ERROR_CONFLICT;
        return r;
    }
    if (r < 0) {
        return ccm_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating load balancer status",
                                  r, err);
    }
    pass->hashed = written && state.hash != NULL && !pass->known && !pass->dry;
    return 0;
}

static void succeed(struct ccm_pass *pass)
{
    static const char *const topics[] = { CCM_PASS_SYNC_FAILED, "FailedAddFinalizer",
                                          "FailedUpdateStatus", "CleanLoadBalancer",
                                          CCM_PASS_CLEAN_FAILED };

    for (size_t i = 0; i < CCM_ARRAY_LEN(topics); i++) {
        ccm_pass_say(pass, false, topics[i], "", "");
    }
    if (pass->writes > 0 || pass->hashed) {
        ccm_life_event(&pass->life, pass->service, false, "EnsuredLoadBalancer",
                       "Ensured load balancer [%s]", ccm_pass_lb_id(pass));
    }
}

static int finish(struct ccm_pass *pass, struct ccm_error *err)
{
    const struct ccm_lbc_ops *ops = pass->lbc->ops;

    const int r = ccm_taken_forget(pass, ops->holds, err);

    if (r < 0) {
        return ccm_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating labels", r, err);
    }
    pass->entry->unrestored = 0;
    succeed(pass);
    ops->tell(pass);
    pass->entry->applied_known = true;
    if (ccm_tags_copy(&pass->entry->applied, ops->tags(pass->model)) < 0) {
        return ccm_error_nomem(err);
    }
    return pass->invalid.len > 0
               ? ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT, "%s", ops->invalid_text)
               : 0;
}

/* Whether groups were left as they are, so that nothing new is in them. */
static bool holds_backends(const struct ccm_pass *pass)
{
    return ccm_refusals_hold(&pass->refused,
                             ccm_backend_mode(pass->view, pass->lbc->default_eni) == CCM_MODE_ENI);
}

static int run(struct ccm_pass *pass, struct ccm_error *err)
{
    int r = sync(pass, err);

    if (r < 0 || pass->unfinished) {
        return r;
    }
    if (pass->problems.count == 0 && !holds_backends(pass)) {
        r = tell_pods(pass, err);
    }
    if (r == 0) {
        r = publish(pass, err);
    }
    join_refused(pass);
    if (r < 0) {
        return r;
    }
    return pass->problems.count > 0
               ? ccm_pass_fail_all(pass, CCM_PASS_SYNC_FAILED, CCM_PASS_SYNC_WHAT, err)
               : finish(pass, err);
}

static int ensure(struct ccm_pass *pass, struct ccm_error *err)
{
    const struct ccm_lbc_ops *ops = pass->lbc->ops;
    bool gone = false;
    int r = check_manifest(pass, err);

    if (r == 0) {
        r = mark(pass, &gone, err);
    }
    if (r < 0 || gone) {
        return r;
    }
    pass->model = calloc(1, ops->model_size);
    r = pass->model == NULL ? ccm_error_nomem(err) : take_snapshot(pass, err);
    if (r == 0) {
        r = run(pass, err);
    }
    if (pass->model != NULL) {
        ops->model_fini(pass->model);
    }
    free(pass->model);
    pass->model = NULL;
    drop_snapshot(pass);
    return r;
}

int ccm_pass_ensure(struct ccm_pass *pass, struct ccm_error *err)
{
    int r = check_size(pass, err);

    r = r < 0 ? r : look_back(pass, err);
    if (r == 0) {
        ccm_look_begin(pass);
        r = ensure(pass, err);
        ccm_pass_end_advice(pass, r == 0 && !pass->unfinished);
    }
    return r;
}
