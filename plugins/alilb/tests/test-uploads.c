/* Secrets that objects refer to: which are read in one call, when again, and what may be deleted.
 */
#include "alilb/uploads.h"

#include "alicloud/tests/setup.h"
#include "util/base64.h"
#include "util/cleanup.h"
#include "util/text.h"

#include "lbc/tests/check.h"

#include <stdio.h>
#include <string.h>

struct world {
    struct setup setup;
    struct alilb_uploads *uploads;
    struct alilb_call call;
    struct ccm_request req;
    struct ccm_error err;
    uint64_t again_ms;
    char events[2000];  /* "object reason;" */
    const char *unsure; /* a Secret of an object whose load balancer may have anything of it */
    const char *mark;   /* NULL = the cluster's id */
};

static const char *const options[] = { "upload_certificates", "true", NULL };

static int world_begin(void **state)
{
    static struct world world;

    world = (struct world){ .err = CCM_ERROR_INIT };
    setup_begin(&world.setup, NULL);
    fake_host_option(world.setup.fake, "", options[0], options[1]);
    world.uploads = alilb_uploads_new();
    assert_non_null(world.uploads);
    *state = &world;
    return 0;
}

static int world_end(void **state)
{
    struct world *world = *state;

    alilb_uploads_free(world->uploads);
    setup_end(&world->setup);
    return 0;
}

static int owner_wanted(void *arg, struct lbc_texts *secrets, struct lbc_texts *unsure, bool *more)
{
    const struct world *world = arg;

    (void)secrets;
    *more = world->unsure != NULL;
    return world->unsure == NULL ? 0 : lbc_texts_put(unsure, world->unsure);
}

static void owner_changed(void *arg, const char *object, const struct ccm_event *event)
{
    struct world *world = arg;
    const size_t len = strlen(world->events);

    ccm_text_printf(world->events + len, sizeof(world->events) - len, "%s %s;", object,
                    event == NULL ? "-" : event->reason);
}

static int world_want(struct world *world, const char *object, const char *secrets)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };

    assert_int_equal(lbc_texts_split(&texts, secrets), 0);
    return alilb_uploads_want(world->uploads, object, &texts, fake_host_now(world->setup.fake));
}

static int world_settle(struct world *world, const char *object, const char *names, bool more)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts texts = { 0 };

    assert_int_equal(lbc_texts_split(&texts, names), 0);
    return alilb_uploads_settle(world->uploads, object, &texts, more);
}

static int world_work(struct world *world)
{
    const struct alilb_uploads_owner owner = { world, owner_wanted, owner_changed };

    world->events[0] = '\0';
    ccm_error_clear(&world->err);
    world->req = setup_request(&world->setup, 60000);
    world->call = (struct alilb_call){
        .ali = world->setup.ali,
        .host = world->setup.host,
        .req = &world->req,
        .object = "Secrets",
        .cluster_id = "c1",
        .mark = world->mark == NULL ? "c1" : world->mark,
        .priority = LBC_PRIO_SPEC,
    };
    return alilb_uploads_work(world->uploads, &world->call, &owner, &world->again_ms, &world->err);
}

static void answer_list(struct world *world, const char *items)
{
    CCM_CLEANUP(ccm_freep)
    char *body =
        ccm_text_format("{\"RequestId\":\"r\",\"TotalCount\":1,\"CertMetaList\":[%s]}", items);

    fake_host_answer(world->setup.fake, "DescribeSSLCertificateList", 200, body);
}

static size_t world_count_reads(const struct world *world, size_t from, const char *prefix)
{
    size_t count = 0;

    for (size_t i = from; i < fake_host_raw_call_count(world->setup.fake); i++) {
        count += ccm_text_starts(fake_host_raw_call(world->setup.fake, i)->key, prefix) ? 1 : 0;
    }
    return count;
}

static struct alilb_upload world_get(const struct world *world, const char *secret)
{
    struct alilb_upload one;

    assert_true(alilb_uploads_get(world->uploads, secret, &one));
    return one;
}

/* However many a namespace has, another one's is among the next ones. */
static void test_namespaces_take_turns(void **state)
{
    struct world *world = *state;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf many = { .max = 0 };

    for (int i = 0; i < 300; i++) {
        ccm_buf_addf(&many, "%sa/no-%03d", i == 0 ? "" : ",", i);
    }
    answer_list(world, "");
    assert_int_equal(world_want(world, "a/web", ccm_buf_str(&many)), 1);
    fake_host_advance(world->setup.fake, 1000);
    assert_int_equal(world_want(world, "b/web", "b/cert,b/other"), 1);
    assert_int_equal(world_work(world), 0);
    assert_int_equal(fake_host_raw_call_count(world->setup.fake), 20);
    assert_int_equal(world_count_reads(world, 0, "b/"), 2);
    assert_int_equal(world->again_ms, 100); /* there are more */
    for (int i = 0; i < 15; i++) {
        assert_int_equal(world_work(world), 0);
    }
    assert_int_equal(fake_host_raw_call_count(world->setup.fake), 302);
    assert_int_equal(fake_host_action_count(world->setup.fake, "DescribeSSLCertificateList"), 1);
    assert_in_range(world->again_ms, 14000, 15000);
}

/* A call ends with the first failure, which is said when it lasts; others come first then. */
static void test_failures(void **state)
{
    static const uint64_t waits[] = { 1500, 3000, 6000 };
    struct world *world = *state;

    answer_list(world, "");
    assert_int_equal(world_want(world, "a/web", "a/one,a/two"), 1);
    fake_host_raw_result(world->setup.fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_int_equal(world_work(world), 0);
    assert_int_equal(fake_host_raw_call_count(world->setup.fake), 1);
    assert_string_equal(world_get(world, "a/one").why, "");
    assert_false(world_get(world, "a/one").known);
    assert_string_equal(world->events, "a/web -;"); /* the certificate service has nothing of it */
    assert_int_equal(world->again_ms, 100);
    assert_int_equal(world_work(world), 0);
    assert_int_equal(world_count_reads(world, 0, "a/two"), 1);
    for (size_t i = 0; i < CCM_ARRAY_LEN(waits); i++) {
        assert_int_equal(world->again_ms, i == 0 ? 1500 : waits[i]);
        fake_host_advance(world->setup.fake, (int64_t)waits[i]);
        assert_int_equal(world_work(world), 0);
        assert_string_equal(world->events, i == 0 ? "a/web InvalidCertificateRef;" : "");
        assert_true(world_get(world, "a/one").listed);
        assert_non_null(strstr(world_get(world, "a/one").why, "cannot be read"));
        assert_int_equal(world_work(world), 0); /* the other one */
    }
    fake_host_raw_result(world->setup.fake, 0, 0);
    fake_host_advance(world->setup.fake, 12000);
    assert_int_equal(world_work(world), 0);
    assert_string_equal(world_get(world, "a/one").why, "it is not there");
    assert_true(world_get(world, "a/one").known);
    assert_string_equal(world->events, "a/web InvalidCertificateRef;a/web InvalidCertificateRef;");
}

/* A Secret that cannot be read stands for the only certificate that the service has of it. Of
 * several, or without a list, it is not known which one is in use. */
static void test_failures_and_the_list(void **state)
{
    static const struct {
        const char *pems[2];
        bool listed;
        const char *id;
    } rows[] = {
        { { NULL, NULL }, true, "" },
        { { "x", NULL }, true, "x" },
        { { "x", "y" }, false, "" },
    };
    struct world *world = *state;

    for (size_t i = 0; i <= CCM_ARRAY_LEN(rows); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf items = { .max = 1000 };

        for (size_t j = 0; i < CCM_ARRAY_LEN(rows) && j < 2 && rows[i].pems[j] != NULL; j++) {
            struct alilb_tls_secret content = { 0 };
            char name[ALILB_CERTIFICATE_NAME];

            assert_int_equal(ccm_secret_set(&content.certificate, rows[i].pems[j]), 0);
            alilb_certificate_name("c1", "a/one", &content, name);
            alilb_tls_secret_fini(&content);
            ccm_buf_addf(&items, "%s{\"CertName\":\"%s\",\"CertIdentifier\":\"%s\"}",
                         j == 0 ? "" : ",", name, rows[i].pems[j]);
        }
        if (i < CCM_ARRAY_LEN(rows)) {
            answer_list(world, ccm_buf_str(&items));
        } else {
            fake_host_answer(world->setup.fake, "DescribeSSLCertificateList", 403,
                             "{\"Code\":\"NoPermission\",\"Message\":\"no\"}");
        }
        alilb_uploads_free(world->uploads);
        world->uploads = alilb_uploads_new();
        assert_int_equal(world_want(world, "a/web", "a/one"), 1);
        fake_host_raw_result(world->setup.fake, -EIO, CCM_ERROR_TRANSIENT);
        assert_int_equal(world_work(world), 0);
        assert_false(world_get(world, "a/one").known);
        assert_int_equal(world_get(world, "a/one").listed,
                         i < CCM_ARRAY_LEN(rows) ? rows[i].listed : false);
        assert_string_equal(world_get(world, "a/one").id,
                            i < CCM_ARRAY_LEN(rows) ? rows[i].id : "");
        assert_int_equal(world->again_ms, 1500);
    }
}

/* A controller with a name of its own: certificates of earlier versions, with the cluster's id
 * alone, are in use as long as there is none with its own mark, and are never deleted. */
static void test_marks_of_earlier_versions(void **state)
{
    static const char *const marks[] = { "c1\nteam", "c1" };
    struct world *world = *state;

    world->mark = marks[0];
    for (size_t first = 0; first < 2; first++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf items = { .max = 1000 };

        for (size_t i = first; i < 2; i++) {
            char name[ALILB_CERTIFICATE_NAME];

            alilb_certificate_name(marks[i], "a/one", &(struct alilb_tls_secret){ 0 }, name);
            ccm_buf_addf(&items, "%s{\"CertName\":\"%s\",\"CertIdentifier\":\"%zu\"}",
                         i == first ? "" : ",", name, i);
        }
        answer_list(world, ccm_buf_str(&items));
        alilb_uploads_free(world->uploads);
        world->uploads = alilb_uploads_new();
        assert_int_equal(world_want(world, "a/web", "a/one"), 1);
        assert_int_equal(world_work(world), 0); /* the Secret is missing */
        assert_string_equal(world_get(world, "a/one").id, first == 0 ? "0" : "1");
    }
    assert_int_equal(world_settle(world, "a/web", "", false), 0);
    assert_int_equal(world_want(world, "a/web", ""), 1);
    assert_int_equal(world_work(world), 0);
    assert_int_equal(fake_host_action_count(world->setup.fake, "DeleteSSLCertificate"), 0);
}

/* However many of a namespace fail, and end the call by it, the others come next. */
static void test_failures_take_turns(void **state)
{
    struct world *world = *state;

    fake_host_always(world->setup.fake, "DescribeSSLCertificateList", 403,
                     "{\"Code\":\"NoPermission\",\"Message\":\"no\",\"RequestId\":\"r\"}");
    assert_int_equal(world_want(world, "a/web", "a/1,a/2,a/3,b/1,b/2,c/1"), 1);
    for (size_t i = 0; i < 3; i++) {
        static const char *const places[] = { "a/", "b/", "c/" };

        assert_true(world_work(world) < 0);
        assert_int_equal(fake_host_raw_call_count(world->setup.fake), i + 1);
        assert_int_equal(world_count_reads(world, i, places[i]), 1);
        fake_host_advance(world->setup.fake, 100);
    }
    assert_true(world_work(world) < 0);
    assert_int_equal(world_count_reads(world, 3, "a/"), 1);
}

/* A service that fails is asked less and less often, whatever the number of Secrets. */
static void test_service_out_of_order(void **state)
{
    static const uint64_t waits[] = { 1500, 3000, 6000, 12000, 24000, 48000, 60000, 60000 };
    struct world *world = *state;

    fake_host_always(world->setup.fake, "DescribeSSLCertificateList", 403,
                     "{\"Code\":\"NoPermission\",\"Message\":\"no\",\"RequestId\":\"r\"}");
    assert_int_equal(world_want(world, "a/web", "a/1,a/2,a/3,a/4,a/5,a/6,a/7,a/8,a/9"), 1);
    for (size_t i = 0; i < CCM_ARRAY_LEN(waits); i++) {
        assert_true(world_work(world) < 0);
        assert_int_equal(world->err.kind, CCM_ERROR_AUTH);
        assert_non_null(strstr(world->err.message, "Secret a/"));
        assert_int_equal(world->again_ms, waits[i]);
        fake_host_advance(world->setup.fake, (int64_t)waits[i]);
    }
    assert_string_equal(world_get(world, "a/1").why, "it is not there");
    assert_false(world_get(world, "a/1").known);
}

/* A Secret that cannot be used is read again later and later; one without object never. */
static void test_faults_and_wishes(void **state)
{
    static const uint64_t waits[] = { 15000, 30000, 60000, 120000, 120000 };
    struct world *world = *state;

    answer_list(world, "");
    assert_int_equal(world_want(world, "a/web", "a/one"), 1);
    assert_int_equal(world_want(world, "a/other", "a/one"), 1);
    for (size_t i = 0; i < CCM_ARRAY_LEN(waits); i++) {
        assert_int_equal(world_work(world), 0);
        assert_string_equal(world->events,
                            i == 0 ? "a/other InvalidCertificateRef;a/web InvalidCertificateRef;"
                                   : "");
        assert_int_equal(world->again_ms, waits[i]);
        assert_int_equal(world_want(world, "a/web", "a/one"), 0);
        fake_host_advance(world->setup.fake, (int64_t)waits[i]);
    }
    assert_int_equal(world_want(world, "a/web", ""), 0);
    alilb_uploads_forget(world->uploads, "a/other");
    assert_int_equal(world_work(world), 0);
    assert_int_equal(world->again_ms, 0);
    assert_int_equal(fake_host_raw_call_count(world->setup.fake), CCM_ARRAY_LEN(waits));
    assert_false(alilb_uploads_get(world->uploads, "a/one", &(struct alilb_upload){ 0 }));
}

/* What load balancers have stays until it is said that they have something else. */
static void test_what_may_be_deleted(void **state)
{
    struct world *world = *state;
    struct alilb_tls_secret content = { 0 };
    char names[2][ALILB_CERTIFICATE_NAME];
    CCM_CLEANUP(ccm_freep) char *items = NULL;

    assert_int_equal(ccm_secret_set(&content.certificate, "x"), 0);
    alilb_certificate_name("c1", "a/one", &content, names[0]);
    alilb_certificate_name("c1", "a/two", &content, names[1]);
    alilb_tls_secret_fini(&content);
    items = ccm_text_format("{\"CertName\":\"%s\",\"CertIdentifier\":\"1\"},"
                            "{\"CertName\":\"%s\",\"CertIdentifier\":\"2\"}",
                            names[0], names[1]);
    answer_list(world, items);
    assert_int_equal(world_want(world, "a/web", "a/one,a/two"), 1);
    assert_false(alilb_uploads_is_settled(world->uploads, "a/web"));
    assert_int_equal(world_work(world), 0); /* both are missing: what was uploaded counts */
    assert_string_equal(world_get(world, "a/one").id, "1");
    assert_int_equal(world_settle(world, "a/web", names[0], false), 0);
    assert_int_equal(world_settle(world, "a/web", names[1], true), 0);
    assert_true(alilb_uploads_is_settled(world->uploads, "a/web"));
    assert_int_equal(world_want(world, "a/web", "a/one,a/two"), 1); /* something may be unused */
    assert_int_equal(world_work(world), 0);
    assert_int_equal(world_want(world, "a/web", "a/one,a/two"), 0);
    assert_int_equal(fake_host_action_count(world->setup.fake, "DeleteSSLCertificate"), 0);
    world->unsure = "a/one";
    assert_int_equal(world_settle(world, "a/web", names[1], false), 0);
    assert_int_equal(world_work(world), 0);
    assert_int_equal(fake_host_action_count(world->setup.fake, "DeleteSSLCertificate"), 0);
    world->unsure = "a/two"; /* another Secret holds up nothing */
    assert_int_equal(world_settle(world, "a/other", names[1], false), 0);
    fake_host_answer(world->setup.fake, "DeleteSSLCertificate", 200, "{\"RequestId\":\"r\"}");
    assert_int_equal(world_work(world), 0);
    assert_int_equal(fake_host_action_count(world->setup.fake, "DeleteSSLCertificate"), 1);
    assert_string_equal(
        fake_request_param(
            fake_host_request(world->setup.fake, fake_host_request_count(world->setup.fake) - 1),
            "CertIdentifier"),
        "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_namespaces_take_turns, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_failures, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_failures_and_the_list, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_marks_of_earlier_versions, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_failures_take_turns, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_service_out_of_order, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_faults_and_wishes, world_begin, world_end),
        cmocka_unit_test_setup_teardown(test_what_may_be_deleted, world_begin, world_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
