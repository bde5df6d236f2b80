/* Who reads the inventory, who waits for it, and when it is over. */
#include "check.h"

#include "lbc/controller.h"
#include "lbc/inventory.h"
#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "lbc/service/hash.h"
#include "objects.h"
#include "support/fake_host.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SERVICES 8

/* --- a plugin that knows the load balancer of every Service but the last --- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t to_wait_for; /* Services that must have been sent away before a reading ends */
    size_t sent_away;
    size_t loads;
    size_t freed;
    int result; /* of the reading */
    struct ccm_service *services[SERVICES];
} plugin;

static void lock(void)
{
    assert_int_equal(pthread_mutex_lock(&plugin.lock), 0);
}

static void unlock(void)
{
    assert_int_equal(pthread_mutex_unlock(&plugin.lock), 0);
}

struct mirror {
    struct lbc_state lbc;
    struct lbc_lb lb;
};

static int list(struct lbc_instance *instance, const struct ccm_request *req,
                struct lbc_survey *items, struct ccm_error *err)
{
    (void)req;
    lock();
    plugin.loads++;
    while (plugin.sent_away < plugin.to_wait_for) {
        assert_int_equal(pthread_cond_wait(&plugin.changed, &plugin.lock), 0);
    }
    unlock();
    if (plugin.result < 0) {
        return ccm_error_set(err, plugin.result, CCM_ERROR_TRANSIENT, "the cloud is away");
    }
    for (size_t i = 0; i < SERVICES; i++) {
        const struct ccm_object *meta = &plugin.services[i]->meta;
        CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
        char name[LBC_OWNER_LB_NAME];
        struct lbc_state *found = NULL;

        lbc_owner_lb_name(meta, name);
        assert_int_equal(lbc_tags_put(&tags, LBC_TAG_OWNER, name), 0);
        assert_int_equal(lbc_tags_put(&tags, LBC_TAG_CLUSTER, lbc_cluster_id(instance)), 0);
        assert_int_equal(lbc_survey_add(items, meta->key, &tags, &found), 0);
        assert_int_equal(lbc_text_set(&lbc_state_lb(found)->id, meta->key), 0);
    }
    return 0;
}

/* Two load balancers carry the tag of the last one. */
static int fill(struct lbc_instance *instance, const struct ccm_request *req,
                struct lbc_survey *items, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags tags = { 0 };
    char name[LBC_OWNER_LB_NAME];
    struct lbc_state *found = NULL;

    (void)req;
    (void)err;
    lbc_owner_lb_name(&plugin.services[SERVICES - 1]->meta, name);
    assert_int_equal(lbc_tags_put(&tags, LBC_TAG_OWNER, name), 0);
    assert_int_equal(lbc_tags_put(&tags, LBC_TAG_CLUSTER, lbc_cluster_id(instance)), 0);
    assert_int_equal(lbc_survey_add(items, "another", &tags, &found), 0);
    assert_null(found);
    assert_ptr_equal(lbc_survey_find_owner(items, &tags), lbc_survey_find(items, "default/s7"));
    return 0;
}

/* Of the one that nobody takes. */
static void lb_fini(struct lbc_lb *lb)
{
    plugin.freed += ccm_text_equal(lb->id, "default/s7") ? 1 : 0;
}

static void account_read_site(const void *account, struct lbc_site *ret)
{
    (void)account;
    ret->cluster_id = "c1";
}

static bool is_ours(const struct ccm_service *service)
{
    (void)service;
    return true;
}

static const struct lbc_state_type mirror_type = { .size = sizeof(struct mirror),
                                                   .lb_size = sizeof(struct lbc_lb),
                                                   .lb_fini = lb_fini };
static const struct lbc_cloud_ops cloud_ops = { .site = account_read_site };
static const struct lbc_inventory_ops inventory_ops = { .list = list, .fill = fill };
static const struct lbc_anno_table annotations = { .count = 0 };
static const struct lbc_lint_rules rules = { .annotations = &annotations };
static const struct lbc_product product = { .name = "toy" };
static const struct lbc_model_ops model_ops = { .rules = &rules };
static const struct lbc_plan_ops plan_ops = { .batch = 1 };
static const struct lbc_change_ops change_ops = { .rules = &plan_ops };
static const struct lbc_ops ops = { .product = &product,
                                    .model = &model_ops,
                                    .change = &change_ops,
                                    .mirror = &mirror_type,
                                    .inventory = &inventory_ops };

/* --- the world --- */

static struct fake_host *fake;
static struct lbc_instance lbc;
static const struct ccm_request request = { .struct_size = sizeof(request), .lane = CCM_LANE_SPEC };

static int fixture_begin(void **state)
{
    (void)state;
    memset(&plugin, 0, sizeof(plugin));
    assert_int_equal(pthread_mutex_init(&plugin.lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&plugin.changed, NULL), 0);
    fake = fake_host_new();
    lbc = (struct lbc_instance){ .host = fake_host_table(fake),
                                 .ops = &ops,
                                 .cloud.ops = &cloud_ops };
    lbc.is_ours = is_ours;
    lbc.inventory = lbc_inventory_new();
    assert_non_null(lbc.inventory);
    for (size_t i = 0; i < SERVICES; i++) {
        static char keys[SERVICES][16];
        static char uids[SERVICES][16];

        ccm_text_printf(keys[i], sizeof(keys[i]), "default/s%zu", i);
        ccm_text_printf(uids[i], sizeof(uids[i]), "uid-%zu", i);
        plugin.services[i] = obj_service();
        plugin.services[i]->meta.key = keys[i];
        plugin.services[i]->meta.name = keys[i] + strlen("default/");
        plugin.services[i]->meta.uid = uids[i];
        obj_label(&plugin.services[i]->meta, LBC_HASH_LABEL, "anything");
        fake_host_put(fake, &plugin.services[i]->meta);
    }
    return 0;
}

static int fixture_end(void **state)
{
    lbc_inventory_free(lbc.inventory);
    fake_host_free(fake);
    assert_int_equal(pthread_cond_destroy(&plugin.changed), 0);
    assert_int_equal(pthread_mutex_destroy(&plugin.lock), 0);
    return obj_end(state);
}

/* --- tests --- */

/* One worker; arg: its Service. Result: non-NULL when it was sent away. */
static void *work(void *arg)
{
    const struct ccm_service *service = arg;
    const bool waits = lbc_inventory_prepare(&lbc, &request, service);

    if (waits) {
        lock();
        plugin.sent_away++;
        unlock();
        assert_int_equal(pthread_cond_broadcast(&plugin.changed), 0);
    }
    return waits ? arg : NULL;
}

static size_t woken(const char *key)
{
    size_t count = 0;

    for (size_t i = 0; i < fake_host_enqueue_count(fake); i++) {
        const struct fake_enqueue *one = fake_host_enqueued(fake, i);

        assert_int_equal(one->lane, CCM_LANE_SPEC);
        assert_int_equal(one->delay_ms, 0);
        count += strcmp(one->key, key) == 0 ? 1 : 0;
    }
    return count;
}

/* All workers at once: one reads, the others leave and are woken once each. */
static void race(void)
{
    pthread_t threads[SERVICES];
    void *sent_away[SERVICES] = { NULL };
    size_t waited = 0;

    plugin.to_wait_for = SERVICES - 1;
    for (size_t i = 0; i < SERVICES; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, plugin.services[i]), 0);
    }
    for (size_t i = 0; i < SERVICES; i++) {
        assert_int_equal(pthread_join(threads[i], &sent_away[i]), 0);
    }
    for (size_t i = 0; i < SERVICES; i++) { /* the reader has woken all before it ended */
        waited += sent_away[i] == NULL ? 0 : 1;
        assert_int_equal(woken(plugin.services[i]->meta.key), sent_away[i] == NULL ? 0 : 1);
    }
    assert_int_equal(waited, SERVICES - 1);
    assert_int_equal(plugin.loads, 1);
    for (size_t i = 0; i < SERVICES; i++) { /* when they come back */
        assert_false(lbc_inventory_prepare(&lbc, &request, plugin.services[i]));
    }
    assert_int_equal(plugin.loads, 1);
}

static void test_one_reads_and_wakes_the_others(void **state)
{
    struct mirror taken = { 0 };

    (void)state;
    race();
    for (size_t i = 0; i < SERVICES; i++) {
        assert_int_equal(plugin.freed, 0);
        assert_int_equal(lbc_inventory_take(&lbc, plugin.services[i], &taken.lbc), i != 7);
        assert_true(i == 7 || ccm_text_equal(taken.lb.id, plugin.services[i]->meta.key));
        free(i == 7 ? NULL : taken.lb.id);
    }
    assert_int_equal(plugin.freed, 1); /* with the last one that was expected */
    assert_false(lbc_inventory_take(&lbc, plugin.services[0], &taken.lbc));
}

static void test_a_failed_reading_wakes_them_as_well(void **state)
{
    struct mirror taken;

    (void)state;
    plugin.result = -EIO;
    race();
    assert_false(lbc_inventory_take(&lbc, plugin.services[0], &taken.lbc));
    assert_int_equal(plugin.freed, 0);
    assert_non_null(
        strstr(fake_host_log_text(fake), "each Service looks for itself: the cloud is"));
}

static void test_nobody_waits_for_what_is_of_no_use(void **state)
{
    struct mirror taken;
    struct ccm_service *fresh = obj_service();

    (void)state;
    fresh->meta.key = "default/fresh";
    fresh->meta.uid = "uid-fresh";
    assert_false(lbc_inventory_prepare(&lbc, &request, fresh)); /* never finished before */
    assert_int_equal(plugin.loads, 0);
    obj_label(&fresh->meta, LBC_HASH_LABEL, "anything"); /* nor when its own pass has made it */
    assert_false(lbc_inventory_prepare(&lbc, &request, fresh));
    assert_int_equal(plugin.loads, 0);
    assert_false(lbc_inventory_prepare(&lbc, &request, plugin.services[0]));
    assert_int_equal(plugin.loads, 1);
    assert_false(lbc_inventory_take(&lbc, fresh, &taken.lbc));
    fake_host_advance(fake, 600000);
    assert_false(lbc_inventory_take(&lbc, plugin.services[0], &taken.lbc)); /* old */
    assert_int_equal(plugin.freed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_reads_and_wakes_the_others, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_a_failed_reading_wakes_them_as_well, fixture_begin,
                                        fixture_end),
        cmocka_unit_test_setup_teardown(test_nobody_waits_for_what_is_of_no_use, fixture_begin,
                                        fixture_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
