/* One key: its passes, its verdict, when it comes again. */
#include "lbc/instance.h"
#include "lbc/names.h"
#include "lbc/pass/ensure.h"

#include "lbc/pass/empty_pass.h"
#include "lbc/pass/keep.h"
#include "lbc/quota.h"
#include "lbc/report/measure.h"
#include "lbc/service/conditions.h"
#include "lbc/vswitch.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>

static bool knows_own(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return lbc_mirrors_find_own(lbc->mirrors, service->meta.key, service->meta.uid) ==
           LBC_OWN_KNOWN;
}

/* Id of the load balancer that the Service reuses, "" when it has one of its own. Something of it
 * may be on another one, or it was published with another one: that is what has to be taken away.
 */
static const char *reused_id(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    const char *id = lbc_reused_id(lbc, service);
    const char *label = ccm_object_label(&service->meta, lbc_names.lb_label);
    const char *left = lbc_life_reused_id(&lbc->life, service);

    if (lbc_pass_must_leave(lbc, service)) {
        return left; /* "" when it is its own */
    }
    if (!lbc_pass_is_unwanted(lbc, service)) {
        const char *kept = lbc_keep_find_id(lbc, service);

        /* Its own, unless the label of reuse says something else. */
        return kept[0] == '\0' ? id : ccm_text_equal(kept, left) ? left : "";
    }
    if (!ccm_text_empty(label) && ccm_text_equal(label, id)) {
        return id; /* a different value is an edit */
    }
    if (left[0] != '\0') {
        return left;
    }
    if (ccm_text_empty(label)) {
        return id;
    }
    return lbc_has_trait(lbc, LBC_RELEASES_BY_LABEL) && !knows_own(lbc, service) ? label : "";
}

struct job {
    struct lbc_instance *lbc;
    const struct ccm_request *req;
    const struct ccm_service *service;
    struct lbc_entry *entry;
    bool leaves;  /* lbc_pass_must_leave() */
    bool idle;    /* out: the last pass had nothing to do */
    bool looked;  /* out: it had its mirror read for the sake of an edit */
    bool put_off; /* out: it goes on when it is the turn of its calls */
};

/* A pass whose calls have to wait for their turns gives its worker back and comes again then. */
static int pass_end_wait(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    if (r == 0 || !lbc_problems_only_wait(&pass->problems) || !lbc_error_is_put_off(err)) {
        lbc_progress_publish(pass, NULL);
        return r;
    }
    lbc_progress_wait(pass, err);
    pass->unfinished = true;
    pass->again.ms = pass->problems.wait_ms;
    lbc_progress_publish(pass, err);
    ccm_error_clear(err);
    return 0;
}

/* What others have changed is compared with the mirror of before until a pass has come to its end.
 * An audit that could not read leaves all as it was: it is due as before. */
static void job_end_compare(const struct job *job, const struct lbc_pass *pass)
{
    struct lbc_entry *entry = job->entry;

    if (!job->put_off) {
        entry->compares = LBC_COMPARE_NONE;
        lbc_entry_end_aside(entry);
    } else if (pass->audit && !entry->valid && pass->writes == 0) {
        lbc_entry_take_back(entry);
    } else if (pass->audit || lbc_look_is_taken(&pass->look)) {
        entry->compares = pass->audit ? LBC_COMPARE_AUDIT : LBC_COMPARE_LOOK;
    }
}

/* The result says that the key waits for its turn; it comes again after requeue_after_ms, or is
 * enqueued. */
static void result_set_waits(struct ccm_result *ret)
{
    if (ret->struct_size > offsetof(struct ccm_result, flags)) {
        ret->flags = CCM_RESULT_WAITS;
    }
}

/* Beside a failure calls that were put off have a time of their own, and a condition that could
 * not be written. */
static void job_set_result(const struct job *job, const struct lbc_pass *pass, int r,
                           struct ccm_result *ret)
{
    const bool waits = job->put_off || (r < 0 && pass->problems.waits > 0);
    const uint64_t unsaid_ms = lbc_failure_take_unsaid_ms(&job->entry->failure);

    ret->requeue_after_ms = r == 0 ? pass->again.ms : 0;
    if (ret->struct_size > offsetof(struct ccm_result, flags)) {
        ret->flags = 0;
    }
    if (waits) {
        ret->requeue_after_ms = r == 0 ? ret->requeue_after_ms : pass->problems.wait_ms;
        result_set_waits(ret);
    }
    if (r < 0 && unsaid_ms > 0 &&
        (ret->requeue_after_ms == 0 || ret->requeue_after_ms > unsaid_ms)) {
        ret->requeue_after_ms = unsaid_ms;
        result_set_waits(ret);
    }
}

/* --- an object that never rests --- */

/* One Service must not use up what all share: quotas of the cloud and the API server. */
static const struct ccm_bucket_size writing_passes = { .burst = 10, .interval_ms = 3000 };

/* One that goes on with what it has begun is the same one. */
static void job_count_writes(const struct job *job, const struct lbc_pass *pass)
{
    struct lbc_life_memory *memory = &job->entry->memory;

    if (!pass->unfinished && (pass->writes > 0 || memory->wrote)) {
        ccm_bucket_take(&memory->passes, &writing_passes, job->lbc->host->now_ms(job->lbc->host));
    }
}

/* How long the next pass has to wait; 0 = not at all. What goes for good, and what an operator has
 * asked for, never waits. */
static int64_t job_rest_ms(const struct job *job)
{
    const struct ccm_host *host = job->lbc->host;

    return job->lbc->dry || job->leaves || job->entry->look.asked ||
                   lbc_pass_is_unwanted(job->lbc, job->service)
               ? 0
               : ccm_bucket_wait_ms(&job->entry->memory.passes, &writing_passes,
                                    host->now_ms(host));
}

static int job_run_kind(const struct job *job, struct lbc_pass *pass, struct ccm_error *err)
{
    if (job->leaves) {
        const int r = lbc_pass_leave(pass, err);

        return lbc_pass_is_unwanted(job->lbc, job->service) ? r
                                                            : lbc_publish_condition(pass, r, err);
    }
    if (pass->releases) {
        return lbc_pass_release(pass, err);
    }
    return lbc_publish_condition(pass, lbc_pass_ensure(pass, err), err);
}

static int job_run_pass(struct job *job, bool audit, struct ccm_result *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf steps = { .max = 0 }; /* of a dry run */
    struct lbc_pass pass = {
        .lbc = job->lbc,
        .req = job->req,
        .service = job->service,
        .entry = job->entry,
        .problems = LBC_PROBLEMS_INIT,
        .refused = LBC_REFUSALS_INIT,
        .readiness = { .host = job->lbc->host, .req = job->req, .service = job->service },
        .invalid = { .max = 0 },
        .left_out = { .names = { .max = LBC_PASS_SERVES_TEXT / 2 } },
        .empty = LBC_EMPTY_PORTS_INIT,
        .audit = audit,
        .releases = job->leaves || lbc_pass_is_unwanted(job->lbc, job->service),
        .life = job->lbc->life,
    };

    const int64_t started_ms = job->lbc->host->now_ms(job->lbc->host);
    const bool was_valid = job->entry->valid;

    job->entry->memory.wrote = false;
    pass.life.memory = &job->entry->memory;
    if (pass.lbc->dry) {
        pass.life.plan = &steps;
        pass.readiness.plan = &steps;
    }
    lbc_measure_mirror(job->lbc, job->entry);
    lbc_progress_begin(&pass);
    int r = job_run_kind(job, &pass, err);

    r = pass_end_wait(&pass, r, err);
    job->put_off = r == 0 && lbc_problems_only_wait(&pass.problems);
    if (r < 0 || !pass.unfinished) {
        lbc_progress_end(&pass);
    }
    lbc_change_end_pass(&job->entry->change, r == 0 && !pass.unfinished);
    job_count_writes(job, &pass);
    lbc_measure_pass(&pass, started_ms, r, err);
    if (!job->put_off) { /* a pass that waits for its turn is neither well nor failed */
        lbc_failure_count(&job->entry->failure, r, err);
    }
    if ((!was_valid || lbc_look_is_taken(&pass.look)) && job->entry->valid) {
        job->entry->audit.read_ms = started_ms;
    }
    job_end_compare(job, &pass);
    if (pass.lbc->dry) {
        job->lbc->host->plan(job->lbc->host, job->service->meta.key, ccm_buf_str(&steps));
    }
    job_set_result(job, &pass, r, ret);
    lbc_problems_fini(&pass.problems);
    lbc_refusals_fini(&pass.refused);
    lbc_readiness_fini(&pass.readiness);
    ccm_buf_fini(&pass.invalid);
    lbc_empty_ports_fini(&pass.empty);
    lbc_left_out_fini(&pass.left_out);
    job->looked = lbc_look_is_taken(&pass.look);
    job->idle = pass.writes == 0 && !pass.hashed && !pass.unfinished;
    return r;
}

static void job_end_audit(struct job *job, int r, bool repaired)
{
    lbc_measure_audit(job->lbc, r, repaired);
    if (r == 0 && repaired) {
        job->entry->audit.repaired_ms = job->lbc->host->now_ms(job->lbc->host);
    }
}

static int job_run_passes(struct job *job, struct ccm_result *ret, struct ccm_error *err)
{
    struct lbc_audit *audit = &job->lbc->audit;
    const bool was_valid = job->entry->valid;
    const bool ends_audit = job->entry->compares == LBC_COMPARE_AUDIT;
    int r = job_run_pass(job, false, ret, err);

    if (ends_audit && !job->put_off) {
        job_end_audit(job, r, true);
    }
    if (job->leaves || lbc_pass_is_unwanted(job->lbc, job->service) || job->lbc->dry ||
        job->put_off) {
        return r;
    }
    /* A confirmation that the pass asks for comes first: it reads the same. */
    if (r == 0 && !job->entry->look.wanted &&
        lbc_audit_begin(audit, job->entry, was_valid && !job->looked, job->idle)) {
        r = job_run_pass(job, true, ret, err);
        lbc_audit_end(audit, job->entry, !job->put_off || job->entry->compares != LBC_COMPARE_NONE);
        if (!job->put_off) {
            job_end_audit(job, r, !job->idle);
        }
    }
    if (r == 0 && !job->put_off) {
        lbc_audit_schedule(audit, job->entry);
    }
    return r;
}

/* Calls that earlier passes waited for, and this one did not need, leave the queues. */
static void reconcile_end_waits(const struct lbc_instance *lbc, const struct ccm_request *req)
{
    const struct lbc_cloud_caller by = { lbc->cloud.account, lbc->host, req };

    if (lbc->cloud.ops->end_pass != NULL) {
        lbc->cloud.ops->end_pass(&by, req->keys[0]);
    }
}

static int job_acquire_and_run(struct job *job, struct ccm_result *ret, struct ccm_error *err)
{
    struct lbc_mirrors *mirrors = job->lbc->mirrors;
    const struct ccm_object *meta = &job->service->meta;
    int r = lbc_mirrors_acquire(mirrors, meta->key, meta->uid, reused_id(job->lbc, job->service),
                                job->req->lane, &job->entry);

    if (r == -EBUSY) {
        result_set_waits(ret);
        return 0;
    }
    if (r < 0) {
        return ccm_error_nomem(err);
    }

    const int64_t rest_ms = job_rest_ms(job);

    if (rest_ms > 0) {
        lbc_progress_rest(job->lbc, meta->key, (uint64_t)rest_ms);
        lbc_mirrors_release(mirrors, job->entry);
        ret->requeue_after_ms = (uint64_t)rest_ms;
        result_set_waits(ret);
        return 0;
    }
    r = job_run_passes(job, ret, err);
    reconcile_end_waits(job->lbc, job->req);
    lbc_entry_set_coming_back(job->entry, job->put_off);
    lbc_mirrors_release(mirrors, job->entry);
    lbc_quota_publish(job->lbc);
    if (job->lbc->dry) {
        lbc_mirrors_forget(mirrors, meta->key); /* nothing was done: the next pass says the same */
    }
    return r;
}

static void reconcile_tell_disowned(const struct lbc_instance *lbc,
                                    const struct ccm_service *service)
{
    lbc_life_event(&lbc->life, service, true, "ClassDropped",
                   "spec.loadBalancerClass [%s] was served by plugin %s and is none of the classes "
                   "in its options any more: the load balancer stays as it is, and nothing is done "
                   "for it. Name the class in the options again, or change the type of the Service "
                   "to let the load balancer go",
                   service->load_balancer_class, lbc->ops->product->name);
}

int lbc_reconcile(struct lbc_instance *lbc, const struct ccm_request *req, struct ccm_result *ret,
                  struct ccm_error *err)
{
    const char *key = req->keys[0];
    const struct ccm_object *object = lbc->host->get(lbc->host, CCM_KIND_SERVICE, key);
    struct job job = {
        .lbc = lbc,
        .req = req,
        .service = (const struct ccm_service *)object,
        .leaves = object != NULL && lbc_pass_must_leave(lbc, (const struct ccm_service *)object),
    };
    int r = 0;

    if (object == NULL) {
        reconcile_end_waits(lbc, req);
        lbc_mirrors_forget(lbc->mirrors, key);
        lbc_release_forget(lbc, key);
        return 0;
    }
    if (lbc_pass_is_disowned(lbc, job.service)) {
        reconcile_tell_disowned(lbc, job.service);
    } else if (lbc_inventory_prepare(lbc, req, job.service)) {
        result_set_waits(ret);
    } else {
        r = job_acquire_and_run(&job, ret, err);
    }
    lbc->host->release(lbc->host, object);
    return r;
}
