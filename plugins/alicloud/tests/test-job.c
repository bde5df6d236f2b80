/* The waiter for jobs against a cloud in this process: what is asked, how often, and what comes of
 * it. */
#include "alicloud/job.h"

#include "alicloud/error.h"

#include "setup.h"
#include "util/attr.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* A cloud whose jobs end so many ms after they were first asked for, or at a given time. */
struct cloud {
    struct fake_host *fake;
    int64_t ends_ms;     /* monotonic */
    const char *status;  /* of those that have ended */
    const char *missing; /* id that is never known */
    const char *denied;  /* action that is refused */
    int hide;            /* so many answers leave all out */
    struct ccm_buf body;
    size_t most_ids;
    size_t polls;
};

static size_t id_count(const struct fake_request *request)
{
    size_t count = 0;

    for (size_t i = 0; i < request->param_count; i++) {
        count += ccm_text_starts(request->params[i].name, "JobIds.") ? 1 : 0;
    }
    return count;
}

static void list_jobs(struct cloud *cloud, const struct fake_request *request)
{
    const char *status = request->at_ms >= cloud->ends_ms ? cloud->status : "Processing";
    bool comma = false;

    ccm_buf_addf(&cloud->body, "{\"RequestId\":\"r\",\"TotalCount\":\"1\",\"Jobs\":[");
    for (size_t i = 0; i < request->param_count; i++) {
        if (!ccm_text_starts(request->params[i].name, "JobIds.") || cloud->hide > 0 ||
            ccm_text_equal(request->params[i].value, cloud->missing)) {
            continue;
        }
        ccm_buf_addf(&cloud->body, "%s{\"Id\":\"%s\",\"Status\":\"%s\"}", comma ? "," : "",
                     request->params[i].value, status);
        comma = true;
    }
    ccm_buf_addf(&cloud->body, "]}");
    cloud->hide -= cloud->hide > 0 ? 1 : 0;
}

static bool answer(void *arg, const struct fake_request *request, struct fake_reply *ret)
{
    struct cloud *cloud = arg;

    cloud->polls++;
    ccm_buf_reset(&cloud->body);
    if (ccm_text_equal(request->action, cloud->denied)) {
        ret->status = 403;
        ret->body = "{\"Code\":\"Forbidden.RAM\",\"Message\":\"no\",\"RequestId\":\"r\"}";
        return true;
    }
    if (strcmp(request->action, "ListAsynJobs") == 0) {
        const size_t count = id_count(request);

        cloud->most_ids = count > cloud->most_ids ? count : cloud->most_ids;
        list_jobs(cloud, request);
        ret->body = ccm_buf_str(&cloud->body);
        return true;
    }
    if (ccm_text_equal(fake_request_param(request, "JobId"), cloud->missing)) {
        ret->status = 404;
        ret->body = "{\"Code\":\"ResourceNotFound.JobId\",\"Message\":\"x\",\"RequestId\":\"r\"}";
        return true;
    }
    ccm_buf_addf(&cloud->body, "{\"RequestId\":\"r\",\"Status\":\"%s\"}",
                 request->at_ms >= cloud->ends_ms ? cloud->status : "Processing");
    ret->body = ccm_buf_str(&cloud->body);
    return strcmp(request->action, "GetJobStatus") == 0;
}

static void fixture_begin(struct setup *setup, struct cloud *cloud, int64_t job_ms)
{
    setup_begin(setup, NULL);
    cloud->fake = setup->fake;
    cloud->ends_ms = fake_host_now(setup->fake) + job_ms;
    cloud->status = cloud->status == NULL ? "Succeeded" : cloud->status;
    fake_host_on_http(setup->fake, answer, cloud);
}

static void fixture_end(struct setup *setup, struct cloud *cloud)
{
    setup_end(setup);
    ccm_buf_fini(&cloud->body);
}

static void test_ready_at_once(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job jobs[] = { { .id = "a" }, { .id = "" }, { .id = "b" } };

    (void)state;
    fixture_begin(&setup, &cloud, 0);
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, jobs,
                                  3, 30000, 0, &err),
                     0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(jobs[i].state, ALI_JOB_DONE);
    }
    assert_int_equal(cloud.polls, 1);
    assert_non_null(strstr(fake_host_request(setup.fake, 0)->url, "/?JobIds.1=a&JobIds.2=b"));
    assert_string_equal(fake_host_request(setup.fake, 0)->body, "");
    assert_true(fake_host_waited_ms(setup.fake) <= 250);
    /* Nothing to wait for: no call. */
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL },
                                  jobs + 1, 1, 30000, 0, &err),
                     0);
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, NULL,
                                  0, 30000, 0, &err),
                     0);
    assert_int_equal(cloud.polls, 1);
    fixture_end(&setup, &cloud);
}

static void test_chunks(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job jobs[45] = { 0 };

    (void)state;
    fixture_begin(&setup, &cloud, 0);
    for (size_t i = 0; i < 45; i++) {
        (void)snprintf(jobs[i].id, sizeof(jobs[i].id), "job-%zu", i);
    }
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, jobs,
                                  45, 30000, 0, &err),
                     0);
    assert_int_equal(cloud.polls, 3);
    assert_int_equal(cloud.most_ids, 20);
    for (size_t i = 0; i < 45; i++) {
        assert_int_equal(jobs[i].state, ALI_JOB_DONE);
    }
    fixture_end(&setup, &cloud);
}

/* A first look soon, then after pauses that grow; a new job has its own. */
static void test_pace(void **state)
{
    static const int64_t pauses[] = { 250, 500, 1000, 2000, 2200, 2200 };
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    size_t at = 0;

    (void)state;
    fixture_begin(&setup, &cloud, 600000);
    for (int i = 0; i < 3; i++) {
        struct ali_job job = { .id = "a" };
        int64_t before = fake_host_now(setup.fake);

        assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL },
                                      &job, 1, 9000, 0, &err),
                         -ETIMEDOUT);
        assert_int_equal(job.state, ALI_JOB_RUNNING);
        assert_int_equal(err.kind, CCM_ERROR_TRANSIENT);
        assert_int_equal(cloud.polls - at, CCM_ARRAY_LEN(pauses));
        for (size_t k = 0; k < CCM_ARRAY_LEN(pauses); k++) {
            const int64_t now = fake_host_request(setup.fake, at++)->at_ms;

            assert_in_range(now - before, pauses[k], pauses[k] + 10);
            before = now;
        }
    }
    fixture_end(&setup, &cloud);
}

static void test_states(void **state)
{
    static const struct {
        const char *status;
        enum ali_job_state want;
    } cases[] = {
        { "Succeeded", ALI_JOB_DONE },     { "succeeded", ALI_JOB_DONE },
        { "Failed", ALI_JOB_FAILED },      { "FAILED", ALI_JOB_FAILED },
        { "Processing", ALI_JOB_RUNNING }, { "processing", ALI_JOB_RUNNING },
        { "Whatever", ALI_JOB_RUNNING },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct setup setup;
        struct cloud cloud = { .status = cases[i].status };
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_job job = { .id = "a" };

        fixture_begin(&setup, &cloud, 0);
        assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL },
                                      &job, 1, 10000, 0, &err),
                         cases[i].want == ALI_JOB_RUNNING ? -ETIMEDOUT : 0);
        assert_int_equal(job.state, cases[i].want);
        fixture_end(&setup, &cloud);
    }
}

/* W11: absence is no success, and no verdict at first sight either. */
static void test_absent(void **state)
{
    struct setup setup;
    struct cloud cloud = { .missing = "lost" };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job jobs[] = { { .id = "a" }, { .id = "lost" } };

    (void)state;
    fixture_begin(&setup, &cloud, 0);
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, jobs,
                                  2, 30000, 0, &err),
                     0);
    assert_int_equal(jobs[0].state, ALI_JOB_DONE);
    assert_int_equal(jobs[1].state, ALI_JOB_UNKNOWN);
    assert_int_equal(cloud.polls, 4);

    struct ali_job late = { .id = "late" };

    cloud.hide = 2;
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &late,
                                  1, 30000, 0, &err),
                     0);
    assert_int_equal(late.state, ALI_JOB_DONE);
    fixture_end(&setup, &cloud);
}

static void test_denied(void **state)
{
    struct setup setup;
    struct cloud cloud = { .denied = "ListAsynJobs", .missing = "lost" };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job jobs[] = { { .id = "a" }, { .id = "lost" }, { .id = "b" } };

    (void)state;
    fixture_begin(&setup, &cloud, 0);
    assert_false(ali_job_degraded(setup.ali));
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, jobs,
                                  3, 30000, 0, &err),
                     0);
    assert_int_equal(jobs[0].state, ALI_JOB_DONE);
    assert_int_equal(jobs[1].state, ALI_JOB_UNKNOWN);
    assert_int_equal(jobs[2].state, ALI_JOB_DONE);
    assert_true(ali_job_degraded(setup.ali));
    assert_int_equal(fake_host_action_count(setup.fake, "ListAsynJobs"), 1);
    assert_int_equal(fake_host_action_count(setup.fake, "GetJobStatus"), 6);
    assert_non_null(strstr(fake_host_request(setup.fake, 1)->url, "/?JobId=a"));
    /* Somebody grants it: that is found after an hour. */
    cloud.denied = NULL;
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, jobs,
                                  1, 30000, 0, &err),
                     0);
    assert_int_equal(fake_host_action_count(setup.fake, "ListAsynJobs"), 1);
    fake_host_advance(setup.fake, 3600000);
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, jobs,
                                  1, 30000, 0, &err),
                     0);
    assert_int_equal(fake_host_action_count(setup.fake, "ListAsynJobs"), 2);
    assert_false(ali_job_degraded(setup.ali));
    fixture_end(&setup, &cloud);
}

static void test_failing_polls(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job job = { .id = "a" };

    (void)state;
    fixture_begin(&setup, &cloud, 0);
    fake_host_answer(setup.fake, "ListAsynJobs", 200, "{\"RequestId\":\"r\",\"Jobs\":{}}");
    fake_host_answer(setup.fake, "ListAsynJobs", 200, "{\"RequestId\":\"r\",\"Jobs\":[7,{}]}");
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &job,
                                  1, 30000, 0, &err),
                     0);
    assert_int_equal(job.state, ALI_JOB_DONE);
    fake_host_always(setup.fake, "ListAsynJobs", 400,
                     "{\"Code\":\"MissingParam.X\",\"Message\":\"m\",\"RequestId\":\"r7\"}");
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &job,
                                  1, 10000, 0, &err),
                     -EREMOTEIO);
    assert_string_equal(err.code, "MissingParam.X");
    assert_string_equal(err.request_id, "r7");
    assert_int_equal(job.state, ALI_JOB_RUNNING);
    fixture_end(&setup, &cloud);
}

static void test_deadline_and_cancel(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job job = { .id = "a" };

    (void)state;
    fixture_begin(&setup, &cloud, 1000000);

    const struct ccm_request req = setup_request(&setup, 5000);
    const int64_t began = fake_host_now(setup.fake);

    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, &req }, &job,
                                  1, 30000, 0, &err),
                     -ETIMEDOUT);
    assert_true(fake_host_now(setup.fake) - began <= 5000);
    fake_host_cancel(setup.fake, true);
    assert_int_equal(ali_job_wait(&(const struct ali_caller){ setup.ali, setup.host, NULL }, &job,
                                  1, 30000, 0, &err),
                     -ECANCELED);
    assert_int_equal(err.kind, CCM_ERROR_CANCELLED);
    fake_host_cancel(setup.fake, false);
    fixture_end(&setup, &cloud);
}

/* --- patience --- */

static int wait_patiently(const struct setup *setup, struct ali_job *jobs, size_t count,
                          struct ccm_error *err)
{
    ccm_error_clear(err);
    return ali_job_wait(&(const struct ali_caller){ setup->ali, setup->host, NULL }, jobs, count,
                        30000, ALI_PATIENCE_MS, err);
}

/* Nobody is kept longer than its patience lasts; it asks on where it was. */
static void test_put_off(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    int64_t began;
    int turns = 0;

    (void)state;
    fixture_begin(&setup, &cloud, 20000);
    began = fake_host_now(setup.fake);
    for (int r = -EAGAIN; r != 0; turns++) {
        struct ali_job jobs[] = { { .id = "" }, { .id = "a" }, { .id = "b" } };
        const int64_t from = fake_host_now(setup.fake);

        r = wait_patiently(&setup, jobs, 3, &err);
        assert_true(fake_host_now(setup.fake) - from <= (turns == 0 ? ALI_PATIENCE_MS + 100 : 100));
        assert_int_equal(jobs[1].state, r == 0 ? ALI_JOB_DONE : ALI_JOB_RUNNING);
        if (r < 0) {
            assert_int_equal(r, -EAGAIN);
            assert_true(ali_error_is_put_off(&err));
            assert_in_range(err.retry_after_ms, 250, 2200);
            fake_host_advance(setup.fake, (int64_t)err.retry_after_ms);
        }
    }
    assert_in_range(fake_host_now(setup.fake) - began, 20000, 22500);
    assert_in_range(cloud.polls, 10, 13); /* as many as somebody who stays would have made */
    fixture_end(&setup, &cloud);
}

/* Who is away is asked for along with others, and finds what came of it without a call. */
static void test_away_together(void **state)
{
    enum { MANY = 40 };
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    size_t before;

    (void)state;
    fixture_begin(&setup, &cloud, 1000000);
    for (int round = 0; round < 2; round++) {
        before = cloud.polls;
        for (int i = 0; i < MANY; i++) {
            struct ali_job job = { .state = ALI_JOB_RUNNING };

            (void)snprintf(job.id, sizeof(job.id), "job-%d", i);
            assert_int_equal(wait_patiently(&setup, &job, 1, &err), round == 0 ? -EAGAIN : 0);
        }
        fake_host_advance(setup.fake, 2200);
        cloud.ends_ms = 0;
    }
    assert_int_equal(cloud.polls - before, 2); /* 20 ids per call */
    fixture_end(&setup, &cloud);
}

/* Who does not come again is forgotten. */
static void test_away_for_good(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct ccm_error err = CCM_ERROR_INIT;
    struct ali_job job = { .id = "a" };
    struct ali_job other = { .id = "b" };

    (void)state;
    fixture_begin(&setup, &cloud, 1000000);
    assert_int_equal(wait_patiently(&setup, &job, 1, &err), -EAGAIN);
    fake_host_advance(setup.fake, 61000);
    cloud.most_ids = 0;
    assert_int_equal(wait_patiently(&setup, &other, 1, &err), -EAGAIN);
    assert_int_equal(cloud.most_ids, 1);
    fixture_end(&setup, &cloud);
}

/* --- many at once --- */

#define THREADS 12
#define WAITS   6

struct worker {
    const struct setup *setup;
    size_t number;
    size_t wrong;
};

static void *work(void *arg)
{
    struct worker *worker = arg;

    for (int i = 0; i < WAITS; i++) {
        struct ccm_error err = CCM_ERROR_INIT;
        struct ali_job jobs[4] = { 0 };

        for (size_t k = 0; k < 4; k++) {
            (void)snprintf(jobs[k].id, sizeof(jobs[k].id), "job-%zu-%d-%zu", worker->number, i, k);
        }
        if (ali_job_wait(
                &(const struct ali_caller){ worker->setup->ali, worker->setup->host, NULL }, jobs,
                4, 3600000, 0, &err) != 0) {
            worker->wrong++;
        }
        for (size_t k = 0; k < 4; k++) {
            worker->wrong += jobs[k].state == ALI_JOB_DONE ? 0 : 1;
        }
    }
    return NULL;
}

/* Whoever waits, all share the polls, and nobody is forgotten when a leader leaves. */
static void test_many(void **state)
{
    struct setup setup;
    struct cloud cloud = { .hide = 0 };
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    fixture_begin(&setup, &cloud, 20000);

    const int64_t began = fake_host_now(setup.fake);

    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ .setup = &setup, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].wrong, 0);
    }
    const int64_t took = fake_host_now(setup.fake) - began;
    const int64_t chunks = (THREADS * 4 + 19) / 20;

    /* Those that wait share the rounds; in the end there are fewer of them, who may ask sooner. */
    assert_true((int64_t)cloud.polls <= (WAITS * 2 + took * 16 / (2200 * THREADS)) * chunks);
    assert_true(cloud.most_ids <= 20);
    fixture_end(&setup, &cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready_at_once), cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_pace),          cmocka_unit_test(test_states),
        cmocka_unit_test(test_absent),        cmocka_unit_test(test_denied),
        cmocka_unit_test(test_failing_polls), cmocka_unit_test(test_deadline_and_cancel),
        cmocka_unit_test(test_put_off),       cmocka_unit_test(test_away_together),
        cmocka_unit_test(test_away_for_good), cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
