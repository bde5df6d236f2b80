/* Which changes concern which Services. */
#include "check.h"
#include "lbc/instance.h"
#include "lbc/keys.h"
#include "lbc/model/candidate.h"
#include "lbc/model/class.h"
#include "lbc/names.h"
#include "lbc/report/figures.h"
#include "lbc/service/hash.h"
#include "objects.h"
#include "support/fake_host.h"
#include "util/attr.h"
#include "util/text.h"

#include <string.h>

#define FINALIZER "service.k8s.alibaba/resources"

struct mirror {
    struct lbc_state lbc;
    struct lbc_lb lb;
};

struct fixture {
    struct fake_host *fake;
    struct lbc_instance lbc;
};

static void lbc_begin(struct lbc_instance *lbc, struct fake_host *fake)
{
    static const struct lbc_state_type type = { .size = sizeof(struct mirror),
                                                .lb_size = sizeof(struct lbc_lb) };
    const struct ccm_host *host = fake_host_table(fake);

    *lbc = (struct lbc_instance){
        .host = host,
        .life = { .host = host, .finalizer = FINALIZER, .component = "service-controller" },
        .is_ours = lbc_class_is_default,
        .absence = lbc_absence_new(host),
        .mirrors = lbc_mirrors_new(host, &type),
        .figures = lbc_figures_new(host, "TestType"),
    };
    assert_non_null(lbc->absence);
    assert_non_null(lbc->mirrors);
    assert_non_null(lbc->figures);
}

static void lbc_end(struct lbc_instance *lbc)
{
    lbc_absence_free(lbc->absence);
    lbc_mirrors_free(lbc->mirrors);
    lbc_figures_free(lbc->figures);
}

static void fixture_begin(struct fixture *fixture)
{
    fixture->fake = fake_host_new();
    lbc_begin(&fixture->lbc, fixture->fake);
}

static void fixture_end(struct fixture *fixture)
{
    assert_int_equal(fake_host_borrowed(fixture->fake), 0);
    lbc_end(&fixture->lbc);
    fake_host_free(fixture->fake);
}

/* A pass over the Service has been here. */
static void fixture_pass(struct fixture *fixture, const struct ccm_service *service)
{
    struct lbc_mirrors *mirrors = fixture->lbc.mirrors;
    struct lbc_entry *entry = NULL;

    assert_int_equal(lbc_mirrors_acquire(mirrors, service->meta.key, service->meta.uid, "",
                                         CCM_LANE_SPEC, &entry),
                     0);
    lbc_mirrors_release(mirrors, entry);
}

typedef void (*edit_fn)(struct ccm_service *before, struct ccm_service *after);

static void nothing(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    (void)after;
}

static void to_cluster_ip(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    after->type = "ClusterIP";
}

static void from_cluster_ip(struct ccm_service *before, struct ccm_service *after)
{
    (void)after;
    before->type = "ClusterIP";
}

static void never_ours(struct ccm_service *before, struct ccm_service *after)
{
    before->type = "ClusterIP";
    after->type = "NodePort";
}

static void new_uid(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    after->meta.uid = "another";
}

static void annotated(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_annotate(&after->meta, "a", "b");
}

static void new_port(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_port(after, "x", "TCP", 81, "81", 30081);
}

static void policy(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    after->external_traffic_policy = "Local";
}

static void ranges(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_range(after, "10.0.0.0/8");
}

static void deleted(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    after->meta.deleted_ms = 5;
}

static void labelled(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_label(&after->meta, "a", "b");
    obj_finalizer(&after->meta, FINALIZER);
    obj_ingress(after, "1.2.3.4", "");
}

static void status_cleared(struct ccm_service *before, struct ccm_service *after)
{
    (void)after;
    obj_ingress(before, "1.2.3.4", "");
}

static void tunnel(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_annotate(&after->meta, P "tunnel-type", "");
}

static void tunnel_with_finalizer(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_annotate(&after->meta, P "tunnel-type", "");
    obj_finalizer(&after->meta, FINALIZER);
}

static void other_class(struct ccm_service *before, struct ccm_service *after)
{
    (void)before;
    obj_annotate(&after->meta, LBC_CLASS_KEY, "x");
}

static void deleted_not_ours(struct ccm_service *before, struct ccm_service *after)
{
    before->type = "ClusterIP";
    after->type = "ClusterIP";
    obj_finalizer(&before->meta, FINALIZER);
    obj_finalizer(&after->meta, FINALIZER);
    after->meta.deleted_ms = 5;
}

static void finalizer_too_late(struct ccm_service *before, struct ccm_service *after)
{
    before->type = "ClusterIP";
    after->type = "ClusterIP";
    obj_finalizer(&after->meta, FINALIZER);
}

struct update_case {
    const char *name;
    edit_fn edit;
    bool enqueued;
    uint64_t lane;
    const char *event; /* NULL = none */
};

static void test_service_update(void **state)
{
    static const struct update_case cases[] = {
        { "nothing", nothing, false, 0, NULL },
        { "to ClusterIP", to_cluster_ip, true, CCM_LANE_REMOVE, "TypeChanged" },
        { "from ClusterIP", from_cluster_ip, true, CCM_LANE_URGENT, "TypeChanged" },
        { "never ours", never_ours, false, 0, NULL },
        { "uid", new_uid, true, CCM_LANE_SPEC, NULL },
        { "annotation", annotated, true, CCM_LANE_SPEC, "AnnotationChanged" },
        { "port", new_port, true, CCM_LANE_SPEC, "ServiceSpecChanged" },
        { "policy", policy, true, CCM_LANE_SPEC, "ServiceSpecChanged" },
        { "ranges", ranges, true, CCM_LANE_SPEC, "ServiceSpecChanged" },
        { "deletion", deleted, true, CCM_LANE_REMOVE, "DeleteTimestampChanged" },
        { "labels, finalizers, status", labelled, false, 0, NULL },
        { "status cleared", status_cleared, true, CCM_LANE_SPEC, NULL },
        { "tunnel", tunnel, true, CCM_LANE_REMOVE, NULL },
        { "tunnel, but ours", tunnel_with_finalizer, true, CCM_LANE_REMOVE, "TypeChanged" },
        { "class", other_class, true, CCM_LANE_REMOVE, NULL },
        { "finalizer after the type change", finalizer_too_late, true, CCM_LANE_REMOVE, NULL },
        { "deletion of what was ours", deleted_not_ours, true, CCM_LANE_REMOVE,
          "DeleteTimestampChanged" },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct fixture fixture;
        struct ccm_service *before = obj_service();
        struct ccm_service *after = obj_service_copy(before);
        const struct ccm_change change = { sizeof(change), CCM_CHANGE_UPDATED, &before->meta,
                                           &after->meta, 0 };

        fixture_begin(&fixture);
        cases[i].edit(before, after);
        lbc_watches[0]->map(&fixture.lbc, &change);
        if ((fake_host_enqueue_count(fixture.fake) == 1) != cases[i].enqueued ||
            (fake_host_event_count(fixture.fake) == 1) != (cases[i].event != NULL)) {
            fail_msg("%s", cases[i].name);
        }
        if (cases[i].enqueued) {
            assert_string_equal(fake_host_enqueued(fixture.fake, 0)->key, "default/web");
            assert_int_equal(fake_host_enqueued(fixture.fake, 0)->lane, cases[i].lane);
        }
        if (cases[i].event != NULL) {
            assert_string_equal(fake_host_event(fixture.fake, 0)->reason, cases[i].event);
        }
        fixture_end(&fixture);
    }
}

static size_t map_added(struct ccm_service *service, uint64_t *ret_lane)
{
    const struct ccm_change change = { sizeof(change), CCM_CHANGE_ADDED, NULL, &service->meta, 0 };
    struct fixture fixture;

    fixture_begin(&fixture);
    lbc_watches[0]->map(&fixture.lbc, &change);

    const size_t count = fake_host_enqueue_count(fixture.fake);

    *ret_lane = count == 0 ? UINT64_MAX : fake_host_enqueued(fixture.fake, 0)->lane;
    fixture_end(&fixture);
    return count;
}

static void test_service_added(void **state)
{
    struct ccm_service *service = obj_service();
    uint64_t lane = 0;

    (void)state;
    assert_int_equal(map_added(service, &lane), 1);
    assert_int_equal(lane, CCM_LANE_URGENT);
    obj_label(&service->meta, LBC_HASH_LABEL, "x");
    assert_int_equal(map_added(service, &lane), 1);
    assert_int_equal(lane, CCM_LANE_SPEC);
    service->type = "ClusterIP";
    assert_int_equal(map_added(service, &lane), 0);
    obj_finalizer(&service->meta, FINALIZER);
    assert_int_equal(map_added(service, &lane), 1);
    assert_int_equal(lane, CCM_LANE_REMOVE);
}

/* A Service that was never finished, that was before a restart, and that a pass has been over. */
enum stage { NEW, FINISHED, KNOWN };

static size_t map_slice_of(const struct ccm_endpoint_slice *before,
                           const struct ccm_endpoint_slice *after, bool ours, enum stage stage)
{
    static const uint64_t lanes[] = { CCM_LANE_URGENT, CCM_LANE_SPEC, CCM_LANE_BACKENDS };
    struct ccm_service *service = obj_service();
    const struct ccm_change change = { sizeof(change),
                                       before == NULL  ? CCM_CHANGE_ADDED
                                       : after == NULL ? CCM_CHANGE_DELETED
                                                       : CCM_CHANGE_UPDATED,
                                       before == NULL ? NULL : &before->meta,
                                       after == NULL ? NULL : &after->meta, 0 };
    struct fixture fixture;

    fixture_begin(&fixture);
    service->type = ours ? "LoadBalancer" : "ClusterIP";
    if (stage != NEW) {
        obj_label(&service->meta, LBC_HASH_LABEL, "x");
    }
    if (stage == KNOWN) {
        fixture_pass(&fixture, service);
    }
    fake_host_put(fixture.fake, &service->meta);
    lbc_watches[1]->map(&fixture.lbc, &change);

    const size_t count = fake_host_enqueue_count(fixture.fake);

    if (count > 0) {
        assert_int_equal(fake_host_enqueued(fixture.fake, 0)->lane, lanes[stage]);
    }
    fixture_end(&fixture);
    return count;
}

static size_t map_slice(const struct ccm_endpoint_slice *before,
                        const struct ccm_endpoint_slice *after, bool ours)
{
    const size_t count = map_slice_of(before, after, ours, KNOWN);

    assert_int_equal(map_slice_of(before, after, ours, FINISHED), count);
    assert_int_equal(map_slice_of(before, after, ours, NEW), count);
    return count;
}

static void test_slice(void **state)
{
    struct ccm_endpoint_slice *one = obj_slice("web-1");
    struct ccm_endpoint_slice *other = obj_slice("web-1");

    (void)state;
    obj_endpoint(one, "10.0.0.1", "n", CCM_ENDPOINT_READY);
    obj_slice_port(one, "http", 80);
    assert_int_equal(map_slice(NULL, one, true), 1);
    assert_int_equal(map_slice(one, NULL, true), 1);
    assert_int_equal(map_slice(one, NULL, false), 0);
    assert_int_equal(map_slice(one, one, true), 0);
    obj_endpoint(other, "10.0.0.1", "n", CCM_ENDPOINT_READY);
    obj_slice_port(other, "http", 80);
    obj_label(&other->meta, "a", "b");
    assert_int_equal(map_slice(one, other, true), 0);
    ((struct ccm_endpoint *)(uintptr_t)other->endpoints[0])->flags |= UINT64_C(7) << 32;
    assert_int_equal(map_slice(one, other, true), 1); /* another pod under the same name */
    ((struct ccm_endpoint *)(uintptr_t)other->endpoints[0])->flags = CCM_ENDPOINT_READY;
    other->port_count = 0;
    obj_slice_port(other, "http", 81);
    assert_int_equal(map_slice(one, other, true), 1);
    one->service_name = "";
    assert_int_equal(map_slice(NULL, one, true), 0);
    one->service_name = "missing";
    assert_int_equal(map_slice(NULL, one, true), 0);
}

/* Of the last node change that was passed on. */
static uint64_t node_lane;
/* Whether the Service has been given an address. */
static bool node_serves = true;
/* Whether a pass has been over it since the start. */
static bool node_known = true;

static size_t map_node(const struct ccm_node *before, const struct ccm_node *after,
                       const char *backend_type)
{
    struct ccm_service *service = obj_service();
    const struct ccm_change change = { sizeof(change),
                                       before == NULL  ? CCM_CHANGE_ADDED
                                       : after == NULL ? CCM_CHANGE_DELETED
                                                       : CCM_CHANGE_UPDATED,
                                       before == NULL ? NULL : &before->meta,
                                       after == NULL ? NULL : &after->meta, 0 };
    struct fixture fixture;

    fixture_begin(&fixture);
    obj_annotate(&service->meta, LBC_BACKEND_TYPE_KEY, backend_type);
    if (node_serves) {
        obj_ingress(service, "47.96.0.1", "");
    }
    if (node_known) {
        fixture_pass(&fixture, service);
    }
    fake_host_put(fixture.fake, &service->meta);
    lbc_watches[2]->map(&fixture.lbc, &change);

    const size_t count = fake_host_enqueue_count(fixture.fake);

    if (count > 0) {
        node_lane = fake_host_enqueued(fixture.fake, 0)->lane;
        assert_int_equal(fake_host_enqueued(fixture.fake, 0)->delay_ms, 50);
    }
    fixture_end(&fixture);
    return count;
}

/* NULL: no node. */
static struct ccm_node *make_node(const char *state)
{
    struct ccm_node *node = obj_node("n", ccm_text_equal(state, "replaced") ? "r.i-2" : "r.i-1");

    if (ccm_text_equal(state, "labelled")) {
        obj_label(&node->meta, "pool", "a");
    } else if (ccm_text_equal(state, "tainted")) {
        obj_taint(node, "ToBeDeletedByClusterAutoscaler");
    }
    node->ready = ccm_text_equal(state, "not ready") ? CCM_CONDITION_FALSE : CCM_CONDITION_TRUE;
    node->unschedulable = ccm_text_equal(state, "cordoned") ? 1 : 0;
    return state == NULL ? NULL : node;
}

static void test_node(void **state)
{
    struct ccm_node *one = obj_node("n", "r.i-1");
    struct ccm_node *other = obj_node("n", "r.i-1");

    (void)state;
    assert_int_equal(map_node(NULL, one, NULL), 1);
    assert_int_equal(map_node(one, NULL, NULL), 1);
    assert_int_equal(map_node(one, NULL, "eni"), 0);
    assert_int_equal(map_node(one, other, NULL), 0);
    other->network_unavailable = CCM_CONDITION_TRUE;
    assert_int_equal(map_node(one, other, NULL), 0);
    other->unschedulable = 1;
    assert_int_equal(map_node(one, other, NULL), 1);
    other->unschedulable = 0;
    other->ready = CCM_CONDITION_FALSE;
    assert_int_equal(map_node(one, other, NULL), 1);
    one->ready = CCM_CONDITION_UNKNOWN;
    assert_int_equal(map_node(one, other, NULL), 0);
    obj_taint(other, "ToBeDeletedByClusterAutoscaler");
    assert_int_equal(map_node(one, other, NULL), 1);
    other = obj_node("n", "r.i-2");
    one->ready = CCM_CONDITION_TRUE;
    assert_int_equal(map_node(one, other, NULL), 1);
    other = obj_node("n", "r.i-1");
    obj_label(&other->meta, "a", "b");
    assert_int_equal(map_node(one, other, NULL), 1);
}

/* In some groups backends are known by them. */
static void test_node_addresses(void **state)
{
    struct ccm_node *none = obj_node("n", "r.i-1");
    struct ccm_node *one = obj_node("n", "r.i-1");
    struct ccm_node *both = obj_node("n", "r.i-1");
    struct ccm_node *turned = obj_node("n", "r.i-1");
    struct ccm_node *moved = obj_node("n", "r.i-1");

    (void)state;
    obj_address(one, "10.0.0.1");
    obj_address(both, "10.0.0.1");
    obj_address(both, "fd00::1");
    obj_address(turned, "fd00::1");
    obj_address(turned, "10.0.0.1");
    obj_address(moved, "10.0.0.2");
    assert_int_equal(map_node(none, one, NULL), 1);
    assert_int_equal(map_node(one, none, NULL), 1);
    assert_int_equal(map_node(one, both, NULL), 1);
    assert_int_equal(map_node(both, turned, NULL), 0);
    assert_int_equal(map_node(one, moved, NULL), 1);
    assert_int_equal(map_node(one, moved, "eni"), 0);
}

/* Who loses a node is served like one who loses a pod, or as after a restart when it was not served
 * yet; one that is still to be made, and everybody else, comes last. */
static void test_node_lanes(void **state)
{
    const struct {
        const char *what;
        const char *before; /* of make_node() */
        const char *after;
        uint64_t lane;
    } rows[] = {
        { "joins", NULL, "ready", CCM_LANE_BULK },
        { "joins again", "not ready", "ready", CCM_LANE_BULK },
        { "is deleted", "ready", NULL, CCM_LANE_BACKENDS },
        { "is deleted at last", "not ready", NULL, CCM_LANE_BULK },
        { "fails", "ready", "not ready", CCM_LANE_BACKENDS },
        { "is cordoned", "ready", "cordoned", CCM_LANE_BACKENDS },
        { "is uncordoned", "cordoned", "ready", CCM_LANE_BULK },
        { "gets a label", "ready", "labelled", CCM_LANE_BULK },
        { "loses a label", "labelled", "ready", CCM_LANE_BACKENDS },
        { "is to be deleted", "ready", "tainted", CCM_LANE_BACKENDS },
        { "is replaced", "ready", "replaced", CCM_LANE_BACKENDS },
    };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        assert_int_equal(map_node(make_node(rows[i].before), make_node(rows[i].after), NULL), 1);
        if (node_lane != rows[i].lane) {
            fail_msg("a node %s: lane %d", rows[i].what, (int)node_lane);
        }
    }
    node_known = false;
    assert_int_equal(map_node(make_node("ready"), NULL, NULL), 1);
    assert_int_equal(node_lane, CCM_LANE_SPEC);
    assert_int_equal(map_node(NULL, make_node("ready"), NULL), 1);
    assert_int_equal(node_lane, CCM_LANE_BULK);
    node_known = true;
    node_serves = false;
    assert_int_equal(map_node(make_node("ready"), NULL, NULL), 1);
    assert_int_equal(node_lane, CCM_LANE_BULK);
    node_serves = true;
}

/* A node that nobody can make out is told once per change, not once per pass. */
static void test_nameless_nodes(void **state)
{
    struct ccm_node *good = obj_node("n", "r.i-1");
    struct ccm_node *joining = obj_node("n", "");
    struct ccm_node *empty = obj_node("n", "");
    struct ccm_node *bad = obj_node("n", "other://x");
    struct ccm_node *worse = obj_node("n", "other://y");
    struct ccm_node *master = obj_node("n", "other://x");
    const struct {
        const struct ccm_node *before;
        const struct ccm_node *after;
        bool told;
    } cases[] = {
        { NULL, good, false },   { NULL, bad, true },      { bad, bad, false },
        { bad, worse, true },    { good, bad, true },      { bad, good, false },
        { bad, NULL, false },    { NULL, joining, false }, { joining, empty, true },
        { NULL, master, false },
    };

    (void)state;
    joining->ready = CCM_CONDITION_FALSE;
    obj_label(&master->meta, "node-role.kubernetes.io/master", "");
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        struct fake_host *fake = fake_host_new();
        struct lbc_instance lbc;
        const struct ccm_change change = { .struct_size = sizeof(change),
                                           .before = (const struct ccm_object *)cases[i].before,
                                           .after = (const struct ccm_object *)cases[i].after };

        lbc_begin(&lbc, fake);
        lbc_watches[2]->map(&lbc, &change);
        if ((strstr(fake_host_log_text(fake), "takes no traffic") != NULL) != cases[i].told) {
            fail_msg("case %zu: %s", i, fake_host_log_text(fake));
        }
        lbc_end(&lbc);
        fake_host_free(fake);
    }
}

static void test_skipped_nodes(void **state)
{
    static const char *const labels[] = { "node-role.kubernetes.io/master",
                                          "service.beta.kubernetes.io/exclude-node",
                                          "service.alibabacloud.com/exclude-node" };

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(labels); i++) {
        struct ccm_node *plain = obj_node("n", "r.i-1");
        struct ccm_node *before = obj_node("n", "r.i-1");
        struct ccm_node *after = obj_node("n", "r.i-1");

        obj_label(&before->meta, labels[i], "");
        obj_label(&after->meta, labels[i], "");
        after->unschedulable = 1;
        assert_int_equal(map_node(NULL, before, NULL), 0);
        assert_int_equal(map_node(before, NULL, NULL), 0);
        assert_int_equal(map_node(before, after, NULL), 0);
        assert_int_equal(map_node(plain, after, NULL), 1);
    }
}

static bool is_declared(const char *name)
{
    for (const char *const *key = lbc_watches[0]->keys; *key != NULL; key++) {
        if (name == NULL || ccm_text_starts(name, *key)) {
            return true;
        }
    }
    return false;
}

/* The caches drop other keys of a Service with large annotations of others. */
static void test_names_are_declared(void **state)
{
    const struct lbc_names *names = &lbc_names;

    (void)state;
    assert_int_equal(lbc_watches[0]->kind, CCM_KIND_SERVICE);
    assert_true(is_declared(names->annotations) && is_declared(names->annotations_before));
    assert_true(is_declared(names->backend_type) && is_declared(names->hash_ignored));
    assert_true(is_declared(names->elsewhere[0]) && is_declared(names->elsewhere[1]));
    assert_true(is_declared(names->finalizers) && is_declared(names->taken));
    assert_true(is_declared(names->hash_label) && is_declared(names->lb_label));
    assert_true(is_declared(names->tags_label) && is_declared(LBC_LIFE_REUSED_LABEL));
    assert_false(is_declared("example.kubernetes.io/cache"));
    assert_false(is_declared("service.beta.kubernetes.io/other-cloud"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_service_update, obj_end),
        cmocka_unit_test_teardown(test_service_added, obj_end),
        cmocka_unit_test_teardown(test_slice, obj_end),
        cmocka_unit_test_teardown(test_node, obj_end),
        cmocka_unit_test_teardown(test_node_addresses, obj_end),
        cmocka_unit_test_teardown(test_node_lanes, obj_end),
        cmocka_unit_test_teardown(test_nameless_nodes, obj_end),
        cmocka_unit_test_teardown(test_skipped_nodes, obj_end),
        cmocka_unit_test(test_names_are_declared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
