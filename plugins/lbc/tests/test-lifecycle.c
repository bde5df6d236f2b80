/* What is written to the API server, and when nothing is. */
#include "check.h"
#include "lbc/service/hash.h"
#include "lbc/service/lifecycle.h"
#include "objects.h"
#include "support/fake_host.h"
#include "util/buf.h"
#include "util/cleanup.h"

#include <errno.h>

#define FINALIZER "example.com/f"

struct fixture {
    struct fake_host *fake;
    struct lbc_life life;
    struct ccm_request req;
    struct ccm_service *service;
    struct ccm_error err;
};

static void fixture_begin(struct fixture *fixture)
{
    fixture->fake = fake_host_new();
    fixture->life = (struct lbc_life){
        .host = fake_host_table(fixture->fake),
        .finalizer = FINALIZER,
        .component = "test",
    };
    fixture->req = (struct ccm_request){ .struct_size = sizeof(fixture->req) };
    fixture->service = obj_service();
    fixture->err = (struct ccm_error)CCM_ERROR_INIT;
}

static void expect_patch(struct fixture *fixture, size_t index, uint64_t type,
                         const char *subresource, const char *body)
{
    const struct fake_patch *patch = fake_host_patch(fixture->fake, index);

    assert_non_null(patch);
    assert_int_equal(patch->type, type);
    assert_string_equal(patch->key, "default/web");
    assert_string_equal(patch->subresource, subresource);
    assert_string_equal(patch->body, body);
}

static void test_finalizer(void **state)
{
    struct lbc_life_memory memory = { 0 };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.life.memory = &memory;
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err), 0);
    assert_int_equal(fake_host_patch_count(f.fake), 0);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, true, &f.err), 0);
    expect_patch(&f, 0, CCM_PATCH_STRATEGIC, "",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"resourceVersion\":\"1\",\"finalizers\":[\"" FINALIZER "\"]}}");
    assert_true(memory.confirmed && memory.bound);
    obj_finalizer(&f.service->meta, FINALIZER);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, true, &f.err), 0);
    assert_int_equal(fake_host_patch_count(f.fake), 1);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err), 0);
    expect_patch(
        &f, 1, CCM_PATCH_STRATEGIC, "",
        "{\"metadata\":{\"uid\":\"" OBJ_UID
        "\",\"resourceVersion\":\"1\",\"$deleteFromPrimitiveList/finalizers\":[\"" FINALIZER
        "\"]}}");
    fake_host_patch_result(f.fake, -ENOENT, CCM_ERROR_NOT_FOUND);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err), 0);
    fake_host_patch_result(f.fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_true(lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err) < 0);
    fake_host_free(f.fake);
}

/* The Service has changed since: an earlier leader may have put the finalizer on. */
static void test_finalizer_behind_a_change(void **state)
{
    struct lbc_life_memory memory = { 0 };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.life.memory = &memory;
    fake_host_patch_result(f.fake, -EAGAIN, CCM_ERROR_CONFLICT);
    assert_true(lbc_life_set_finalizer(&f.life, &f.req, f.service, true, &f.err) < 0);
    assert_int_equal(fake_host_patch_count(f.fake), 2);
    expect_patch(&f, 1, CCM_PATCH_STRATEGIC, "",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"finalizers\":[\"" FINALIZER "\"]}}");
    assert_false(memory.confirmed || memory.bound);
    fake_host_free(f.fake);
}

/* A release that went by an old Service takes no finalizer off: the newer one may have a load
 * balancer that it knows nothing of. */
static void test_finalizer_of_an_old_service(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct ccm_service *now = obj_service();
        const bool same = i == 0 || i == 4;
        struct fixture f;

        fixture_begin(&f);
        obj_finalizer(&f.service->meta, FINALIZER);
        obj_finalizer(&now->meta, FINALIZER);
        if (i == 1) {
            now->meta.deleted_ms = 1000;
        } else if (i == 2) {
            obj_label(&now->meta, LBC_LIFE_LB_LABEL, "lb-2");
        } else if (i == 3) {
            obj_annotate(&now->meta, "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-name",
                         "mine");
        } else if (i == 4) {
            obj_annotate(&now->meta, "example.com/edited", "often");
        }
        fake_host_put(f.fake, &now->meta);

        const int r = lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err);

        assert_int_equal(r, same ? 0 : -EAGAIN);
        assert_int_equal(f.err.kind, same ? CCM_ERROR_NONE : CCM_ERROR_CONFLICT);
        assert_int_equal(fake_host_patch_count(f.fake), same ? 1 : 0);
        fake_host_free(f.fake);
    }
}

static void publish(struct fixture *f, const struct lbc_life_state *want, bool expect)
{
    bool written = !expect;

    assert_int_equal(lbc_life_publish(&f->life, &f->req, f->service, want, &written, &f->err), 0);
    assert_int_equal(written, expect);
}

/* A condition goes along with what is written, and is no reason to write. */
static void test_publish_with_condition(void **state)
{
    const struct lbc_life_condition fine = { .ready = true, .message = "fine" };
    const struct lbc_life_state all = { .hash = "h1", .lb_id = "lb-1", .condition = &fine };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    publish(&f, &all, true);
    expect_patch(&f, 0, CCM_PATCH_STRATEGIC, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"" LBC_HASH_LABEL
                 "\":\"h1\",\"" LBC_LIFE_LB_LABEL "\":\"lb-1\"}},\"status\":{\"conditions\":[{"
                 "\"type\":\"" LBC_LIFE_CONDITION "\",\"status\":\"True\",\"reason\":\"Ready\","
                 "\"message\":\"fine\",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}]}}");
    obj_label(&f.service->meta, LBC_HASH_LABEL, "h1");
    obj_label(&f.service->meta, LBC_LIFE_LB_LABEL, "lb-1");
    publish(&f, &all, false);
    fake_host_free(f.fake);
}

static void test_publish(void **state)
{
    const struct lbc_life_state all = { .hash = "h1", .lb_id = "lb-1", .ip = "1.2.3.4" };
    const struct lbc_life_state part = { .lb_id = "lb-1", .ip = "5.6.7.8" };
    const struct lbc_life_state none = { "", "", "", "", "", "", NULL, NULL, NULL };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    publish(&f, &none, false);
    publish(&f, &all, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"" LBC_HASH_LABEL
                 "\":\"h1\",\"" LBC_LIFE_LB_LABEL "\":\"lb-1\"}},\"status\":{\"loadBalancer\":{"
                 "\"ingress\":[{\"ip\":\"1.2.3.4\"}]}}}");
    obj_label(&f.service->meta, LBC_HASH_LABEL, "h1");
    obj_label(&f.service->meta, LBC_LIFE_LB_LABEL, "lb-1");
    obj_ingress(f.service, "1.2.3.4", "");
    publish(&f, &all, false);
    publish(&f, &part, true);
    expect_patch(&f, 1, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{}},\"status\":{"
                 "\"loadBalancer\":{\"ingress\":[{\"ip\":\"5.6.7.8\"}]}}}");
    publish(&f, &none, true);
    expect_patch(&f, 2, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"" LBC_HASH_LABEL
                 "\":null,\"" LBC_LIFE_LB_LABEL "\":null}},\"status\":{\"loadBalancer\":{"
                 "\"ingress\":null}}}");
    obj_ingress(f.service, "9.9.9.9", "");
    publish(&f, &all, true);
    fake_host_free(f.fake);
}

/* Many addresses, and a long name, are written as they are, and known afterwards. */
static void test_publish_much(void **state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf ips = { .max = 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf name = { .max = 0 };
    struct lbc_life_memory memory = { 0 };
    struct lbc_life_state much = { .lb_id = "lb-1", .hostname = "" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.life.memory = &memory;
    for (int i = 0; i < 600; i++) {
        ccm_buf_addf(&ips, "%s203.0.%d.%d", i == 0 ? "" : ",", 100 + i / 200, 10 + i % 200);
    }
    for (int i = 0; i < 800; i++) {
        ccm_buf_adds(&name, "label-1.");
    }
    much.ip = ccm_buf_str(&ips);
    publish(&f, &much, true);
    assert_non_null(strstr(fake_host_patch(f.fake, 0)->body, "{\"ip\":\"203.0.102.209\"}]}}}"));
    assert_true(memory.shows != 0);
    much.hostname = ccm_buf_str(&name);
    publish(&f, &much, true);
    assert_non_null(strstr(fake_host_patch(f.fake, 1)->body, ccm_buf_str(&name)));
    assert_true(memory.shows != 0);
    fake_host_free(f.fake);
}

/* The third label, of a controller that has one. */
static void test_extra_label(void **state)
{
    const struct lbc_life_state set = { .extra = "sg-1" };
    const struct lbc_life_state none = { .extra = "" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    publish(&f, &set, false);
    f.life.extra_label = "example.com/sg";
    publish(&f, &none, false);
    publish(&f, &set, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"labels\":{\"example.com/sg\":\"sg-1\"}}}");
    obj_label(&f.service->meta, "example.com/sg", "sg-1");
    publish(&f, &set, false);
    publish(&f, &none, true);
    expect_patch(&f, 1, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"example.com/sg\":null}}}");
    fake_host_free(f.fake);
}

/* That for additional tags makes no write of its own but to go. It is written to the version that
 * was read. */
static void test_tags_label(void **state)
{
    const struct lbc_life_state tags = { .tags = "AbC1" };
    const struct lbc_life_state with_hash = { .hash = "h1", .tags = "AbC1" };
    const struct lbc_life_state others = { .hash = "h1", .tags = "AbC2" };
    const struct lbc_life_state none = { .tags = "" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    publish(&f, &tags, false);
    publish(&f, &none, false);
    publish(&f, &with_hash, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"resourceVersion\":\"1\",\"labels\":{\"" LBC_HASH_LABEL
                 "\":\"h1\",\"" LBC_LIFE_TAGS_LABEL "\":\"AbC1\"}}}");
    obj_label(&f.service->meta, LBC_HASH_LABEL, "h1");
    obj_label(&f.service->meta, LBC_LIFE_TAGS_LABEL, "AbC1");
    publish(&f, &with_hash, false);
    publish(&f, &others, false);
    publish(&f, &none, true);
    expect_patch(&f, 1, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"resourceVersion\":\"1\",\"labels\":{\"" LBC_LIFE_TAGS_LABEL "\":null}}}");
    fake_host_free(f.fake);
}

/* The caches show a label by now that the new one was not made from. That their version is the
 * newest one proves nothing. */
static void test_tags_label_of_another_instance(void **state)
{
    struct lbc_life_memory memory = { 0 };
    const struct lbc_life_state gone = { .hash = "h1", .tags = "" };
    struct fixture f;
    bool written;

    (void)state;
    fixture_begin(&f);
    f.life.memory = &memory;
    obj_label(&f.service->meta, LBC_LIFE_TAGS_LABEL, "AbC1");
    assert_string_equal(lbc_life_read_tags(&f.life, f.service), "AbC1");

    struct ccm_service *now = obj_service_copy(f.service);

    obj_label(&now->meta, LBC_LIFE_TAGS_LABEL, "AbC1.D3f4");
    now->meta.resource_version = "2";
    fake_host_put(f.fake, &now->meta);
    assert_true(lbc_life_mark_tags(&f.life, &f.req, f.service, "AbC1.E5f6", &f.err) < 0);
    assert_int_equal(f.err.kind, CCM_ERROR_CONFLICT);
    assert_string_equal(lbc_life_read_tags(&f.life, f.service), "AbC1");
    assert_true(lbc_life_publish(&f.life, &f.req, f.service, &gone, &written, &f.err) < 0);
    assert_int_equal(f.err.kind, CCM_ERROR_CONFLICT);
    assert_int_equal(fake_host_patch_count(f.fake), 0);

    assert_string_equal(lbc_life_read_tags(&f.life, now), "AbC1.D3f4");
    assert_int_equal(lbc_life_mark_tags(&f.life, &f.req, f.service, "E5f6", &f.err), 0);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"resourceVersion\":\"2\",\"labels\":{\"" LBC_LIFE_TAGS_LABEL
                 "\":\"E5f6\"}}}");
    obj_label(&now->meta, LBC_LIFE_TAGS_LABEL, "E5f6");
    publish(&f, &gone, true); /* its own write is what it replaces now */
    assert_int_equal(fake_host_patch_count(f.fake), 2);
    fake_host_free(f.fake);
}

/* The snapshot of a pass is older than what the pass has written itself: the caches count. */
static void test_caches_count(void **state)
{
    const struct lbc_life_state before = { .hash = "h1", .lb_id = "lb-1", .tags = "AbC1" };
    const struct lbc_life_state after = { .hash = "h2", .lb_id = "lb-1", .tags = "" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);

    struct ccm_service *now = obj_service_copy(f.service);

    obj_finalizer(&now->meta, FINALIZER);
    obj_label(&now->meta, LBC_HASH_LABEL, "h1");
    obj_label(&now->meta, LBC_LIFE_LB_LABEL, "lb-1");
    obj_label(&now->meta, LBC_LIFE_TAGS_LABEL, "AbC1");
    fake_host_put(f.fake, &now->meta);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, true, &f.err), 0);
    publish(&f, &before, false);
    assert_int_equal(fake_host_patch_count(f.fake), 0);
    publish(&f, &after, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"resourceVersion\":\"1\",\"labels\":{\"" LBC_HASH_LABEL
                 "\":\"h2\",\"" LBC_LIFE_TAGS_LABEL "\":null}}}");
    now->meta.uid = "another"; /* one of the same name: what is written for this one is refused */
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, true, &f.err), 0);
    assert_int_equal(fake_host_patch_count(f.fake), 2);
    fake_host_free(f.fake);
}

#define REUSED LBC_LIFE_REUSED_LABEL "test"

/* Written before all else, and removed alone; the label of another one stays. */
static void test_reused_label(void **state)
{
    const struct lbc_life_state same = { .hash = "h1", .reused = "lb-1" };
    const struct lbc_life_state gone = { .reused = "" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    assert_int_equal(lbc_life_mark_reused(&f.life, &f.req, f.service, "lb-1", &f.err), 0);
    assert_int_equal(fake_host_patch_count(f.fake), 0); /* there is no such label */
    f.life.reused_label = REUSED;
    obj_label(&f.service->meta, LBC_LIFE_REUSED_LABEL "other", "lb-9");
    assert_string_equal(lbc_life_reused_id(&f.life, f.service), "");
    publish(&f, &gone, false);
    assert_int_equal(lbc_life_mark_reused(&f.life, &f.req, f.service, "lb-1", &f.err), 0);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"" REUSED "\":\"lb-1\"}}}");
    obj_label(&f.service->meta, REUSED, "lb-1");
    assert_int_equal(lbc_life_mark_reused(&f.life, &f.req, f.service, "lb-1", &f.err), 0);
    publish(&f, &same, true);
    obj_label(&f.service->meta, LBC_HASH_LABEL, "h1");
    publish(&f, &same, false);
    publish(&f, &gone, true);
    expect_patch(&f, 2, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"" REUSED "\":null}}}");
    fake_host_free(f.fake);
}

/* One that says something else is worth a write, none at all is not. */
static void test_reused_label_edited(void **state)
{
    const struct lbc_life_state same = { .reused = "lb-1" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.life.reused_label = REUSED;
    publish(&f, &same, false);
    obj_label(&f.service->meta, REUSED, "lb-2");
    publish(&f, &same, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{\"" REUSED "\":\"lb-1\"}}}");
    fake_host_free(f.fake);
}

/* What is announced before it is created. */
static void test_mark(void **state)
{
    const struct lbc_life_state nothing = { .extra = "" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    assert_false(lbc_life_is_marked(&f.life, f.service)); /* there is no such label */
    f.life.extra_label = "example.com/extra";
    fake_host_patch_result(f.fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_true(lbc_life_mark(&f.life, &f.req, f.service, &f.err) < 0);
    fake_host_patch_result(f.fake, 0, CCM_ERROR_NONE);
    assert_int_equal(lbc_life_mark(&f.life, &f.req, f.service, &f.err), 0);
    expect_patch(&f, 1, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID
                 "\",\"labels\":{\"example.com/extra\":\"pending\"}}}");
    assert_false(lbc_life_is_marked(&f.life, f.service));
    obj_label(&f.service->meta, "example.com/extra", "pending");
    assert_true(lbc_life_is_marked(&f.life, f.service));
    assert_int_equal(lbc_life_mark(&f.life, &f.req, f.service, &f.err), 0);
    assert_int_equal(fake_host_patch_count(f.fake), 2);
    publish(&f, &nothing, true);
    fake_host_free(f.fake);
}

/* The API server says once that the finalizer is there, whatever the caches show. */
static void test_confirm(void **state)
{
    struct lbc_life_memory memory = { 0 };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    obj_finalizer(&f.service->meta, FINALIZER);
    f.life.memory = &memory;
    fake_host_patch_result(f.fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_int_equal(lbc_life_confirm_finalizer(&f.life, &f.req, f.service, &f.err), -EIO);
    fake_host_patch_result(f.fake, 0, CCM_ERROR_NONE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lbc_life_confirm_finalizer(&f.life, &f.req, f.service, &f.err), 0);
    }
    assert_int_equal(fake_host_patch_count(f.fake), 2);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err), 0);
    assert_int_equal(lbc_life_confirm_finalizer(&f.life, &f.req, f.service, &f.err), 0);
    assert_int_equal(fake_host_patch_count(f.fake), 4);
    fake_host_free(f.fake);
}

/* The answer shows that it wants no load balancer any more. */
static void test_confirm_behind_a_change(void **state)
{
    struct lbc_life_memory memory = { 0 };
    struct ccm_service *now = obj_service();
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.life.memory = &memory;
    f.service->type = "LoadBalancer";
    now->type = "ClusterIP";
    fake_host_put(f.fake, &now->meta);
    assert_int_equal(lbc_life_confirm_finalizer(&f.life, &f.req, f.service, &f.err), -EAGAIN);
    assert_int_equal(f.err.kind, CCM_ERROR_CONFLICT);
    assert_false(memory.confirmed);
    fake_host_free(f.fake);
}

/* In a dry run the same is said, not written. */
static void test_plan(void **state)
{
    const struct lbc_life_state new = { .hash = "h2", .lb_id = "lb-1", .ip = "1.2.3.4" };
    const struct lbc_life_state none = { .hash = "", .lb_id = "", .ip = "" };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf plan = { 0 };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.life.plan = &plan;
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, true, &f.err), 0);
    publish(&f, &new, true);
    assert_string_equal(ccm_buf_str(&plan), "add finalizer " FINALIZER " to the Service\n"
                                            "set label " LBC_HASH_LABEL ": none -> h2\n"
                                            "set label " LBC_LIFE_LB_LABEL ": none -> lb-1\n"
                                            "set status: none -> 1.2.3.4\n");
    ccm_buf_fini(&plan);
    obj_finalizer(&f.service->meta, FINALIZER);
    obj_label(&f.service->meta, LBC_HASH_LABEL, "h1");
    obj_label(&f.service->meta, LBC_LIFE_LB_LABEL, "lb-1");
    obj_ingress(f.service, "1.2.3.4", "");
    publish(&f, &new, true);
    publish(&f, &none, true);
    assert_int_equal(lbc_life_set_finalizer(&f.life, &f.req, f.service, false, &f.err), 0);
    assert_string_equal(ccm_buf_str(&plan), "set label " LBC_HASH_LABEL ": h1 -> h2\n"
                                            "set label " LBC_HASH_LABEL ": h1 -> none\n"
                                            "set label " LBC_LIFE_LB_LABEL ": lb-1 -> none\n"
                                            "set status: 1.2.3.4 -> none\n"
                                            "remove finalizer " FINALIZER " from the Service\n");
    assert_int_equal(fake_host_patch_count(f.fake), 0);
    fake_host_free(f.fake);
}

/* A name takes the place of all addresses. */
static void test_ingress(void **state)
{
    const struct lbc_life_state two = { .ip = "1.2.3.4,5.6.7.8", .hostname = "" };
    const struct lbc_life_state named = { .ip = "1.2.3.4",
                                          .ip_mode = "Proxy",
                                          .hostname = "web.example.com" };
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    publish(&f, &two, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{}},\"status\":{"
                 "\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.2.3.4\"},{\"ip\":\"5.6.7.8\"}]}}}");
    obj_ingress(f.service, "1.2.3.4", "");
    publish(&f, &two, true);
    obj_ingress(f.service, "5.6.7.8", "");
    publish(&f, &two, false);
    publish(&f, &named, true);
    expect_patch(&f, 2, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{}},\"status\":{"
                 "\"loadBalancer\":{\"ingress\":[{\"hostname\":\"web.example.com\"}]}}}");
    f.service->ingress = NULL;
    f.service->ingress_count = 0;
    obj_ingress(f.service, "", "web.example.com");
    publish(&f, &named, false);
    publish(&f, &two, true);
    fake_host_free(f.fake);
}

/* Only when a person chose one does it matter what the entry says. */
static void test_ip_mode(void **state)
{
    const struct lbc_life_state plain = { .ip = "1.2.3.4", .ip_mode = "" };
    const struct lbc_life_state proxy = { .ip = "1.2.3.4", .ip_mode = "Proxy" };
    const struct ccm_ingress vip = { .ip = "1.2.3.4", .hostname = "", .ip_mode = "VIP" };
    const struct ccm_ingress done = { .ip = "1.2.3.4", .hostname = "", .ip_mode = "Proxy" };
    const struct ccm_ingress *entry = &vip;
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.service->ingress = &entry;
    f.service->ingress_count = 1;
    publish(&f, &plain, false);
    publish(&f, &proxy, true);
    expect_patch(&f, 0, CCM_PATCH_MERGE, "status",
                 "{\"metadata\":{\"uid\":\"" OBJ_UID "\",\"labels\":{}},\"status\":{"
                 "\"loadBalancer\":{\"ingress\":[{\"ip\":\"1.2.3.4\",\"ipMode\":\"Proxy\"}]}}}");
    entry = &done;
    publish(&f, &proxy, false);
    publish(&f, &plain, false);
    f.service->ingress = NULL;
    f.service->ingress_count = 0;
    fake_host_free(f.fake);
}

static void test_event(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    lbc_life_event(&f.life, f.service, true, "Reason", "%d%%", 100);
    assert_string_equal(fake_host_event(f.fake, 0)->message, "100%");
    assert_string_equal(fake_host_event(f.fake, 0)->object, "default/web");
    assert_true(fake_host_event(f.fake, 0)->warning);
    fake_host_free(f.fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_finalizer, obj_end),
        cmocka_unit_test_teardown(test_finalizer_behind_a_change, obj_end),
        cmocka_unit_test_teardown(test_finalizer_of_an_old_service, obj_end),
        cmocka_unit_test_teardown(test_publish, obj_end),
        cmocka_unit_test_teardown(test_publish_with_condition, obj_end),
        cmocka_unit_test_teardown(test_publish_much, obj_end),
        cmocka_unit_test_teardown(test_extra_label, obj_end),
        cmocka_unit_test_teardown(test_tags_label, obj_end),
        cmocka_unit_test_teardown(test_tags_label_of_another_instance, obj_end),
        cmocka_unit_test_teardown(test_caches_count, obj_end),
        cmocka_unit_test_teardown(test_reused_label, obj_end),
        cmocka_unit_test_teardown(test_reused_label_edited, obj_end),
        cmocka_unit_test_teardown(test_mark, obj_end),
        cmocka_unit_test_teardown(test_confirm, obj_end),
        cmocka_unit_test_teardown(test_confirm_behind_a_change, obj_end),
        cmocka_unit_test_teardown(test_plan, obj_end),
        cmocka_unit_test_teardown(test_ingress, obj_end),
        cmocka_unit_test_teardown(test_ip_mode, obj_end),
        cmocka_unit_test_teardown(test_event, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
